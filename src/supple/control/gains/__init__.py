"""Gains of state feedback from a linear model: decoupled, or by placed poles."""
