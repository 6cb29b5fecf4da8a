"""Natural frequencies, mode shapes and where forces and sensors act on them."""
