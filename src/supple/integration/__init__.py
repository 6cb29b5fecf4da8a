"""Time integrators as such: generalized-α on vector spaces and rotations, and the linear algebra of its steps."""
