"""Drives and instruments: their data, their equations, and what they do from one sample to the next."""
