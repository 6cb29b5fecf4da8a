"""Static analyses: equilibrium, deflection, compliance and buckling."""
