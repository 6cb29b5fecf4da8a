"""Linear elastodynamics about the undeformed mechanism at θ (docs/theory/elastic-rest.md)."""
