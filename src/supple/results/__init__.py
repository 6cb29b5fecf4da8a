"""What analyses return: labelled signals, and later linear models and mode sets; plot and convert."""
