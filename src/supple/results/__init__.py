"""Results of analyses, with summaries, tables, files, labelled arrays and plots."""
