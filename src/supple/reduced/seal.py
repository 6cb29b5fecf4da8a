"""The seal of a model file: a digest of its contents, in the 512 bytes that HDF5 leaves to its user at the front.

HDF5 trusts what it reads: a file with a few spoilt bytes can make it crash or never come back. So a file is only
opened when its contents are those that were written.
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
    """InputError for a file that is not a model, or is not what was written."""
    with path.open("rb") as file:
        head = file.read(SIZE)
        if not head.startswith(MARK):
            raise InputError("is not a reduced model of supple", hint="give a file that `supple reduce` wrote")
        written = head[len(MARK) :].split(b"\n")[0].decode("ascii", "replace")
        if hashlib.file_digest(file, "sha256").hexdigest() != written:
            raise InputError(
                "cannot be read as a reduced model (it is not what was written: damaged, or changed)",
                hint="reduce again",
            )
