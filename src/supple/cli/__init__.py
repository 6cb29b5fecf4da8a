"""The `supple` command: how it starts, options and answers that commands share, commands that belong to no question."""
