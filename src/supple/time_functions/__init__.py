"""Functions of time: piecewise polynomials with their derivatives, what can only be called, and values at instants."""
