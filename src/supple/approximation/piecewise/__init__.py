"""A function on many boxes: packed, located, evaluated."""
