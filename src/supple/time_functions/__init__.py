"""Functions of time: piecewise polynomials with derivatives, callables, and sampled trajectories."""
