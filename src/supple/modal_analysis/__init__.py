"""Natural frequencies and mode shapes, their energies and slopes, and ports for forces and sensors."""
