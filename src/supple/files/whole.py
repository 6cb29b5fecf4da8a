"""Atomic writing of files: write to a temporary file, sync it to the disk, rename it.

Temporary files end in .part. Those that a killed process leaves are removed by the next process that writes there.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from supple.diagnostics import InputError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no space: disk, user quota, file size
_OLD = 86400.0  # s after which a temporary file counts as abandoned, whichever machine wrote it


class UnwrittenError(InputError):
    """Error: a file could not be written."""


@contextlib.contextmanager
def write_beside(target: Path) -> Iterator[Path]:
    """Yield a temporary path with the same ending as the target; rename it on success and remove it otherwise.

    A symbolic link stays one: the file it points to is replaced. A device such as /dev/null is written directly.
    """
    if not target.name or target.is_dir():
        raise InputError("this is a folder", file=str(target), hint="name a file in it")
    place = Path(os.path.realpath(target)) if target.is_symlink() else target
    beside = place_beside(place)
    try:
        if _is_device(place):
            yield place
            return
        clear_parts(place)
        yield beside
        sync_to_disk(beside)
        beside.replace(place)
        settle_folder(place.parent)
    except OSError as error:
        full = error.errno in FULL
        raise UnwrittenError(
            f"cannot be written ({error.strerror or error}){'; nothing was changed' if full else ''}",
            file=str(target),
            hint="make room, or give another path" if full else "give another path",
        ) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a temporary folder, renamed to a new folder on success; the caller syncs its files to the disk.

    Raise OSError if the target already exists.
    """
    beside = place_beside(target)
    try:
        beside.mkdir(parents=True)
        yield beside
        settle_folder(beside)
        beside.replace(target)
        settle_folder(target.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _is_device(place: Path) -> bool:
    return place.exists() and not place.is_file() and not place.is_dir()


def write_whole(target: Path, content: bytes) -> None:
    """Write bytes as a file; raise OSError on failure."""
    beside = place_beside(target)
    clear_parts(target)
    try:
        with beside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(target)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


def place_beside(target: Path) -> Path:
    """Return a temporary path that no other process or thread uses."""
    return target.with_name(f"{target.stem}.{_here()}-{os.getpid()}-{secrets.token_hex(3)}.part{target.suffix}")


def clear_parts(target: Path) -> None:
    """Remove abandoned temporary files of this target.

    Those of running processes are never touched. Processes elsewhere (another machine or container that shares the
    folder) cannot be checked: only the age of their files counts.
    """
    try:
        names = os.listdir(target.parent)
    except OSError:  # nothing can be written there either, which is reported then
        return
    for name in names:
        if name.startswith(f"{target.stem}.") and is_abandoned(target.parent / name, target):
            with contextlib.suppress(OSError):
                (target.parent / name).unlink()


def is_abandoned(part: Path, target: Path | None = None) -> bool:
    """Return True if a temporary file (of this target) is abandoned: its process ended, or it is older than a day."""
    stem, suffix = (".+", r"(?:\.[^.]*)?") if target is None else (re.escape(target.stem), re.escape(target.suffix))
    match = re.fullmatch(rf"{stem}\.([0-9a-f]{{6}})-([0-9]{{1,9}})-[0-9a-f]{{6}}\.part{suffix}", part.name)
    if match is None:
        return False
    if match[1] == _here() and os.name != "nt":
        return not runs(int(match[2]))
    try:
        return time.time() - part.stat().st_mtime > _OLD
    except OSError:
        return False


def runs(process: int) -> bool:
    """Return True if a process of this machine runs (not on Windows, where the check would end it)."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process exists and belongs to another user
        return True
    return True


@cache
def _here() -> str:
    """Return an identifier of this machine since its start, and of its container: the scope of process numbers."""
    known = [platform.node()]
    with contextlib.suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii"))
    with contextlib.suppress(OSError):
        known.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:6]


def sync_to_disk(file: Path) -> None:
    """Sync a file to the disk before it replaces another one, so that a power cut cannot leave an empty file."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def settle_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk, if the system supports it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
