"""A damaged store: what can be read goes into a new file, which takes its place; the damaged one is kept aside."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from supple.files.whole import clear_parts, place_beside, settle, settle_folder
from supple.reduction.store_faults import FAULTS, Fault, fault_of
from supple.reduction.store_file import connected, make_tables, transaction, whole

Row = tuple[object, ...]

_COLUMNS = "rowid, set_id, theta, valid, coefficients, seal"


class Mended(NamedTuple):
    """How many samples were read and are kept, how many could not be read (as far as is known), and the old file."""

    kept: int
    lost: int
    aside: Path


def mend(path: Path, name: str, row_size: int) -> Mended:
    """Put a new file with all samples that can be read in the place of a damaged one.

    name     : of a set, for samples whose own set can no longer be named
    row_size : bytes of a sample, about: how many the file may have held
    """
    clear_parts(path)
    new = place_beside(path)
    try:
        kept, lost = _salvaged(path, new, name, row_size)
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


def _salvaged(path: Path, new: Path, name: str, row_size: int) -> tuple[int, int]:
    kept = lost = 0
    with closing(connected(new)) as target:
        target.execute("PRAGMA journal_mode = MEMORY")
        make_tables(target)
        with closing(_reading(path)) as source, transaction(target):
            sets = _sets(source)
            target.executemany("INSERT OR IGNORE INTO sets VALUES (?, ?, ?, ?)", sets.values())
            known = {key: str(row[1]) for key, row in sets.items()}
            mine = next((key for key, text in known.items() if text == name), None)
            for row in _rows(source, path.stat().st_size // row_size + 1000):
                if row is None:
                    lost += 1
                    continue
                set_id, *values = row[1:]
                if not whole(known.get(set_id, ""), *values):
                    if not whole(name, *values):
                        lost += 1
                        continue
                    if mine is None:
                        added = "INSERT INTO sets (name, made_by, used) VALUES (?, '', 0.0)"
                        mine = target.execute(added, (name,)).lastrowid
                    set_id = mine
                added = "INSERT OR IGNORE INTO samples VALUES (?, ?, ?, ?, ?)"
                kept += target.execute(added, (set_id, *values)).rowcount
    return kept, lost


def _reading(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**26)
    return database


def _sets(source: sqlite3.Connection) -> dict[object, Row]:
    found: dict[object, Row] = {}
    with contextlib.suppress(*FAULTS):
        for row in source.execute("SELECT id, name, made_by, used FROM sets"):
            if all(isinstance(value, kind) for value, kind in zip(row, (int, str, str, float), strict=True)):
                found[row[0]] = row
    return found


def _rows(source: sqlite3.Connection, most: int) -> Iterator[Row | None]:
    """All rows that can be reached: from the first on, from the last back, and one by one in between; None for each
    that is there and cannot be read."""
    first, last = 0, None
    try:
        for row in source.execute(f"SELECT {_COLUMNS} FROM samples NOT INDEXED ORDER BY rowid"):
            yield row
            first = row[0]
        return
    except FAULTS as error:
        if fault_of(error) is Fault.FULL:
            raise
    try:
        for row in source.execute(f"SELECT {_COLUMNS} FROM samples NOT INDEXED ORDER BY rowid DESC"):
            if row[0] <= first:
                break
            yield row
            last = row[0]
    except FAULTS:
        pass
    for rowid in range(first + 1, min(first + most, last or first + most)):
        try:
            row = source.execute(f"SELECT {_COLUMNS} FROM samples NOT INDEXED WHERE rowid = ?", (rowid,)).fetchone()
        except FAULTS:
            if last is not None:  # otherwise nobody knows how many there were
                yield None
            continue
        if row is not None:
            yield row
