"""Joints, one file a kind."""
