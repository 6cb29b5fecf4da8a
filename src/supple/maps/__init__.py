"""Numbers over a grid of configurations: one result, one picture, for every question with a short answer."""
