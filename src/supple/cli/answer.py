"""The answer of a command: its result on standard output, all else on standard error, and the exit status.

A command that fails gives one line on standard error, an exit status, and with --json one object that says the same.
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
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import typer

from supple.diagnostics import EarlyEnd, SuppleError, SuppleNote
from supple.diagnostics.errors import excerpt

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.results.text import Text


# How a command fails.


INPUT, USAGE, NUMERICAL, DEFECT, INTERRUPTED = 1, 2, 3, 4, 130
"""Exit statuses: the input is wrong, the command line is, a computation failed, a defect of ours, Ctrl-C."""
_KINDS = {INPUT: "input", USAGE: "usage", NUMERICAL: "numerical", DEFECT: "defect", INTERRUPTED: "interrupted"}
LONGEST = 2000  # characters of a message


class Failure(NamedTuple):
    """What went wrong, in pieces; `text` is all of it in a line. `report` is the file that tells of a defect."""

    text: str
    message: str
    status: int
    part: str | None = None
    hint: str | None = None
    file: str | None = None
    line: int | None = None
    report: str | None = None

    def data(self) -> dict[str, dict[str, Any]]:
        """What --json prints: an object whose only key is `error`."""
        return {"error": {"kind": _KINDS.get(self.status, "input"), **self._asdict()}}

    def tell(self, as_json: bool) -> int:
        """Say it, on standard error and with --json on standard output; returns the exit status."""
        if os.environ.get("SUPPLE_DEBUG", "0") not in ("", "0") and sys.exc_info()[0] is not None:
            traceback.print_exc()
        print(f"error: {self.text}", file=sys.stderr)
        self.give(as_json)
        return self.status

    def give(self, as_json: bool) -> None:
        """With --json, the object alone: where standard error is taken care of."""
        if as_json:
            print(json.dumps(self.data()))


def failure(message: str, status: int, *, hint: str | None = None, report: str | None = None) -> Failure:
    """A failure that is about no part and no file."""
    line = excerpt(message, LONGEST)
    return Failure(f"{line}; {hint}" if hint else line, line, status, hint=hint, report=report)


def failure_of(error: SuppleError) -> Failure:
    """The failure that one of supple's errors stands for."""
    part, hint, file = (
        None if item is None else excerpt(item, LONGEST) for item in (error.part, error.hint, error.file)
    )
    message = excerpt(error.message, LONGEST)
    return Failure(excerpt(error, LONGEST), message, error.exit_status, part, hint, file, error.line)


def memory_ran_out(error: MemoryError) -> Failure:
    """More was asked for than this machine has."""
    said = excerpt(error, LONGEST)
    hint = "ask for less at once, or take a machine with more memory"
    return failure("the memory does not suffice" + (f": {said}" if said else ""), INPUT, hint=hint)


def refused_name(error: Exception) -> Failure | None:
    """A file name that no system takes, too long or with a NUL in it, wherever it was used; None: another error."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        name = str(error.filename or "")
        return failure(
            f"a file name of {len(name)} characters is too long: {excerpt(name, 60)}", INPUT, hint="shorten it"
        )
    if isinstance(error, ValueError) and "embedded null" in str(error):
        return failure("a file name has a NUL character in it", INPUT, hint="check the names that are given")
    return None


# How a command answers.


class Shown(Protocol):
    """A result that a command shows: an object for scripts, a text for people."""

    def data(self) -> Mapping[str, Any]: ...
    def text(self) -> Text: ...


class Answer:
    """Where a command says what it has to say.

    as_json   : one JSON object on standard output instead of text for people
    mechanism : what the command is about, once it is known; later errors then find their line
    """

    def __init__(self, as_json: bool):
        self.as_json = as_json
        self.mechanism: Mechanism | None = None
        self._said: set[str] = set()

    def give(self, data: Mapping[str, Any], show: Callable[[], Text | None]) -> None:
        """The result: the object, or for people the text that `show` returns, or prints itself."""
        if self.as_json:
            print(json.dumps(json_value(data), allow_nan=False))
        elif (text := show()) is not None:
            text.print()

    def show(self, found: Shown, *hints: str) -> None:
        """A result by its own data or text; for people with hints below it."""
        self.give(found.data() if self.as_json else {}, lambda: found.text().lines(*hints))

    def note(self, text: str) -> None:
        self._say_once(f"note: {excerpt(text, LONGEST)}")

    def warn(self, text: str) -> None:
        self._say_once(f"warning: {excerpt(text, LONGEST)}")

    def _say_once(self, line: str) -> None:
        """A command may run a mechanism several times, and each run has the same notes."""
        if line not in self._said:
            self._said.add(line)
            print(line, file=sys.stderr)

    def heard(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        """A warning of the work itself, or a note."""
        (self.note if issubclass(category, SuppleNote) else self.warn)(str(message))

    def fail(self, what: Failure) -> typer.Exit:
        """Tell what went wrong; the exception to raise carries the exit status."""
        return typer.Exit(what.tell(self.as_json))

    def cut_short(self, text: str, status: int) -> typer.Exit:
        """The result was given as far as it goes; tell why it ends there, and raise what this returns."""
        print(f"error: {excerpt(text, LONGEST)}", file=sys.stderr)
        return typer.Exit(status)


@contextmanager
def answering(as_json: bool) -> Iterator[Answer]:
    """Inside, a command raises what is wrong: the user sees one line, scripts see the exit status. What is no error of
    ours goes on to where the command was started, and is a defect (`main`)."""
    answer = Answer(as_json)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EarlyEnd)  # `cut_short` says it
        warnings.showwarning = answer.heard
        try:
            yield answer
        except SuppleError as error:
            raise answer.fail(failure_of(_located(error, answer.mechanism))) from None
        except KeyboardInterrupt:
            raise answer.fail(failure("interrupted", INTERRUPTED)) from None
        except MemoryError as error:
            raise answer.fail(memory_ran_out(error)) from None
        except (OSError, ValueError) as error:
            if (told := refused_name(error)) is None:
                raise
            raise answer.fail(told) from None


def _located(error: SuppleError, mechanism: Mechanism | None) -> SuppleError:
    if mechanism is None:
        return error
    from supple.formats.source import located

    return located(error, mechanism)


def json_value(value: Any) -> Any:
    """The same in what JSON has; a number that is not finite becomes null."""
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
