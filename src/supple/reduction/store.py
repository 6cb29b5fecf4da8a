"""Store of sampled local models, so that no sample is computed twice.

One SQLite file holds any number of sets of samples. The name of a set covers everything that its values depend on, so
that a changed mechanism never uses the samples of another. Within a set a sample is found by the bytes of its θ. If
damage is found, the file is set aside, a new one is started, and a warning names both.
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
    fault_of,
    is_intact_row,
    prepare_store,
    rename_lock,
    row_seal,
    set_aside,
    store_connection,
    store_version,
    transaction,
)

Found = TypeVar("Found")

_KEYS = 500  # keys per query; SQLite accepts at least 999
_ROW = 80  # bytes of a sample besides its numbers
_TRIES = 3  # new files that are damaged at once before the disk is reported as failing


class Sample(NamedTuple):
    """Coefficients at one θ; meaningless where `valid` is False, because the local model does not exist."""

    valid: bool
    coefficients: Array


class StoreContents(NamedTuple):
    """Contents of a store: bytes on disk, samples and sets."""

    bytes: int
    samples: int
    sets: int

    def __str__(self) -> str:
        sets = f" in {self.sets} sets" if self.sets > 1 else ""
        return f"{in_bytes(self.bytes)}, {self.samples} samples{sets}"


class SampleStore:
    """Samples of one set in a file, or without a file in memory and, beyond 64 MB, in a temporary file.

    path  : the file; None keeps the samples as long as the store is open
    name  : digest of everything that the values depend on
    width : numbers in a sample
    limit : largest size of the file in bytes; default: the limit `store`. Least recently used sets are deleted first
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
            self._with_recovery(lambda: None, "be opened")

    def __len__(self) -> int:
        return self._with_recovery(self._count, "be counted")

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        """Return the samples that are stored and intact."""
        return self._with_recovery(lambda: self._read_samples(keys), "be read")

    def add(self, keys: Iterable[bytes], samples: Iterable[Sample]) -> None:
        """Store samples in one transaction: all of them or none."""
        rows = []
        for key, sample in zip(keys, samples, strict=True):
            blob = np.ascontiguousarray(sample.coefficients, dtype="<f8").tobytes()
            valid = int(sample.valid)
            rows.append((key, valid, blob, row_seal(self.name, key, valid, blob)))
        self._with_recovery(lambda: self._add(rows), f"keep {len(rows)} more sample{'s' if len(rows) != 1 else ''}")

    def close(self) -> None:
        """Close the file and remove the journal beside it."""
        with suppress(*FAULTS):  # committed samples are on the disk, in the file or in its journal
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------------ queries

    def _open(self) -> None:
        self._database.close()
        self._database = store_connection(self.path)
        prepare_store(self._database)
        self._file = 0
        with transaction(self._database):
            self._set = self._set_number()
        self._file = _inode(self.path)

    def _set_number(self) -> int:
        """Return the number of the set, which another process may have deleted."""
        query, now = "SELECT id FROM sets WHERE name = ?", time.time()
        found = self._database.execute(query, (self.name,)).fetchone()
        if found is None:
            added = "INSERT INTO sets (name, made_by, used) VALUES (?, ?, ?)"
            self._database.execute(added, (self.name, self._made_by, now))
            found = self._database.execute(query, (self.name,)).fetchone()
        elif not self._file:  # just opened
            self._database.execute("UPDATE sets SET used = ? WHERE id = ?", (now, found[0]))
        return int(found[0])

    def _count(self) -> int:
        found = self._database.execute("SELECT COUNT(*) FROM samples WHERE set_id = ?", (self._set,))
        return int(found.fetchone()[0])

    def _read_samples(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        samples: dict[bytes, Sample] = {}
        damaged = 0
        for start in range(0, len(keys), _KEYS):
            batch = keys[start : start + _KEYS]
            marks = ",".join("?" * len(batch))
            rows = self._database.execute(
                f"SELECT theta, valid, coefficients, seal FROM samples WHERE set_id = ? AND theta IN ({marks})",
                (self._set, *batch),
            )
            for theta, valid, blob, sealed in rows:
                if not is_intact_row(self.name, theta, valid, blob, sealed) or len(blob) != 8 * self.width:
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
            self._set = self._set_number()
            self._database.executemany(
                "INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)", ((self._set, *row) for row in rows)
            )

    # ------------------------------------------------------------------ size

    def _make_room(self, needed: int) -> None:
        """Delete the least recently used other sets, as many as needed."""
        if self.path is None or self._measure_size() + needed <= self.limit:
            return
        sets = self._database.execute("SELECT id, made_by, used FROM sets WHERE name != ? ORDER BY used", (self.name,))
        for number, made_by, used in sets.fetchall():
            with transaction(self._database):
                cleared = self._database.execute("DELETE FROM samples WHERE set_id = ?", (number,)).rowcount
                self._database.execute("DELETE FROM sets WHERE id = ?", (number,))
            when = time.strftime("%Y-%m-%d", time.localtime(used))
            warnings.warn(
                f"the store {self.path} would exceed its limit of {in_bytes(self.limit)}; {cleared} samples of "
                f"another set (by {made_by or 'supple'}, last used {when}) were deleted",
                SuppleWarning,
                stacklevel=5,
            )
            if self._measure_size() + needed <= self.limit:
                break
        self._database.execute("PRAGMA incremental_vacuum").fetchall()
        if self._measure_size() + needed > self.limit:
            raise InputError(
                f"reached its limit of {in_bytes(self.limit)} with {self._count()} samples of this mechanism, which "
                "are kept", part=f"store {self.path}",
                hint="raise the limit with --store-limit (in Python store_limit) and run the same command to resume",
            )  # fmt: skip

    def _measure_size(self) -> int:
        pages, free, size = (
            int(self._database.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    # ------------------------------------------------------------------ faults

    def _with_recovery(self, work: Callable[[], Found], doing: str) -> Found:
        """Return the result of the work on the store, which is opened if necessary; set damaged files aside."""
        if self.path is None:
            return self._without_file(work)
        for _ in range(_TRIES):
            inode = _inode(self.path)
            try:
                if self._file != inode or not self._file:  # not open yet, removed, or set aside by another process
                    self._open_checked(self.path)
                return work()
            except (sqlite3.ProgrammingError, sqlite3.InterfaceError):  # errors of this code, not of the file
                raise
            except FAULTS as error:
                fault = fault_of(error, self.path)
                if fault is not Fault.DAMAGE:
                    raise self._make_error(fault, error, doing) from None
                self._replace_damaged(self.path, inode, error)
        raise InputError(
            f"was damaged again right after its creation, {_TRIES} times", part=f"store {self.path}",
            hint="the disk may be failing: choose another location with --store",
        )  # fmt: skip

    def _without_file(self, work: Callable[[], Found]) -> Found:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if fault_of(error) is not Fault.FULL:
                raise
            raise InputError(
                f"no disk space left for samples without a store file ({error})", part="store",
                hint="give a store on a disk with free space (--store FILE), or set SQLITE_TMPDIR to such a disk",
            ) from None  # fmt: skip

    def _open_checked(self, path: Path) -> None:
        version = store_version(path)
        if version == 0:
            raise sqlite3.DatabaseError("the tables cannot be read")
        if version not in (None, VERSION):
            aside = self._rename_file(path, f"of file version {version}", f".version-{version}")
            warnings.warn(
                f"the store {path} has file version {version}, but this supple uses {VERSION}; it was renamed to "
                f"{aside.name}, and a new store was created",
                SuppleWarning,
                stacklevel=5,
            )
        self._open()

    def _replace_damaged(self, path: Path, inode: int, error: BaseException) -> None:
        """Set the damaged file aside, unless another process has done so.

        inode : inode number of the file that was found damaged
        """
        self.close()
        self._file = 0
        with rename_lock(path):
            if not inode or _inode(path) != inode:
                return
            aside = self._rename_file(path, "damaged", ".damaged")
        warnings.warn(
            f"the store {path} is damaged ({error}); it was renamed to {aside.name}, a new store was created, and its "
            "samples are computed again",
            SuppleWarning,
            stacklevel=5,
        )

    @staticmethod
    def _rename_file(path: Path, what: str, ending: str) -> Path:
        try:
            return set_aside(path, ending)
        except OSError as problem:
            raise InputError(
                f"is {what} and cannot be renamed ({problem.strerror})", part=f"store {path}",
                hint="choose another file with --store",
            ) from None  # fmt: skip

    def _make_error(self, fault: Fault, error: BaseException, doing: str) -> InputError:
        part = f"store {self.path}"
        if fault is Fault.BUSY:
            return InputError(
                f"cannot {doing}: another process has locked it for {PATIENCE:g} s", part=part,
                hint="wait for that process, or choose another file with --store",
            )  # fmt: skip
        if fault is Fault.BARRED:
            hint = "choose a file on a local disk with --store, or store no samples (--no-store)"
            barred = not os.access(Path(self.path or "").parent, os.W_OK)
            reason = "the folder is not writable" if barred else str(error)
            return InputError(f"cannot {doing} ({reason})", part=part, hint=hint)
        with suppress(*FAULTS, AttributeError):
            return InputError(
                f"cannot {doing} ({error}); {self._count()} samples are kept", part=part,
                hint="free some disk space and run the same command to resume",
            )  # fmt: skip
        return InputError(
            f"cannot {doing} ({error})", part=part, hint="free some disk space, or choose another file with --store"
        )


def store_contents(path: Path) -> StoreContents:
    """Return the contents of a store, as far as it can be read."""
    samples = sets = 0
    with suppress(*FAULTS), closing(store_connection(path)) as database:
        samples = int(database.execute("SELECT COUNT(*) FROM samples").fetchone()[0])
        sets = int(database.execute("SELECT COUNT(*) FROM sets").fetchone()[0])
    return StoreContents(path.stat().st_size if path.exists() else 0, samples, sets)


def _inode(path: Path | None) -> int:
    """Return the inode number of a file; 0 if it does not exist."""
    try:
        return 0 if path is None else path.stat().st_ino
    except OSError:
        return 0


def _require_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist", part=f"store {path}", hint="create it first")
