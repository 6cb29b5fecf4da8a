"""Kernels: the same Python source interpreted, or compiled on first use and cached; and how batches use the cores."""

from supple.compilation.kernel import at_hand, compile_kernel, inline_kernel, kernel, mark_borrowed, mark_unsigned

__all__ = ["at_hand", "compile_kernel", "inline_kernel", "kernel", "mark_borrowed", "mark_unsigned"]
