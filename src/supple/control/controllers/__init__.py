"""Controllers, one file each, with the common law of joint loops and the forces that controllers require."""
