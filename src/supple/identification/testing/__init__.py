"""Modal tests: records to responses, checks of measurements, matching of points, and simulated tests."""
