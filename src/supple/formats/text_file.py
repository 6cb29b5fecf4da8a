"""User files: they must exist, must not be too large, and must be UTF-8 text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt
from supple.files.existing import require_file

_PIECE = 2**20  # bytes


def read_bytes(path: str | Path, largest: int, hint: str) -> bytes:
    """Return the contents of a file, at most `largest` bytes.

    hint : next step in the error for a larger file
    """
    name = excerpt(path, 500)
    try:
        require_file(path)
        with Path(path).open("rb") as stream:
            content = b"".join(_pieces(stream, largest + 1))  # not more, whatever size the system reports
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", file=name) from error
    if len(content) > largest:
        raise too_large(name, largest, hint)
    return content


def _pieces(stream: BinaryIO, most: int) -> Iterator[bytes]:
    """Yield the contents of a stream up to a number of bytes, with memory only for bytes that exist."""
    while most > 0 and (piece := stream.read(min(most, _PIECE))):
        most -= len(piece)
        yield piece


def text_of(content: bytes, file: str) -> str:
    """Return the text of UTF-8 bytes; `file` is for messages."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", file=file, line=line, hint="save it as UTF-8") from error


def too_large(file: str, largest: int, hint: str) -> InputError:
    """Return the error for a file or text larger than its limit."""
    size = f"{largest // 2**20} MiB" if largest > 2**20 else f"{largest // 1024} KiB"
    return InputError(f"too large (limit {size})", file=file, hint=hint)
