"""How far a linear loop is from instability: gain, phase, delay and disk, one input at a time and all together."""
