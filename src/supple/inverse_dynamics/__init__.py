"""Actuator forces that a motion needs, their distribution over redundant actuators, and joint reactions."""
