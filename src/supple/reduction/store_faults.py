"""What may be wrong with the file of a store, told apart by what SQLite says."""

from __future__ import annotations

import os
import sqlite3
from enum import Enum
from pathlib import Path


class Fault(Enum):
    """DAMAGE sets the file aside; the others are for the user."""

    DAMAGE = "damaged"
    FULL = "no room"
    BUSY = "in use"
    BARRED = "not to be used"


_WRITING = {
    "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC", "SQLITE_IOERR_TRUNCATE",
    "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_SHMOPEN", "SQLITE_IOERR_SHMMAP",
}  # fmt: skip
_FAULTS = {
    sqlite3.SQLITE_FULL: Fault.FULL,
    sqlite3.SQLITE_BUSY: Fault.BUSY,
    sqlite3.SQLITE_LOCKED: Fault.BUSY,
    sqlite3.SQLITE_PERM: Fault.BARRED,
    sqlite3.SQLITE_READONLY: Fault.BARRED,
    sqlite3.SQLITE_CANTOPEN: Fault.BARRED,
    sqlite3.SQLITE_PROTOCOL: Fault.BARRED,
    sqlite3.SQLITE_NOLFS: Fault.BARRED,
}
# What a spoilt file makes Python's sqlite3 raise; it decodes even the messages that quote one.
FAULTS = (sqlite3.DatabaseError, MemoryError, OverflowError, UnicodeDecodeError)


def fault_of(error: BaseException, path: Path | None = None) -> Fault:
    """Everything that is not known to be something else is damage: what a spoilt file leads to has no end.

    path : of the file. One that may be written, but says of itself that it may not, is damaged
    """
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return Fault.DAMAGE
    name = getattr(error, "sqlite_errorname", "")
    if name in _WRITING:
        return Fault.FULL
    if name in ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_SHMLOCK", "SQLITE_IOERR_RDLOCK"):
        return Fault.BARRED
    if code & 0xFF == sqlite3.SQLITE_READONLY and path is not None and os.access(path, os.W_OK):
        return Fault.DAMAGE if os.access(path.parent, os.W_OK) else Fault.BARRED
    return _FAULTS.get(code & 0xFF, Fault.DAMAGE)
