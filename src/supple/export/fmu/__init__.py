"""Export of Functional Mock-up Units: C code behind the functions of FMI 2.0 or 3.0, in a zip archive."""
