"""A reduced model as functions of CasADi, differentiable twice."""
