"""A reduced model judged against the full mechanism."""
