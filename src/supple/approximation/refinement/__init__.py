"""Refinement: boxes are divided and degrees raised until the error is small."""
