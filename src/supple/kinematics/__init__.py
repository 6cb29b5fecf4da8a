"""Joint constraints from primitives, closure, rank and mobility, rigid modes, singularity."""
