"""Protocols of the systems that questions are asked of: mechanisms, reduced models and linear models."""
