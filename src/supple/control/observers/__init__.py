"""Observers: state estimates from measurements and drive commands (docs/theory/observers.md)."""
