"""Model updating: parameters of a mechanism file from measured vibrations and deflections (docs/theory/updating.md)."""
