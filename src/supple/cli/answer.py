"""The answer of a command: its result on standard output, all else on standard error, and the exit status."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import typer

from supple.cli.failure import INTERRUPTED, LONGEST, Failure, failure, failure_of, memory_ran_out, refused_name
from supple.diagnostics import EarlyEnd, SuppleError, SuppleNote
from supple.diagnostics.quoting import excerpt

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.results.text import Text


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
