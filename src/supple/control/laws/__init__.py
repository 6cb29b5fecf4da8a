"""Control laws as data: one affine law that may change over θ, one kernel and one C writer (docs/theory/laws.md)."""
