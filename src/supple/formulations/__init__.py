"""Equations of motion: absolute coordinates, elastic bodies, the mechanism about θ, trees, and rigid links."""
