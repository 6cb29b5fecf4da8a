"""The `supple` command, one file a subcommand."""
