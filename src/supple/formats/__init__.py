"""Readers and writers of user files: mechanisms, robots, motions, measurements; errors name the line."""
