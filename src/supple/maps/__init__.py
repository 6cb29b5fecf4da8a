"""Maps of results over a grid of configurations, and sweeps of parameters."""
