"""A reduced model as a linear parameter-varying system."""
