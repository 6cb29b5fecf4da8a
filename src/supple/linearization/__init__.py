"""Linearization of mechanisms and reduced models about a state."""
