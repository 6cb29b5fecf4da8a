"""The store of sampled local models: what was computed once is never computed again.

One SQLite file holds any number of sets of samples. A set is named by everything that its values depend on, so that
a changed mechanism never meets the samples of another; within a set a sample is found by the bytes of its θ.
"""

from __future__ import annotations

import sqlite3
import warnings
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, SuppleWarning

Array = NDArray[np.float64]

_APPLICATION = 0x73757070  # "supp": how we know our own files
_HEADER = b"SQLite format 3\0"
_ASKED = 500  # keys in one query; SQLite takes 999 at least
_PATIENCE = 60.0  # s to wait for another process that writes
_SCHEMA = """
CREATE TABLE IF NOT EXISTS sets (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, made_by TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS samples (
    set_id INTEGER NOT NULL, theta BLOB NOT NULL, valid INTEGER NOT NULL, coefficients BLOB NOT NULL,
    crc INTEGER NOT NULL, UNIQUE (set_id, theta));
"""


class Sample(NamedTuple):
    """Coefficients at one θ; where the local model does not exist `valid` is False and they are meaningless."""

    valid: bool
    coefficients: Array


class SampleStore:
    """Samples of one set in a file, or in memory if there is no file.

    path  : the file; None keeps the samples in memory
    name  : what the values depend on, as one text (a digest)
    width : numbers in a sample
    """

    def __init__(self, path: str | Path | None, name: str, width: int, *, made_by: str = ""):
        self.path = None if path is None else Path(path)
        self.width = width
        self.damaged = 0
        self._database = _opened(self.path)
        with self._database:
            self._database.execute("INSERT OR IGNORE INTO sets (name, made_by) VALUES (?, ?)", (name, made_by))
        self._set = int(self._database.execute("SELECT id FROM sets WHERE name = ?", (name,)).fetchone()[0])

    def __len__(self) -> int:
        return int(self._database.execute("SELECT COUNT(*) FROM samples WHERE set_id = ?", (self._set,)).fetchone()[0])

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Sample]:
        """Those of the samples that are there and whole."""
        samples: dict[bytes, Sample] = {}
        damaged = 0
        for start in range(0, len(keys), _ASKED):
            asked = keys[start : start + _ASKED]
            marks = ",".join("?" * len(asked))
            rows = self._database.execute(
                f"SELECT theta, valid, coefficients, crc FROM samples WHERE set_id = ? AND theta IN ({marks})",
                (self._set, *asked),
            )
            for theta, valid, blob, crc in rows:
                if not _whole(theta, valid, blob, crc, 8 * self.width):
                    damaged += 1
                    continue
                samples[theta] = Sample(bool(valid), np.frombuffer(blob, dtype="<f8").astype(float))
        if damaged:
            self.damaged += damaged
            warnings.warn(
                f"{damaged} sample{'s' if damaged > 1 else ''} in {self.path} did not match the checksum and "
                f"{'are' if damaged > 1 else 'is'} computed again",
                SuppleWarning,
                stacklevel=2,
            )
        return samples

    def add(self, keys: Iterable[bytes], samples: Iterable[Sample]) -> None:
        """Keep samples, all of them or none (one transaction)."""
        rows = []
        for key, sample in zip(keys, samples, strict=True):
            blob = np.ascontiguousarray(sample.coefficients, dtype="<f8").tobytes()
            rows.append((self._set, key, int(sample.valid), blob, _checksum(key, int(sample.valid), blob)))
        with self._database:
            self._database.executemany("INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Leave one file behind, without the journal beside it."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _checksum(theta: bytes, valid: int, blob: bytes) -> int:
    return zlib.crc32(blob, zlib.crc32(bytes([valid]), zlib.crc32(theta)))


def _whole(theta: object, valid: object, blob: object, crc: object, size: int) -> bool:
    """Whether a row is what was written; a damaged file may hold anything anywhere."""
    if not (isinstance(theta, bytes) and isinstance(blob, bytes) and valid in (0, 1) and len(blob) == size):
        return False
    return crc == _checksum(theta, int(bool(valid)), blob)


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is None:
        return _prepared(sqlite3.connect(":memory:"))
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist", part=f"store {path}", hint="make it first")
    _require_ours(path)
    try:
        return _prepared(sqlite3.connect(path, timeout=_PATIENCE))
    except sqlite3.OperationalError as error:  # not allowed to write, no space, in use for too long
        raise InputError(f"cannot be used ({error})", part=f"store {path}", hint="name another with --store") from None
    except sqlite3.DatabaseError:  # ours, but no longer readable
        aside = path.with_name(path.name + ".damaged")
        path.replace(aside)
        for journal in ("-wal", "-shm"):
            path.with_name(path.name + journal).unlink(missing_ok=True)
        warnings.warn(f"the store {path} is damaged; set aside as {aside}, starting anew", SuppleWarning, stacklevel=3)
        return _prepared(sqlite3.connect(path, timeout=_PATIENCE))


def _require_ours(path: Path) -> None:
    """Refuse to write into a file that is something else."""
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", part=f"store {path}", hint="name another") from None
    ours = head[:16] == _HEADER and int.from_bytes(head[68:72], "big") in (_APPLICATION, 0)
    if head and not ours:
        raise InputError(
            "is not a store of samples", part=f"store {path}", hint="name another file, or remove this one"
        )


def _prepared(database: sqlite3.Connection) -> sqlite3.Connection:
    try:
        database.execute("PRAGMA journal_mode = WAL")  # a kill loses no transaction and leaves no half of one
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.executescript(_SCHEMA)
        database.execute("SELECT COUNT(*) FROM samples").fetchone()
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
