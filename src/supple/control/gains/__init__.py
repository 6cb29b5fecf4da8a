"""Gains of state feedback from a linear model: decoupled gains and pole placement."""
