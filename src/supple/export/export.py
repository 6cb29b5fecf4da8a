"""`supple.export`: a reduced model as files for other programs."""

from __future__ import annotations

import os
from pathlib import Path

from supple.diagnostics import InputError
from supple.export.c.model import Exportable
from supple.export.c.names import prefix_of
from supple.export.targets import TARGETS


def export(
    rom: Exportable, directory: str | os.PathLike[str], *, to: str = "c", prefix: str | None = None
) -> list[Path]:
    """Write a reduced model into a directory; the files that were written.

    to     : "c": a C99 file with its header, and a small program that calls it; or a target that is registered
    prefix : what all names begin with; made from the model's name if left out
    """
    files = TARGETS[to].files(rom, prefix_of(rom.name if prefix is None else prefix))
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_written(folder / name, content) for name, content in files.items()]
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}", part="export", hint="choose another directory"
        ) from None


def _written(file: Path, content: str | bytes) -> Path:
    """Beside its target, then renamed: a build never sees half a file."""
    partial = file.with_name(f".{file.name}.part")
    partial.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    partial.replace(file)
    return file
