"""Observers: the state of a machine from what instruments show and drives were told (docs/theory/observers.md)."""
