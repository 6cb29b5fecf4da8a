"""What a mechanism shall do, made so that it can: references, input shaping, inversion, paths within bounds."""
