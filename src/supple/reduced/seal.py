"""Checksum of a model file: a digest of its contents, in the 512 bytes that HDF5 leaves to the user at the front.

HDF5 trusts what it reads: a file with a few damaged bytes can crash it or make it hang. So a file is only opened if its
contents are those that were written.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from supple.diagnostics import InputError

SIZE = 512
MARK = b"supple model, sha-256 of what follows the first 512 bytes: "


def seal(path: Path) -> None:
    """Write the digest of a file into its first bytes, which must be free (`userblock_size=SIZE`)."""
    with path.open("r+b") as file:
        file.seek(SIZE)
        text = MARK + hashlib.file_digest(file, "sha256").hexdigest().encode() + b"\n"
        file.seek(0)
        file.write(text.ljust(SIZE, b"\0"))


def require_sealed(path: Path) -> None:
    """Raise InputError for a file that is not a model, or that has changed since it was written."""
    with path.open("rb") as file:
        head = file.read(SIZE)
        if not head.startswith(MARK):
            raise InputError("this is not a reduced model of supple", hint="give a file that `supple reduce` wrote")
        written = head[len(MARK) :].split(b"\n")[0].decode("ascii", "replace")
        if hashlib.file_digest(file, "sha256").hexdigest() != written:
            raise InputError(
                "cannot be read as a reduced model (wrong checksum: the file is damaged or was changed)",
                hint="reduce again",
            )
