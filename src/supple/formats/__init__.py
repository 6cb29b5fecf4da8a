"""Files that people make, read and written: mechanisms, robots, motions, measurements; mistakes name their line."""
