"""Vibration: modes, frequency responses, maps."""
