"""The nonlinear DAE: bodies on R³ × SO(3), joints by multipliers, generalized-α in time."""
