"""Natural frequencies and mode shapes, their energies and slopes, and where forces and sensors act on them."""
