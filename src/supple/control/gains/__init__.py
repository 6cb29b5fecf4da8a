"""Gains from a linear model."""
