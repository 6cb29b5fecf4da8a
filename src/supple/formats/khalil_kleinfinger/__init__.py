"""Robots from tables: geometry after Khalil and Kleinfinger, beams, masses, stiffnesses of joints."""
