"""Shared drawing code, movies, the page in the browser, and reports."""
