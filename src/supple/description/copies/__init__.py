"""Parts drawn once and placed many times."""
