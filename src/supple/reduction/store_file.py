"""File of a store: one SQLite file with sets of samples, each sample with its own checksum.

A file may be damaged anywhere, and SQLite detects that late or never. So a sample is trusted only if its checksum, a
digest of the set's name, θ, the flag and the coefficients, matches. Nothing else in the file is trusted.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from enum import Enum
from hashlib import blake2b
from pathlib import Path

from supple.diagnostics import InputError
from supple.files.whole import settle_folder

# Faults of the file of a store, distinguished by SQLite's error codes.


class Fault(Enum):
    """Faults of a store. DAMAGE sets the file aside; the others are reported to the user."""

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
# Exceptions of Python's sqlite3 on a damaged file, including those from decoding messages that quote it.
FAULTS = (sqlite3.DatabaseError, MemoryError, OverflowError, UnicodeDecodeError)


def fault_of(error: BaseException, path: Path | None = None) -> Fault:
    """Return the fault behind an error; every error that is not known otherwise counts as damage.

    path : the file. A file that is writable but marked read-only is damaged
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


# The file: its tables, its version, its transactions, and the renaming of a damaged file.


VERSION = 2  # the checksum of version 1 did not cover the set
APPLICATION = 0x73757070  # "supp": application id of supple's files
PATIENCE = 60.0  # s to wait for another process that writes
_HEADER = b"SQLite format 3\0"
_LONGEST = 2**26  # bytes of one value; a damaged length must not exhaust the memory
_LOG = 2**26  # largest size in bytes of an empty journal beside the file
_CACHE = 2**26  # bytes in memory of samples without a file
_BARE = 2 * 4096  # bytes of a file without tables
_KNOWN_BY = "(set_id INTEGER NOT NULL, theta BLOB NOT NULL"  # part of the table `samples` in every version
_TABLES = {
    "sets": "CREATE TABLE sets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL, "
    "made_by TEXT NOT NULL, used REAL NOT NULL)",
    "samples": "CREATE TABLE samples (set_id INTEGER NOT NULL, theta BLOB NOT NULL, valid INTEGER NOT NULL, "
    "coefficients BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (set_id, theta))",
}


def row_seal(name: str, theta: bytes, valid: int, blob: bytes) -> bytes:
    """Return the checksum of a sample: a digest of its set, θ, flag and values."""
    digest = blake2b(name.encode(), digest_size=16)
    digest.update(b"%d %d\0" % (valid, len(theta)))
    digest.update(theta)
    digest.update(blob)
    return digest.digest()


def is_intact_row(name: str, theta: object, valid: object, blob: object, sealed: object) -> bool:
    """Return whether a row matches its checksum; a damaged file may hold anything anywhere."""
    if not (isinstance(theta, bytes) and isinstance(blob, bytes) and isinstance(valid, int) and valid in (0, 1)):
        return False
    return sealed == row_seal(name, theta, valid, blob)


def store_connection(path: Path | None) -> sqlite3.Connection:
    """Return a connection that writes nothing by itself.

    Without a path the connection has a set of its own, in memory and, beyond its share of the memory, in a temporary
    file (in SQLITE_TMPDIR).
    """
    database = sqlite3.connect("" if path is None else path, timeout=PATIENCE, isolation_level=None)
    if path is None:
        database.execute(f"PRAGMA cache_size = -{_CACHE // 1024}")
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    return database


def prepare_store(database: sqlite3.Connection) -> sqlite3.Connection:
    """Create the tables and set up a journal, and return the connection.

    After a kill the journal keeps every committed transaction, and only whole ones.
    """
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    make_tables(database)
    _execute_when_free(database, "PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"PRAGMA journal_size_limit = {_LOG}")
    database.execute("SELECT COUNT(*) FROM samples").fetchone()
    return database


def make_tables(database: sqlite3.Connection) -> None:
    """Create all tables at once, together with the marks that identify the file."""
    if _tables(database):
        return
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that the file shrinks when sets are deleted
    with transaction(database):
        if not _tables(database):  # another process may have created them
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {VERSION}")
            for text in _TABLES.values():
                database.execute(text)


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one transaction: all of it or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _execute_when_free(database: sqlite3.Connection, text: str) -> None:
    """Execute a statement, waiting while the file is busy.

    SQLite itself does not wait if two processes open a new file at the same time.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            database.execute(text)
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)


def _tables(database: sqlite3.Connection) -> dict[str, str]:
    found = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {str(name): str(text) for name, text in found}


def store_version(path: Path) -> int | None:
    """Return the version of a store; None if there is none yet, 0 for a store that cannot be read.

    Raises InputError for a file that is not a store.
    """
    part = f"store {path}"
    try:
        if not path.exists():
            return None
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", part=part, hint="choose another file with --store"
        ) from None
    if not head:
        return None
    marked = int.from_bytes(head[68:72], "big") == APPLICATION
    traces = marked or b"CREATE TABLE samples (set_id" in head or path.suffix == ".samples"
    if head[:16] != _HEADER:
        if traces:
            return 0
        raise InputError("is not a store of samples", part=part, hint="choose another file, or remove this one")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as database:
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            tables = _tables(database)
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            application = int(database.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return VERSION  # presumably; the error is reported when the file is opened for writing
        tables, version, application = {}, 0, 0
    except FAULTS:
        tables, version, application = {}, 0, 0
    else:
        if tables == _TABLES:
            return VERSION
        if application != APPLICATION and (application or tables) and _KNOWN_BY not in tables.get("samples", ""):
            named = ", ".join(sorted(tables)[:3]) or "no tables"
            raise InputError(
                f"is an SQLite file of another program ({named})", part=part, hint="choose another file with --store"
            )
        if not tables and path.stat().st_size <= _BARE:  # its creator was killed before writing any table
            return None
        return version if version > VERSION else 1 if "crc INTEGER" in tables.get("samples", "") else 0
    if traces:
        return 0
    raise InputError("is not a store of samples", part=part, hint="choose another file, or remove this one")


def set_aside(path: Path, ending: str) -> Path:
    """Rename a store and the journal beside it to a free name, and return the new name."""
    aside, n = path.with_name(path.name + ending), 1
    while aside.exists():
        n += 1
        aside = path.with_name(f"{path.name}{ending}.{n}")
    journal = path.with_name(path.name + "-wal")
    with suppress(FileNotFoundError):  # first: SQLite would use it as the journal of the new file
        if journal.stat().st_size:
            journal.replace(aside.with_name(aside.name + "-wal"))
        else:
            journal.unlink()
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    path.replace(aside)
    settle_folder(path.parent)
    return aside


@contextmanager
def rename_lock(path: Path) -> Iterator[None]:
    """Hold the lock for renaming a store, so that no other process renames it at the same time."""
    try:
        import fcntl
    except ImportError:  # a system without fcntl, where two processes may rename the same damaged file
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
