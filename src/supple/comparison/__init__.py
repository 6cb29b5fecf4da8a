"""A reduced model compared with the full mechanism, at configurations and in time."""
