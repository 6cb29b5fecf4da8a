"""Pictures: everything that draws."""
