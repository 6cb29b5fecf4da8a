"""Export of a reduced model for Matlab, Octave and Simulink."""
