"""Kernels: the same Python source interpreted, or compiled on first use and cached; and how batches use the cores."""

from supple.compilation.kernel import at_hand, borrowed, compiled, inlined, kernel, unsigned

__all__ = ["at_hand", "borrowed", "compiled", "inlined", "kernel", "unsigned"]
