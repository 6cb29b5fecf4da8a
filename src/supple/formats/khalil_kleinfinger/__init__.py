"""Robots from tables: geometry after Khalil and Kleinfinger, beams, masses, and stiffnesses of joints."""
