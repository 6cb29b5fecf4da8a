"""Redundant actuation in the loop: distribution of forces over the actuators, and the stiffness of internal forces."""
