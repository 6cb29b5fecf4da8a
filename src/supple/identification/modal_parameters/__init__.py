"""Modes from measured responses: poles, shapes, and how sure they are (docs/theory/modal-parameters.md)."""
