"""Drives and instruments: their data, equations and sampled behaviour, independent of the mechanics."""
