"""Checksum of a file that supple writes: a digest of its contents, in the 512 bytes that HDF5 leaves at the front.

HDF5 trusts what it reads: a file with a few damaged bytes can crash it or make it hang. So a file is only opened if its
contents are those that were written.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from supple.diagnostics import InputError

SIZE = 512


class SealedKind(NamedTuple):
    """Kind of sealed file: its first bytes, its name in messages, its origin, and the remedy for a damaged one."""

    mark: bytes
    name: str
    origin: str
    remedy: str


MODEL = SealedKind(
    b"supple model, sha-256 of what follows the first 512 bytes: ", "a reduced model",
    "give a file that `supple reduce` wrote", "reduce again",
)  # fmt: skip
LAW = SealedKind(
    b"supple law, sha-256 of what follows the first 512 bytes: ", "a control law", "give a file that `law.save` wrote",
    "design the law again and save it",
)  # fmt: skip


def seal(path: Path, kind: SealedKind = MODEL) -> None:
    """Write the digest of a file into its first bytes, which must be free (`userblock_size=SIZE`)."""
    with path.open("r+b") as file:
        file.seek(SIZE)
        text = kind.mark + hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n"
        file.seek(0)
        file.write(text.ljust(SIZE, b"\0"))


def require_sealed(path: Path, kind: SealedKind = MODEL) -> None:
    """Raise InputError for a file of another kind, or one that has changed since it was written."""
    with path.open("rb") as file:
        head = file.read(SIZE)
        if not head.startswith(kind.mark):
            raise InputError(f"this is not {kind.name} of supple", hint=kind.origin)
        written = head[len(kind.mark) :].split(b"\n")[0].decode("ascii", "replace")
        if hashlib.file_digest(file, "sha256").hexdigest() != written:
            raise InputError(
                f"cannot be read as {kind.name} (wrong checksum: the file is damaged or was changed)", hint=kind.remedy
            )


def is_sealed(path: Path, kind: SealedKind) -> bool:
    """Return whether a file begins like one of a kind."""
    try:
        with path.open("rb") as file:
            return file.read(len(kind.mark)) == kind.mark
    except OSError:
        return False
