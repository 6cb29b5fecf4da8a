"""Equilibria, deflections, compliances and buckling."""
