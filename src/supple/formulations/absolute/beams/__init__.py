"""Corotational beam elements of two nodes in large motion, plane and space (docs/theory/flexible-motion.md)."""
