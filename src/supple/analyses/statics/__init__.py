"""Statics: equilibrium, sag, compliance."""
