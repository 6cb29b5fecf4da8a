"""Inverse dynamics: forces of the actuators along motions, and reactions in joints."""
