"""Superelements in large motion: imported matrices in a floating frame (docs/theory/superelements-in-motion.md)."""
