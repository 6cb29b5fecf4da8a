"""Time integration: steps and the generalized-α method, inputs and signals over time, sparse factorisation."""
