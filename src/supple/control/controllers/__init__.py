"""Controllers, one file each."""
