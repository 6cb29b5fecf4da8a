"""Reading what the user wrote: mechanism files and others, with the line of every mistake."""
