"""Elastic parts: beams, sections, materials, superelements, damping."""
