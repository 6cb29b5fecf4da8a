"""The equivalent rigid link system: joint coordinates q, and displacements u of nodes about it."""
