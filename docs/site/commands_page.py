"""Generate the reference of the command line from the commands."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import typer
from words import cell, code, sentence

import supple.cli.main as cli
from supple.cli.kind_option import _PLACES, kinds


def commands_page() -> str:
    """Return every command with its arguments and options as Markdown."""
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    listed = "\n".join(
        f"| [`supple {name}`](#supple-{name}) | {cell(_first(item.help))} |" for name, item in commands.items()
    )
    details = "\n\n".join(_command(name, item) for name, item in commands.items())
    return f"| command | what it does |\n|---|---|\n{listed}\n\n{details}\n"


def _command(name: str, item: Any) -> str:
    arguments = [one for one in item.params if one.param_type_name == "argument"]
    options = [one for one in item.params if one.param_type_name == "option" and not one.hidden]
    usage = " ".join(["supple", name, *(_usage(one) for one in arguments), "[OPTIONS]" if options else ""]).strip()
    parts = [f"## supple {name}", sentence(item.help or ""), f"```sh\n{usage}\n```"]
    rows = [*(_argument(one) for one in arguments), *(_option(one) for one in options)]
    if rows:
        parts.append("| option | value | meaning |\n|---|---|---|\n" + "\n".join(rows))
    if item.epilog:
        parts.append(sentence(item.epilog))
    return "\n\n".join(parts)


def _usage(argument: Any) -> str:
    shown = (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return shown if argument.required else f"[{shown}]"


def _argument(one: Any) -> str:
    optional = "" if one.required else " *May be left out.*"
    return f"| {code(one.metavar or one.name.upper())} | | {cell(one.help or '')}{optional} |"


def _option(one: Any) -> str:
    names = ", ".join(code(name) for name in (*one.opts, *one.secondary_opts))
    value = "" if one.is_flag else (one.metavar or _choices(one) or "VALUE")
    meaning = cell(one.help or "")
    if one.name in _PLACES:
        meaning += (
            " " + cell("; ".join(f"`{name}`: {record.description}" for name, record in kinds(one.name).items())) + "."
        )
    if one.required:
        meaning += " *Must be given.*"
    if one.multiple:
        meaning += " *May be repeated.*" if "repeated" not in meaning else ""
    return f"| {names} | {code(value)} | {meaning} |"


def _choices(one: Any) -> str:
    if isinstance(one.default, Enum):
        return "|".join(str(choice.value) for choice in type(one.default))
    return ""


def _first(text: str | None) -> str:
    return re.split(r"(?<=\.)\s", " ".join((text or "").split()))[0]
