"""The equation of motion in independent coordinates, and everything that is a term of it."""
