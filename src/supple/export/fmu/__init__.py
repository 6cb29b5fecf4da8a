"""Functional Mock-up Units: what is simulated as C behind the functions of FMI 2.0 or 3.0, in a zip."""
