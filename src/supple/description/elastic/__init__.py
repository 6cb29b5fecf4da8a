"""What bends: beams, sections, materials, superelements, damping."""
