"""A controller tried on many plants that differ from the one it was made for (docs/theory/robustness.md)."""
