"""What a controller can be tried on: a mechanism, a reduced model of it, or a linear one, all driven alike."""
