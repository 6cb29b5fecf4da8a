"""Frequency responses: the question, its result's plot and its command."""
