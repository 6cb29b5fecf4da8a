"""Modal analysis of measured responses: poles, shapes and their uncertainty (docs/theory/modal-parameters.md)."""
