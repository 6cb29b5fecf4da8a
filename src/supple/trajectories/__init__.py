"""Motions that a mechanism follows: from profiles, points, tables and tool paths."""
