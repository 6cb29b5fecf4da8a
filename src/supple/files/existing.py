"""Existing files that a user names."""

from __future__ import annotations

from pathlib import Path

from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt


def require_file(path: str | Path) -> None:
    """Raise an InputError if there is no such file."""
    place, name = Path(path), excerpt(path, 500)
    try:
        there, plain = place.exists(), place.is_file()
    except (OSError, ValueError) as error:  # too long, or with a NUL
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", file=name, hint="check the name and the folder") from None
    if not there:
        raise InputError("the file does not exist", file=name, hint="check the name and the folder")
    if not plain:
        raise InputError("this is not a file", file=name, hint="give the path of a file")
