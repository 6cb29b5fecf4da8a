"""Actuator forces that a motion needs."""
