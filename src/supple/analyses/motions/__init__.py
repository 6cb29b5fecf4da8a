"""Motions: what a mechanism is asked to do over time."""
