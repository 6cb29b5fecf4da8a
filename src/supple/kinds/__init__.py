"""Kinds: what a mechanism or a model may be made of, as records under their names."""

from supple.kinds.registry import Registry, register

__all__ = ["Registry", "register"]
