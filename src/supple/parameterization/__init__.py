"""The local model at θ: modes, their derivatives, Christoffel symbols, input and output maps."""
