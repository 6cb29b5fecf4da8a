"""Joints: their kinds, one record each, and how they yield."""
