"""Arrays in an .npz file, a ZIP archive whose headers are all checked before memory is allocated."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.diagnostics.limits import require_memory

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_LONGEST_HEADER = 10_000
_DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, OverflowError,
    MemoryError, SyntaxError, TypeError, IndexError, KeyError, AttributeError, OSError,
)  # fmt: skip
"""Exceptions that zipfile and numpy raise for archives that contradict their headers."""


def read_archive(path: str | Path, wanted: Collection[str] | None, kinds: str = "iuf") -> dict[str, np.ndarray]:
    """Return the arrays of a file with the given names, or all; errors are a `ValueError` that names the array.

    wanted : names of the arrays; None for all
    kinds  : numpy's letters of the allowed entries: real numbers; with c complex numbers and with U texts; never
    objects
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive)
            found = {name: member for name, member in members.items() if wanted is None or name in wanted}
            _require_room(found)
            return {name: _array(archive, name, member, kinds) for name, member in found.items()}
    except _DAMAGED as error:
        with Path(path).open("rb") as stream:
            if stream.read(6) == npy.MAGIC_PREFIX:
                raise ValueError("the file is a single array (.npy), not an .npz archive") from None
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"the file is not an .npz archive, or it is damaged: {reason}") from error


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name in found:
            raise ValueError(f"it contains two arrays {quote(name)}")
        found[name] = member
    return found


def _require_room(members: dict[str, zipfile.ZipInfo]) -> None:
    """Require memory for the sizes that the archive declares; more than declared is never read."""
    try:
        require_memory(
            sum(member.file_size for member in members.values()),
            "its arrays take",
            hint="store fewer arrays in the file",
        )
    except InputError as error:
        raise ValueError(str(error)) from None


def _array(archive: zipfile.ZipFile, name: str, member: zipfile.ZipInfo, kinds: str) -> np.ndarray:
    if member.flag_bits & 1:
        raise ValueError(f"its array {quote(name)} is encrypted")
    with archive.open(member) as stream:
        # Checks the checksum at the end of the array; reading stops if a member is longer than declared.
        content = stream.read(member.file_size + 1)
    if len(content) != member.file_size:
        raise ValueError(f"its array {quote(name)} is {len(content)} bytes long, but {member.file_size} are declared")
    reading = io.BytesIO(content)
    try:
        version = npy.read_magic(reading)
        if version not in _HEADERS:
            raise ValueError(f"version {version}")
        shape, columns_first, dtype = _HEADERS[version](reading, max_header_size=_LONGEST_HEADER)
    except (*_DAMAGED, ValueError) as error:
        raise ValueError(f"the header of its array {quote(name)} cannot be read") from error
    if dtype.kind not in kinds or dtype.hasobject:
        of = "numbers or texts" if "U" in kinds else "numbers"
        raise ValueError(f"its array {quote(name)} has entries of type {quote(dtype)} instead of {of}")
    start = reading.tell()
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != len(content) - start:
        by = " by ".join(str(size) for size in shape) or "one number"
        raise ValueError(f"its array {quote(name)} declares {by} entries, but has {len(content) - start} bytes")
    return np.ndarray(shape, dtype, content, start, order="F" if columns_first else "C")
