"""Protocols of the systems that analyses accept: mechanisms, reduced models and linear models."""
