"""Identification of parameters from measurements: logged runs, modal tests, model updating and damping."""
