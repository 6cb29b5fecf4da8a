"""Redundant actuation in the loop: who gives which part of a force, and what forces against each other do."""
