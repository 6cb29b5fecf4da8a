"""Parameters from measurements: logged runs (docs/theory/identification.md), tests, modes, updating, damping."""
