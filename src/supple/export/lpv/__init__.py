"""Export of a reduced model as a linear parameter-varying (LPV) system."""
