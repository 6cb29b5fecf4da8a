"""Export of a reduced model as CasADi functions that can be differentiated twice."""
