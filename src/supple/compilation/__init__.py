"""Plain kernels: the same source interpreted, or compiled on first use and cached, saying so once."""

from supple.compilation.kernel import at_hand, borrowed, compiled, inlined, kernel, unsigned

__all__ = ["at_hand", "borrowed", "compiled", "inlined", "kernel", "unsigned"]
