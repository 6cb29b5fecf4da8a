"""What a machine says of itself: numbers of drives and damping from logged runs (docs/theory/identification.md)."""
