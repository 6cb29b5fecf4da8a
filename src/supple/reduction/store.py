"""The store of sampled local models: what was computed once is never computed again.

One SQLite file holds any number of sets of samples. A set is named by everything that its values depend on, so that
a changed mechanism never meets the samples of another; within a set a sample is found by the bytes of its θ. Damage
is met where it shows: the file is set aside, a new one is started, and a note names both.
"""

from __future__ import annotations

import os
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError, SuppleWarning
from supple.diagnostics.limits import in_bytes, most
from supple.reduction.store_file import (
    FAULTS,
    PATIENCE,
    VERSION,
    Fault,
    exclusively,
    fault_of,
    prepared,
    row_is_intact,
    row_seal,
    set_aside,
    store_connection,
    store_version,
    transaction,
)

Found = TypeVar("Found")

_ASKED = 500  # keys in one query; SQLite takes 999 at least
_ROW = 80  # bytes that a sample takes besides its numbers
_TRIES = 3  # new files that are damaged at once, one after the other, lie on a disk that is


class Sample(NamedTuple):
    """Coefficients at one θ; where the local model does not exist `valid` is False and they are meaningless."""

    valid: bool
    coefficients: Array


class StoreContents(NamedTuple):
    """What a store holds: bytes on disk, samples, sets."""

    bytes: int
    samples: int
    sets: int

    def __str__(self) -> str:
        sets = f" in {self.sets} sets" if self.sets > 1 else ""
        return f"{in_bytes(self.bytes)}, {self.samples} samples{sets}"


class SampleStore:
    """Samples of one set in a file, or in memory if there is no file, and beyond 64 MB in a nameless one.

    path  : the file; None keeps the samples for as long as it is open
    name  : what the values depend on, as one text (a digest)
    width : numbers in a sample
    limit : bytes of the file, else the limit `store`; sets that were not used for longest make room for this one
    """

    def __init__(
        self, path: str | Path | None, name: str, width: int, *, made_by: str = "", limit: float | None = None
    ):
        self.path = None if path is None else Path(path)
        self.name, self.width, self.limit = name, width, most("store") if limit is None else limit
        self.damaged = 0
        self._made_by = made_by
        self._database = sqlite3.connect(":memory:")
        self._file = 0
        if self.path is None:
            self._open()
        else:
            _require_place(self.path)
            self._coping(lambda: None, "be opened")

    def __len__(self) -> int:
        return self._coping(self._count, "be counted")

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        """Those of the samples that are there and whole."""
        return self._coping(lambda: self._found(keys), "be read")

    def add(self, keys: Iterable[bytes], samples: Iterable[Sample]) -> None:
        """Keep samples, all of them or none (one transaction)."""
        rows = []
        for key, sample in zip(keys, samples, strict=True):
            blob = np.ascontiguousarray(sample.coefficients, dtype="<f8").tobytes()
            valid = int(sample.valid)
            rows.append((key, valid, blob, row_seal(self.name, key, valid, blob)))
        self._coping(lambda: self._add(rows), f"keep {len(rows)} more sample{'s' if len(rows) != 1 else ''}")

    def close(self) -> None:
        """Leave one file behind, without the journal beside it."""
        with suppress(*FAULTS):  # what was committed is on the disk, in the file or in its journal
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ what is asked of SQLite

    def _open(self) -> None:
        self._database.close()
        self._database = store_connection(self.path)
        prepared(self._database)
        self._file = 0
        with transaction(self._database):
            self._set = self._named()
        self._file = _number(self.path)

    def _named(self) -> int:
        """The number of the set, which another process may have cleared."""
        asked, now = "SELECT id FROM sets WHERE name = ?", time.time()
        found = self._database.execute(asked, (self.name,)).fetchone()
        if found is None:
            added = "INSERT INTO sets (name, made_by, used) VALUES (?, ?, ?)"
            self._database.execute(added, (self.name, self._made_by, now))
            found = self._database.execute(asked, (self.name,)).fetchone()
        elif not self._file:  # just opened
            self._database.execute("UPDATE sets SET used = ? WHERE id = ?", (now, found[0]))
        return int(found[0])

    def _count(self) -> int:
        asked = self._database.execute("SELECT COUNT(*) FROM samples WHERE set_id = ?", (self._set,))
        return int(asked.fetchone()[0])

    def _found(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        samples: dict[bytes, Sample] = {}
        damaged = 0
        for start in range(0, len(keys), _ASKED):
            asked = keys[start : start + _ASKED]
            marks = ",".join("?" * len(asked))
            rows = self._database.execute(
                f"SELECT theta, valid, coefficients, seal FROM samples WHERE set_id = ? AND theta IN ({marks})",
                (self._set, *asked),
            )
            for theta, valid, blob, sealed in rows:
                if not row_is_intact(self.name, theta, valid, blob, sealed) or len(blob) != 8 * self.width:
                    damaged += 1
                    continue
                samples[theta] = Sample(bool(valid), np.frombuffer(blob, dtype="<f8").astype(float))
        if damaged:
            self.damaged += damaged
            warnings.warn(
                f"{damaged} sample{'s' if damaged > 1 else ''} in {self.path} did not match the checksum and "
                f"{'are' if damaged > 1 else 'is'} computed again",
                SuppleWarning,
                stacklevel=4,
            )
        return samples

    def _add(self, rows: list[tuple[bytes, int, bytes, bytes]]) -> None:
        self._make_room(sum(len(row[0]) + len(row[2]) + _ROW for row in rows))
        with transaction(self._database):
            self._set = self._named()
            self._database.executemany(
                "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)", ((self._set, *row) for row in rows)
            )

    # ------------------------------------------------------------------ how large it is

    def _make_room(self, needed: int) -> None:
        """Clear the other sets that were not used for longest, as many as it takes."""
        if self.path is None or self._used() + needed <= self.limit:
            return
        sets = self._database.execute("SELECT id, made_by, used FROM sets WHERE name != ? ORDER BY used", (self.name,))
        for number, made_by, used in sets.fetchall():
            with transaction(self._database):
                cleared = self._database.execute("DELETE FROM samples WHERE set_id = ?", (number,)).rowcount
                self._database.execute("DELETE FROM sets WHERE id = ?", (number,))
            when = time.strftime("%Y-%m-%d", time.localtime(used))
            warnings.warn(
                f"the store {self.path} would outgrow its limit of {in_bytes(self.limit)}: {cleared} samples of "
                f"another set (of {made_by or 'supple'}, last used {when}) were cleared",
                SuppleWarning,
                stacklevel=5,
            )
            if self._used() + needed <= self.limit:
                break
        self._database.execute("PRAGMA incremental_vacuum").fetchall()
        if self._used() + needed > self.limit:
            raise InputError(
                f"reaches its limit of {in_bytes(self.limit)} with {self._count()} samples of this mechanism, which "
                "are kept", part=f"store {self.path}",
                hint="raise it with --store-limit (in Python store_limit): the same command then goes on",
            )  # fmt: skip

    def _used(self) -> int:
        pages, free, size = (
            int(self._database.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    # ------------------------------------------------------------------ what may go wrong with it

    def _coping(self, work: Callable[[], Found], doing: str) -> Found:
        """What the work returns, on a store that is opened if it is not; damaged files are set aside."""
        if self.path is None:
            return self._without_file(work)
        for _ in range(_TRIES):
            standing = _number(self.path)
            try:
                if self._file != standing or not self._file:  # not open yet, removed, or set aside by another
                    self._open_ours(self.path)
                return work()
            except (sqlite3.ProgrammingError, sqlite3.InterfaceError):  # ours to mend
                raise
            except FAULTS as error:
                fault = fault_of(error, self.path)
                if fault is not Fault.DAMAGE:
                    raise self._refused(fault, error, doing) from None
                self._start_anew(self.path, standing, error)
        raise InputError(
            f"is damaged again as soon as it is made, {_TRIES} times now", part=f"store {self.path}",
            hint="its disk may be failing: name another place with --store",
        )  # fmt: skip

    def _without_file(self, work: Callable[[], Found]) -> Found:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if fault_of(error) is not Fault.FULL:
                raise
            raise InputError(
                f"no room is left for samples that were given no file ({error})", part="store",
                hint="name a store where there is room (--store FILE), or say in SQLITE_TMPDIR where that is",
            ) from None  # fmt: skip

    def _open_ours(self, path: Path) -> None:
        version = store_version(path)
        if version == 0:
            raise sqlite3.DatabaseError("its tables cannot be read")
        if version not in (None, VERSION):
            aside = self._renamed(path, "of another supple", f".version-{version}")
            warnings.warn(
                f"the store {path} is of another supple (version {version} of the file, this one writes {VERSION}): "
                f"set aside as {aside.name}, starting anew",
                SuppleWarning,
                stacklevel=5,
            )
        self._open()

    def _start_anew(self, path: Path, standing: int, error: BaseException) -> None:
        """Set the damaged file aside, unless another process has done so.

        standing : number of the file that was found damaged
        """
        self.close()
        self._file = 0
        with exclusively(path):
            if not standing or _number(path) != standing:
                return
            aside = self._renamed(path, "damaged", ".damaged")
        warnings.warn(
            f"the store {path} is damaged ({error}): set aside as {aside.name}, starting anew; its samples are "
            "computed again",
            SuppleWarning,
            stacklevel=5,
        )

    @staticmethod
    def _renamed(path: Path, what: str, ending: str) -> Path:
        try:
            return set_aside(path, ending)
        except OSError as problem:
            raise InputError(
                f"is {what}, and cannot be set aside ({problem.strerror})", part=f"store {path}",
                hint="name another with --store",
            ) from None  # fmt: skip

    def _refused(self, fault: Fault, error: BaseException, doing: str) -> InputError:
        part = f"store {self.path}"
        if fault is Fault.BUSY:
            return InputError(
                f"cannot {doing}: another process has kept it locked for {PATIENCE:g} s", part=part,
                hint="wait for it, or name another with --store",
            )  # fmt: skip
        if fault is Fault.BARRED:
            hint = "name another with --store, on a disk of this machine, or do without (--no-store)"
            barred = not os.access(Path(self.path or "").parent, os.W_OK)
            reason = "its folder cannot be written" if barred else str(error)
            return InputError(f"cannot {doing} ({reason})", part=part, hint=hint)
        with suppress(*FAULTS, AttributeError):
            return InputError(
                f"cannot {doing} ({error}); {self._count()} samples are kept", part=part,
                hint="make room, and the same command goes on from there",
            )  # fmt: skip
        return InputError(f"cannot {doing} ({error})", part=part, hint="make room, or name another with --store")


def held_in(path: Path) -> StoreContents:
    """What a store holds; as much of it as can be told."""
    samples = sets = 0
    with suppress(*FAULTS), closing(store_connection(path)) as database:
        samples = int(database.execute("SELECT COUNT(*) FROM samples").fetchone()[0])
        sets = int(database.execute("SELECT COUNT(*) FROM sets").fetchone()[0])
    return StoreContents(path.stat().st_size if path.exists() else 0, samples, sets)


def _number(path: Path | None) -> int:
    """Which file stands there; 0: none."""
    try:
        return 0 if path is None else path.stat().st_ino
    except OSError:
        return 0


def _require_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist", part=f"store {path}", hint="make it first")
