"""A damaged store: what can be read goes into a new file, which takes its place; the damaged one is kept aside."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from supple.files.whole import clear_parts, place_beside, settle, settle_folder
from supple.reduction.leaf_pages import leaf_rows
from supple.reduction.store_faults import FAULTS, Fault, fault_of
from supple.reduction.store_file import connected, make_tables, transaction, whole

Row = tuple[object, ...]

_SETS = "SELECT id, name, made_by, used FROM sets"
_SAMPLES = "SELECT rowid, set_id, theta, valid, coefficients, seal FROM samples NOT INDEXED"
_MOST = 2**32  # samples that were ever in a store; a larger number is a spoilt one


class Mended(NamedTuple):
    """How many samples were read and are kept, how many there were besides (about), and the old file."""

    kept: int
    lost: int
    aside: Path


def mend(path: Path, name: str) -> Mended:
    """Put a new file with all samples that can be read in the place of a damaged one.

    name : of a set, for samples whose own set can no longer be named
    """
    clear_parts(path)
    new = place_beside(path)
    try:
        kept, lost = _salvaged(path, new, name)
        settle(new)
        return Mended(kept, lost, _change_places(path, new))
    finally:
        for suffix in ("", "-journal"):
            with contextlib.suppress(OSError):
                new.with_name(new.name + suffix).unlink(missing_ok=True)


def set_aside(path: Path, ending: str) -> Path:
    """Rename a store and the journal beside it, to a name that is free; the new name."""
    aside = _free(path, ending)
    _move_journal(path, aside)
    path.replace(aside)
    settle_folder(path.parent)
    return aside


@contextmanager
def mending(path: Path) -> Iterator[None]:
    """While no other process mends the same store."""
    try:
        import fcntl
    except ImportError:  # another system, where two that find the same damage at once are not kept apart
        yield
        return
    beside = path.with_name(path.name + ".mending")
    with beside.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            beside.unlink(missing_ok=True)


def _change_places(path: Path, new: Path) -> Path:
    aside = _free(path, ".damaged")
    _move_journal(path, aside)  # first: SQLite would take it for the new file's
    try:
        os.link(path, aside)  # so that there is a store at every moment
    except OSError:
        path.replace(aside)
    new.replace(path)
    settle_folder(path.parent)
    return aside


def _move_journal(path: Path, aside: Path) -> None:
    journal = path.with_name(path.name + "-wal")
    with contextlib.suppress(FileNotFoundError):
        if journal.stat().st_size:
            journal.replace(aside.with_name(aside.name + "-wal"))
        else:
            journal.unlink()
    path.with_name(path.name + "-shm").unlink(missing_ok=True)


def _free(path: Path, ending: str) -> Path:
    aside, n = path.with_name(path.name + ending), 1
    while aside.exists():
        n += 1
        aside = path.with_name(f"{path.name}{ending}.{n}")
    return aside


def _salvaged(path: Path, new: Path, name: str) -> tuple[int, int]:
    with closing(connected(new)) as target:
        target.execute("PRAGMA journal_mode = MEMORY")
        make_tables(target)
        with transaction(target):
            try:
                with closing(_reading(path)) as source:
                    return _copied(source.execute(_SETS).fetchall(), source.execute(_SAMPLES), target, name)
            except FAULTS as error:
                if fault_of(error) is Fault.FULL:
                    raise
            # Something in between is gone: from page to page then, and what was copied already is met again.
            sets = [(number, *row[1:]) for number, row in leaf_rows(path) if len(row) == 4]
            return _copied(sets, ((number, *row) for number, row in leaf_rows(path) if len(row) == 5), target, name)


def _reading(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**26)
    return database


def _copied(sets: Iterable[Row], samples: Iterable[Row], target: sqlite3.Connection, name: str) -> tuple[int, int]:
    """Samples whose seal fits, each into the set it was made for; how many, and how many there once were besides."""
    known = {row[0]: row[1] for row in sets if _is_set(row)}
    target.executemany("INSERT OR IGNORE INTO sets VALUES (?, ?, ?, ?)", (row for row in sets if _is_set(row)))
    numbers = {str(text): number for number, text in target.execute("SELECT id, name FROM sets")}
    last = 0
    for row in samples:
        number, owner, values = row[0], known.get(row[1], name), row[2:]
        last = max(last, number) if isinstance(number, int) and number < _MOST else last
        if not whole(str(owner), *values):
            if owner == name or not whole(name, *values):
                continue
            owner = name
        if owner not in numbers:
            added = "INSERT INTO sets (name, made_by, used) VALUES (?, '', 0.0)"
            numbers[str(owner)] = int(target.execute(added, (owner,)).lastrowid or 0)
        added = "INSERT OR IGNORE INTO samples VALUES (?, ?, ?, ?, ?)"
        target.execute(added, (numbers[str(owner)], *values))
    kept = int(target.execute("SELECT COUNT(*) FROM samples").fetchone()[0])
    return kept, max(0, last - kept)


def _is_set(row: Row) -> bool:
    return all(isinstance(value, kind) for value, kind in zip(row, (int, str, str, float), strict=True))
