"""What a mechanism file describes, and what is suspicious about it."""
