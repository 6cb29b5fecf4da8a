"""Plants for closed loops: a mechanism, a reduced model or a linear model, behind a common interface."""
