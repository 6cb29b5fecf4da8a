"""The file of a store: one SQLite file with sets of samples, each sample under a seal of its own.

A file may be damaged anywhere, and SQLite finds that out late or never. So a sample is believed if its seal, a digest
of the set's name, θ, the flag and the coefficients, fits; nothing else in the file is believed at all.
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

# Faults of the file of a store, told apart by what SQLite says.


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


# The file: its tables, its version, its transactions, and a damaged file set aside.


VERSION = 2  # 1 had a checksum that did not know the set
APPLICATION = 0x73757070  # "supp": how we know our own files
PATIENCE = 60.0  # s to wait for another process that writes
_HEADER = b"SQLite format 3\0"
_LONGEST = 2**26  # bytes of one value; a spoilt length must not exhaust the memory
_LOG = 2**26  # bytes that the journal beside the file keeps when it is empty
_CACHE = 2**26  # bytes in memory of samples that have no file
_BARE = 2 * 4096  # bytes of a file that holds nothing yet
_KNOWN_BY = "(set_id INTEGER NOT NULL, theta BLOB NOT NULL"  # of every version
_TABLES = {
    "sets": "CREATE TABLE sets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE NOT NULL, "
    "made_by TEXT NOT NULL, used REAL NOT NULL)",
    "samples": "CREATE TABLE samples (set_id INTEGER NOT NULL, theta BLOB NOT NULL, valid INTEGER NOT NULL, "
    "coefficients BLOB NOT NULL, seal BLOB NOT NULL, UNIQUE (set_id, theta))",
}


def row_seal(name: str, theta: bytes, valid: int, blob: bytes) -> bytes:
    """What fits these values in this set, and no others."""
    digest = blake2b(name.encode(), digest_size=16)
    digest.update(b"%d %d\0" % (valid, len(theta)))
    digest.update(theta)
    digest.update(blob)
    return digest.digest()


def row_is_intact(name: str, theta: object, valid: object, blob: object, sealed: object) -> bool:
    """Whether a row is what was written; a spoilt file may hold anything anywhere."""
    if not (isinstance(theta, bytes) and isinstance(blob, bytes) and isinstance(valid, int) and valid in (0, 1)):
        return False
    return sealed == row_seal(name, theta, valid, blob)


def store_connection(path: Path | None) -> sqlite3.Connection:
    """A connection that writes nothing by itself; without a path to a set of its own, which spills over into a nameless
    file where the machine keeps such (SQLITE_TMPDIR) once it has outgrown its share of the memory."""
    database = sqlite3.connect("" if path is None else path, timeout=PATIENCE, isolation_level=None)
    if path is None:
        database.execute(f"PRAGMA cache_size = -{_CACHE // 1024}")
    database.text_factory = lambda text: text.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    return database


def prepared(database: sqlite3.Connection) -> sqlite3.Connection:
    """With our tables, and a journal of which a kill loses no transaction and leaves no half of one."""
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    make_tables(database)
    _patiently(database, "PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = NORMAL")
    database.execute(f"PRAGMA journal_size_limit = {_LOG}")
    database.execute("SELECT COUNT(*) FROM samples").fetchone()
    return database


def make_tables(database: sqlite3.Connection) -> None:
    """All at once, and the marks by which the file is known with them."""
    if _tables(database):
        return
    database.execute("PRAGMA auto_vacuum = INCREMENTAL")  # so that what is cleared makes the file smaller
    with transaction(database):
        if not _tables(database):  # another process may have been sooner
            database.execute(f"PRAGMA application_id = {APPLICATION}")
            database.execute(f"PRAGMA user_version = {VERSION}")
            for text in _TABLES.values():
                database.execute(text)


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _patiently(database: sqlite3.Connection, text: str) -> None:
    """SQLite itself does not wait where two open a new file at the same time."""
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
    """The version of a store; None: there is none yet, 0: a file that was ours and cannot be read as such.

    A file that is something else is refused.
    """
    part = f"store {path}"
    try:
        if not path.exists():
            return None
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", part=part, hint="name another with --store") from None
    if not head:
        return None
    marked = int.from_bytes(head[68:72], "big") == APPLICATION
    traces = marked or b"CREATE TABLE samples (set_id" in head or path.suffix == ".samples"
    if head[:16] != _HEADER:
        if traces:
            return 0
        raise InputError("is not a store of samples", part=part, hint="name another file, or remove this one")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as database:
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            tables = _tables(database)
            version = int(database.execute("PRAGMA user_version").fetchone()[0])
            application = int(database.execute("PRAGMA application_id").fetchone()[0])
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return VERSION  # as far as is known; who opens it to write is told why that cannot be
        tables, version, application = {}, 0, 0
    except FAULTS:
        tables, version, application = {}, 0, 0
    else:
        if tables == _TABLES:
            return VERSION
        if application != APPLICATION and (application or tables) and _KNOWN_BY not in tables.get("samples", ""):
            named = ", ".join(sorted(tables)[:3]) or "no tables"
            raise InputError(
                f"is an SQLite file of another program ({named})", part=part, hint="name another file with --store"
            )
        if not tables and path.stat().st_size <= _BARE:  # its maker was killed before it had any
            return None
        return version if version > VERSION else 1 if "crc INTEGER" in tables.get("samples", "") else 0
    if traces:
        return 0
    raise InputError("is not a store of samples", part=part, hint="name another file, or remove this one")


def set_aside(path: Path, ending: str) -> Path:
    """Rename a store and the journal beside it, to a name that is free; the new name."""
    aside, n = path.with_name(path.name + ending), 1
    while aside.exists():
        n += 1
        aside = path.with_name(f"{path.name}{ending}.{n}")
    journal = path.with_name(path.name + "-wal")
    with suppress(FileNotFoundError):  # first: SQLite would take it for the journal of the new file
        if journal.stat().st_size:
            journal.replace(aside.with_name(aside.name + "-wal"))
        else:
            journal.unlink()
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    path.replace(aside)
    settle_folder(path.parent)
    return aside


@contextmanager
def exclusively(path: Path) -> Iterator[None]:
    """While no other process sets the same store aside."""
    try:
        import fcntl
    except ImportError:  # another system, where two that find the same damage at once are not kept apart
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
