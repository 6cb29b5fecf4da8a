"""Linear models about a configuration, at rest or in motion."""
