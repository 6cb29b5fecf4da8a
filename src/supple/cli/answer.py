"""Output of a command: the result on standard output, messages on standard error, and the exit status.

A command that fails prints one line on standard error and, with --json, one object with the same content.
"""

from __future__ import annotations

import errno
import json
import math
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import typer

from supple.diagnostics import EarlyEnd, SuppleError, SuppleNote
from supple.diagnostics.errors import excerpt

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.results.text import Text


# Failures.


INPUT, USAGE, NUMERICAL, DEFECT, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit statuses: wrong input, wrong command line, failed computation, defect of supple, Ctrl-C."""
_KINDS = {INPUT: "input", USAGE: "usage", NUMERICAL: "numerical", DEFECT: "defect", INTERRUPTED: "interrupted"}
LONGEST = 2000  # largest number of characters of a message


class Failure(NamedTuple):
    """An error in parts; `text` is the whole message in one line, `report` the file that describes a defect."""

    text: str
    message: str
    status: int
    part: str | None = None
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    report: str | None = None

    def data(self) -> dict[str, dict[str, Any]]:
        """Return the object that --json prints, with the single key `error`."""
        return {"error": {"kind": _KINDS.get(self.status, "input"), **self._asdict()}}

    def emit(self, as_json: bool) -> int:
        """Print the error on standard error, with --json also on standard output; return the exit status."""
        if os.environ.get("SUPPLE_DEBUG", "0") not in ("", "0") and sys.exc_info()[0] is not None:
            traceback.print_exc()
        print(f"error: {self.text}", file=sys.stderr)
        self.give(as_json)
        return self.status

    def give(self, as_json: bool) -> None:
        """Print the object of --json only, if standard error has the message already."""
        if as_json:
            print(json.dumps(self.data()))


def failure(message: str, status: int, *, hint: str | None = None, report: str | None = None) -> Failure:
    """Return a failure that concerns no part and no file."""
    line = excerpt(message, LONGEST)
    return Failure(f"{line}; {hint}" if hint else line, line, status, hint=hint, report=report)


def failure_of(error: SuppleError) -> Failure:
    """Return the failure of one of supple's errors."""
    part, hint, file = (
        None if item is None else excerpt(item, LONGEST) for item in (error.part, error.hint, error.file)
    )
    message = excerpt(error.message, LONGEST)
    return Failure(excerpt(error, LONGEST), message, error.exit_status, part, hint, file, error.line)


def memory_ran_out(error: MemoryError) -> Failure:
    """Return the failure for a computation that needs more memory than the machine has."""
    reason = excerpt(error, LONGEST)
    hint = "reduce the size of the problem, or use a machine with more memory"
    return failure("out of memory" + (f": {reason}" if reason else ""), INPUT, hint=hint)


def refused_name(error: Exception) -> Failure | None:
    """Return the failure for an invalid file name (too long, or with a NUL character), or None for other errors."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        name = str(error.filename or "")
        return failure(
            f"the file name of {len(name)} characters is too long: {excerpt(name, 60)}", INPUT, hint="shorten it"
        )
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return failure("a file name contains a NUL character", INPUT, hint="check the file names of the command")
    return None


# Results and messages.


OPTIONS: ContextVar[frozenset[str]] = ContextVar("OPTIONS", default=frozenset())
"""Options of the running command; errors about an argument of a function name its option."""


class Shown(Protocol):
    """A result that a command shows: an object for scripts, a text for readers."""

    def data(self) -> Mapping[str, Any]: ...
    def text(self) -> Text: ...


class Answer:
    """The output of a command.

    as_json   : print one JSON object on standard output instead of text
    mechanism : mechanism of the command, once it is read; errors then name the line in its file
    """

    def __init__(self, as_json: bool):
        self.as_json = as_json
        self.mechanism: Mechanism | None = None
        self._printed: set[str] = set()

    def give(self, data: Mapping[str, Any], show: Callable[[], Text | None]) -> None:
        """Print the result: the object with --json, else the text that `show` returns or prints."""
        if self.as_json:
            print(json.dumps(json_value(data), allow_nan=False))
        elif (text := show()) is not None:
            text.print()

    def show(self, found: Shown, *hints: str) -> None:
        """Print a result by its own data or text; the text is followed by hints."""
        self.give(found.data() if self.as_json else {}, lambda: found.text().lines(*hints))

    def note(self, text: str) -> None:
        """Print a note on standard error."""
        self._print_once(f"note: {excerpt(text, LONGEST)}")

    def warn(self, text: str) -> None:
        """Print a warning on standard error."""
        self._print_once(f"warning: {excerpt(text, LONGEST)}")

    def _print_once(self, line: str) -> None:
        """Print a message once, although a command may run a mechanism several times."""
        if line not in self._printed:
            self._printed.add(line)
            print(line, file=sys.stderr)

    def show_warning(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        """Print a Python warning as a warning or, for `SuppleNote`, as a note."""
        (self.note if issubclass(category, SuppleNote) else self.warn)(str(message))

    def fail(self, what: Failure) -> typer.Exit:
        """Report a failure and return the exception to raise, which carries the exit status."""
        return typer.Exit(what.emit(self.as_json))

    def cut_short(self, text: str, status: int) -> typer.Exit:
        """Report why an incomplete result ends early, and return the exception to raise."""
        print(f"error: {excerpt(text, LONGEST)}", file=sys.stderr)
        return typer.Exit(status)


@contextmanager
def open_answer(as_json: bool) -> Iterator[Answer]:
    """Report errors raised inside as one line and an exit status.

    Exceptions that are not supple's continue to `main`, which reports them as defects.
    """
    answer = Answer(as_json)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyEnd)  # `cut_short` reports it
        warnings.showwarning = answer.show_warning
        try:
            yield answer
        except SuppleError as error:
            raise answer.fail(failure_of(_locate_error(_name_option(error), answer.mechanism))) from None
        except KeyboardInterrupt:
            raise answer.fail(failure("interrupted", INTERRUPTED)) from None
        except MemoryError as error:
            raise answer.fail(memory_ran_out(error)) from None
        except (OSError, ValueError) as error:
            if (refused := refused_name(error)) is None:
                raise
            raise answer.fail(refused) from None


def _name_option(error: SuppleError) -> SuppleError:
    """Return the error with the option of the running command in place of the Python name of its argument."""
    if not error.part or error.path or error.file:
        return error
    option = f"--{error.part.removesuffix('_hz').replace('_', '-')}"
    return type(error)(error.message, part=option, hint=error.hint) if option in OPTIONS.get() else error


def _locate_error(error: SuppleError, mechanism: Mechanism | None) -> SuppleError:
    if mechanism is None:
        return error
    from supple.formats.source import locate_error

    return locate_error(error, mechanism)


def json_value(value: Any) -> Any:
    """Convert a value to JSON types; numbers that are not finite become null."""
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
