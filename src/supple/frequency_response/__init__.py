"""Frequency responses of mechanisms, reduced models and linear models."""
