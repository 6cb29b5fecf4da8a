"""Drives and instruments: their data, their equations, and what they do from sample to sample; no mechanics."""
