"""How a command fails: one line on standard error, an exit status, and with --json one object that says the same."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from supple.diagnostics.quoting import excerpt

if TYPE_CHECKING:
    from supple.diagnostics import SuppleError

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
    """Of something that is about no part and no file."""
    line = excerpt(message, LONGEST)
    return Failure(f"{line}; {hint}" if hint else line, line, status, hint=hint, report=report)


def failure_of(error: SuppleError) -> Failure:
    """The same of one of our errors."""
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
