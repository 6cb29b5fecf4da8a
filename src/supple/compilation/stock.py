"""What the cache of compiled kernels holds, and what it cost."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from supple.compilation.announcement import RECORD


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
