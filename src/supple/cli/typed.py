"""The arguments of the command that runs, as they are typed again."""

from __future__ import annotations

import shlex
from typing import Any

import typer


def typed_again(context: typer.Context, *left_out: str) -> str:
    """Arguments and options as they were given, quoted for a shell; without --json, and those left out by name."""
    words: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in (*left_out, "as_json"):
            continue
        value = context.params[name]
        values: list[Any] = list(value) if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            words += [str(item) for item in values]
        elif getattr(parameter, "is_flag", False):
            options += [max(parameter.opts if value else parameter.secondary_opts, key=len)]
        else:
            for item in values:
                options += [max(parameter.opts, key=len), str(getattr(item, "value", item))]
    return shlex.join([*words, *options])
