"""Run-time forms: cheaper piecewise polynomials of a reduced model, within budgets of memory and operations."""
