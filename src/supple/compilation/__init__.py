"""Plain kernels: the same source interpreted, or compiled on first use and cached, saying so once."""

from supple.compilation.kernel import compiled, kernel

__all__ = ["compiled", "kernel"]
