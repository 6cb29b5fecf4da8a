"""A reduced model for Matlab, Octave and Simulink."""
