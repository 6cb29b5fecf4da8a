"""Standard output and standard error that may be full, closed, or not there at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TextIO, cast

UNWRITTEN, CLOSED = 1, 141
"""Exit statuses: the answer could not be written; nobody reads it any more (as of a process that SIGPIPE ends)."""


class _Guarded:
    """A stream whose failures to write are somebody's business; all else it leaves to the stream."""

    def __init__(self, stream: TextIO, failed: Callable[[OSError], None]):
        self._stream, self._failed = stream, failed

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._failed(error)
            return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._failed(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Inside, a failing standard output ends the command with one line and a status, and one that its reader has closed
    (`supple ... | head`) with the status alone. What standard error does not take is lost, and the command goes on."""
    before = sys.stdout, sys.stderr
    with ExitStack() as opened:
        out, err = (_there(stream, opened) for stream in before)

        def ended(error: OSError) -> None:
            _swallow(out)
            if error.errno == errno.EPIPE:  # `| head` has read enough: no error of anybody
                raise SystemExit(CLOSED)
            print(f"error: standard output cannot be written ({error.strerror or error})", file=sys.stderr)
            raise SystemExit(UNWRITTEN)

        def lost(error: OSError) -> None:
            _swallow(err)

        sys.stdout, sys.stderr = (cast(TextIO, _Guarded(*pair)) for pair in ((out, ended), (err, lost)))
        try:
            try:
                yield
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
        finally:
            sys.stdout, sys.stderr = before


def _there(stream: TextIO | None, opened: ExitStack) -> TextIO:
    """The stream; where it was closed before we were started, one that takes everything."""
    return stream if stream is not None else opened.enter_context(open(os.devnull, "w", encoding="utf-8"))


def _swallow(stream: TextIO) -> None:
    """Let what is still in its memory, and all that follows, go nowhere: Python would complain of it at the end."""
    with suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(handle, stream.fileno())
        finally:
            os.close(handle)
