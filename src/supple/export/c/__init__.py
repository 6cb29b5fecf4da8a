"""Export of reduced models and control laws as C source."""
