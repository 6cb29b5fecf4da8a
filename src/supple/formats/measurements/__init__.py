"""Measured responses in files: universal files, .npz, .mat and CSV."""
