"""Files on disk: whole or not at all, and nothing left lying about."""
