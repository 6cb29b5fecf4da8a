"""Studies: one controller on many plants, for its behaviour on most of them and on the worst."""
