"""Announcing what is compiled, what for and how long it took; and the record of it, which `supple doctor` reads."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from supple.compilation.intermediate_code import in_pieces

RECORD = "seconds.txt"  # in the folder of a kernel: seconds of processor, name, purpose

_watched: dict[Any, tuple[str, str, Path]] = {}
_listening: list[Any] = []
_quiet: list[bool] = []
_heard: list[str] = []


def heard() -> int:
    """How many kernels this process has compiled so far; others may fill the same cache meanwhile."""
    return len(_heard)


def watch(native: Any, name: str, purpose: str, folder: Path) -> None:
    """Tell when the native version of a kernel is compiled, on standard error, and write its cost beside it."""
    _watched[native] = name, purpose, folder
    if not _listening:
        _listen()


@contextmanager
def quietly() -> Iterator[None]:
    """Inside, nothing is said of single kernels: something else tells the progress of all."""
    _quiet.append(True)
    try:
        yield
    finally:
        _quiet.pop()


def _listen() -> None:
    from numba.core import event

    class Listener(event.Listener):
        """Hears of every compilation in this process; only kernels that are called from Python are told."""

        def on_start(self, event: Any) -> None:
            known = _watched.get(event.data["dispatcher"])
            if known is None:
                return
            self.began = time.process_time(), time.perf_counter()
            self.pieces = in_pieces()
            self.pieces.__enter__()
            if not _quiet:
                print(f"supple: compiling, once: {known[1]} ...", end="", file=sys.stderr, flush=True)

        def on_end(self, event: Any) -> None:
            known = _watched.get(event.data["dispatcher"])
            if known is None:
                return
            self.pieces.__exit__(None, None, None)
            used, passed = time.process_time() - self.began[0], time.perf_counter() - self.began[1]
            if not _quiet:
                print(f" {passed:.1f} s", file=sys.stderr)
            name, purpose, folder = known
            _heard.append(name)
            try:
                folder.mkdir(parents=True, exist_ok=True)  # the code itself is kept a moment later
                with (folder / RECORD).open("a", encoding="utf-8") as record:
                    record.write(f"{used:.2f}\t{name}\t{purpose}\n")
            except OSError:  # a read-only cache: the record is a courtesy
                return

    listener = Listener()
    event.register("numba:compile", listener)
    _listening.append(listener)


# What the cache of compiled kernels holds, and what it cost.


class Compilation(NamedTuple):
    """One kernel in the cache: its name, what it is for, and the seconds of processor it took to compile."""

    name: str
    purpose: str
    seconds: float


def compilations(cache: Path) -> list[Compilation]:
    """Every compilation on record, the most expensive first. A line that cannot be read is left out."""
    found = []
    for record in cache.glob(f"*/{RECORD}"):
        try:
            text = record.read_text(encoding="utf-8", errors="replace")
        except OSError:  # not ours to read, or no file at all
            continue
        for line in text.splitlines():
            parts = line.split("\t")
            if len(parts) == 3 and parts[0].replace(".", "", 1).isdigit():
                found.append(Compilation(parts[1], parts[2], float(parts[0])))
    return sorted(found, key=lambda item: -item.seconds)


def bytes_in(cache: Path) -> int:
    """The size of all files in the cache."""
    total = 0
    for file in cache.rglob("*"):
        with suppress(OSError):  # gone in the meantime
            total += file.stat().st_size if file.is_file() else 0
    return total
