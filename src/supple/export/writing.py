"""A set of files into a folder, as one: all of them new, or all as they were."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from supple.diagnostics import InputError

# What files of ours hold: a sentence, or where that has no place, how their data begin.
MARKS = (b"enerated by supple", b'"supple reduced model"', b"A reduced model of supple as plain data")
_ENDS = 4096  # bytes at both ends of a file in which a mark is looked for


def write_together(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write the files beside their places, then rename them all; the places.

    A disk that fills up, or an interruption, leaves what was there. A file that stands in the way and was not written
    by supple, though the new one is marked as ours, is refused.
    """
    contents = {name: text.encode("utf-8") if isinstance(text, str) else text for name, text in files.items()}
    made = _made(folder)
    ending = f".{secrets.token_hex(4)}.part"
    try:
        _require_free(folder, contents)
        try:
            for name, content in contents.items():
                (folder / f".{name}{ending}").write_bytes(content)
            with _alone(folder):
                _rename(folder, list(contents), ending)
        finally:
            for name in contents:
                with contextlib.suppress(OSError):
                    (folder / f".{name}{ending}").unlink()
    except BaseException as error:
        for path in made:  # the innermost first; one that holds something else stays
            with contextlib.suppress(OSError):
                path.rmdir()
        if isinstance(error, OSError):
            raise InputError(
                f"cannot write to {folder}: {error.strerror or error}; nothing was changed", part="export",
                hint="choose another directory, or make room",
            ) from None  # fmt: skip
        raise
    return [folder / name for name in contents]


def _made(folder: Path) -> list[Path]:
    """The folder, and those above it that had to be made, the innermost first."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}", part="export", hint="choose another directory"
        ) from None
    return missing


def _require_free(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, content in contents.items():
        file = folder / name
        if file.is_dir():
            raise InputError(f"{file} is a directory", part="export", hint="choose another folder")
        if _marked(content) and file.exists() and not _marked(file.read_bytes()):
            raise InputError(
                f"{file} is there already, and was not written by supple", part="export",
                hint="choose another folder, or move it away",
            )  # fmt: skip


def _marked(content: bytes) -> bool:
    return any(mark in content[:_ENDS] or mark in content[-_ENDS:] for mark in MARKS)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other export renames files here."""
    try:
        import fcntl
    except ImportError:  # another system, where two exports into one folder at once are not kept apart
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _rename(folder: Path, names: list[str], ending: str) -> None:
    """Old files step aside until all new ones are in their places, and come back if one is not."""
    aside: list[str] = []
    done: list[str] = []
    try:
        for name in names:
            if (folder / name).exists():
                (folder / name).replace(folder / f".{name}{ending}.old")
                aside.append(name)
            (folder / f".{name}{ending}").replace(folder / name)
            done.append(name)
    except BaseException:
        for name in done:
            with contextlib.suppress(OSError):
                (folder / name).unlink()
        for name in aside:
            (folder / f".{name}{ending}.old").replace(folder / name)
        raise
    for name in aside:
        (folder / f".{name}{ending}.old").unlink()
