"""Which boxes, which degrees: adaptive refinement."""
