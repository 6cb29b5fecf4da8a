"""Announcements of compilations, and their record, which `supple doctor` reads."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from supple.compilation.intermediate_code import in_pieces

RECORD = "seconds.txt"  # file in the folder of a kernel: processor time in s, name, purpose

_watched: dict[Any, tuple[str, str, Path]] = {}
_listening: list[Any] = []
_quiet: list[bool] = []
_compiled: list[str] = []


def compiled_count() -> int:
    """Return the number of kernels that this process has compiled; other processes may use the same cache."""
    return len(_compiled)


def watch(native: Any, name: str, purpose: str, folder: Path) -> None:
    """Announce the compilation of a kernel on standard error, and record its cost in the folder of the kernel."""
    _watched[native] = name, purpose, folder
    if not _listening:
        _listen()


@contextmanager
def quietly() -> Iterator[None]:
    """Suppress announcements of single kernels, while another line shows the progress of all."""
    _quiet.append(True)
    try:
        yield
    finally:
        _quiet.pop()


def _listen() -> None:
    from numba.core import event

    class Listener(event.Listener):
        """Listener for all compilations of this process; it announces kernels that Python calls."""

        def on_start(self, event: Any) -> None:
            known = _watched.get(event.data["dispatcher"])
            if known is None:
                return
            self.began = time.process_time(), time.perf_counter()
            self.pieces = in_pieces()
            self.pieces.__enter__()
            if not _quiet:
                print(f"supple: compiling on first use: {known[1]} ...", end="", file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            known = _watched.get(event.data["dispatcher"])
            if known is None:
                return
            self.pieces.__exit__(None, None, None)
            used, passed = time.process_time() - self.began[0], time.perf_counter() - self.began[1]
            if not _quiet:
                print(f" {passed:.1f} s", file=sys.stderr)
            name, purpose, folder = known
            _compiled.append(name)
            try:
                folder.mkdir(parents=True, exist_ok=True)  # the code itself is written a moment later
                with (folder / RECORD).open("a", encoding="utf-8") as record:
                    record.write(f"{used:.2f}\t{name}\t{purpose}\n")
            except OSError:  # a read-only cache: the record is optional
                return

    listener = Listener()
    event.register("numba:compile", listener)
    _listening.append(listener)


# Content and cost of the cache of compiled kernels.


class Compilation(NamedTuple):
    """One kernel in the cache: name, purpose, and processor time of its compilation, s."""

    name: str
    purpose: str
    seconds: float


def compilations(cache: Path) -> list[Compilation]:
    """Return all recorded compilations, the most expensive first; unreadable lines are skipped."""
    found = []
    for record in cache.glob(f"*/{RECORD}"):
        try:
            text = record.read_text(encoding="utf-8", errors="replace")
        except OSError:  # not readable, or not a file
            continue
        for line in text.splitlines():
            parts = line.split("\t")
            if len(parts) == 3 and parts[0].replace(".", "", 1).isdigit():
                found.append(Compilation(parts[1], parts[2], float(parts[0])))
    return sorted(found, key=lambda item: -item.seconds)


def bytes_in(cache: Path) -> int:
    """Return the total size of all files in the cache, in bytes."""
    total = 0
    for file in cache.rglob("*"):
        with suppress(OSError):  # deleted in the meantime
            total += file.stat().st_size if file.is_file() else 0
    return total
