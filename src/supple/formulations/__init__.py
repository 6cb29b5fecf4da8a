"""Equations of motion: absolute (the nonlinear DAE in time), and others as they come."""
