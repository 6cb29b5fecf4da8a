"""A file is there whole or not at all: written beside its place, brought to the disk, renamed.

What a killed process leaves beside the place, a file that ends in .part, is cleared by whoever writes there next.
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

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # no room: of the disk, of the user, of one file
_OLD = 86400.0  # s after which a part is nobody's, wherever the process ran that wrote it


class UnwrittenError(InputError):
    """A file could not be written."""


@contextlib.contextmanager
def written_beside(target: Path) -> Iterator[Path]:
    """A place beside the target to write to, with its ending: renamed when all went well, gone otherwise.

    A link stays one, and what it leads to is replaced; a device such as /dev/null is written to as it is.
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
            hint="make room, or give another place" if full else "give another place",
        ) from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """The same for a new folder with all that is in it; the files in it are brought to the disk by whoever writes them.

    OSError where something is in its place already.
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
    """The bytes as a file; OSError where that cannot be."""
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
    """A name that no other process, and no other thread, has."""
    return target.with_name(f"{target.stem}.{_here()}-{os.getpid()}-{secrets.token_hex(3)}.part{target.suffix}")


def clear_parts(target: Path) -> None:
    """Remove parts of this target that were left behind.

    A part of a process that runs is never touched; of processes elsewhere (another machine, another container, which
    share the folder) nothing is known but how old their parts are.
    """
    try:
        names = os.listdir(target.parent)
    except OSError:  # then nothing can be written there either, which is said
        return
    for name in names:
        if name.startswith(f"{target.stem}.") and left_behind(target.parent / name, target):
            with contextlib.suppress(OSError):
                (target.parent / name).unlink()


def left_behind(part: Path, target: Path | None = None) -> bool:
    """Whether a part (of this target) is nobody's any more: its process is gone, or it is older than a day."""
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
    """Whether a process of this machine runs (not on Windows, where asking would end it)."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it does, and is another user's
        return True
    return True


@cache
def _here() -> str:
    """This machine since it started, and which container of it: where a number of a process means something."""
    known = [platform.node()]
    with contextlib.suppress(OSError):
        known.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii"))
    with contextlib.suppress(OSError):
        known.append(os.readlink("/proc/self/ns/pid"))
    return hashlib.sha256("\n".join(known).encode()).hexdigest()[:6]


def sync_to_disk(file: Path) -> None:
    """Bring a file to the disk before it takes another's place: a power cut must not leave an empty one there."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def settle_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
