"""Laws of control as data: one affine law that may change over θ, one kernel, one writer of C (docs/theory/laws.md)."""
