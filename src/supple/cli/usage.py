"""A command line that is wrong: told as typer tells it, and with --json by an object as well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperGroup

from supple.cli.failure import USAGE, failure


class AnswersUsage(TyperGroup):
    """The group of all commands; whatever typer refuses in its arguments passes through here."""

    as_json = False

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        self.as_json = "--json" in args
        with self._answering():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with self._answering():
            return super().invoke(ctx)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if hasattr(error, "format_message") and getattr(error, "exit_code", None) == USAGE:
                _wrong(error).give(self.as_json)
            raise


def _wrong(error: Any) -> Any:
    """What typer says of it, the option or argument that it is about, and where help is found."""
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help tells what it takes" if context is not None else None
    found = failure(str(error.format_message()) or "no command is given", USAGE, hint=hint)
    return found._replace(part=_about(error))


def _about(error: Any) -> str | None:
    named = getattr(error, "param_hint", None) or getattr(error, "option_name", None)
    param = getattr(error, "param", None)
    if named is None and param is not None:
        named = param.opts if param.param_type_name == "option" else (param.metavar or param.name)
    return " / ".join(named) if isinstance(named, list | tuple) else named
