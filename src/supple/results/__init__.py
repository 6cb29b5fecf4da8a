"""Results: what analyses return, with summaries, tables, files, labelled arrays and plots by name."""
