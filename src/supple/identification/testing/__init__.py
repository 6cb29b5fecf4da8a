"""Tests of machines: records to responses, what is wrong with them, points matched, and tests that are simulated."""
