"""`supple.export`: a reduced model as source code."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import quoted
from supple.export.c.example import example
from supple.export.c.header import header
from supple.export.c.model import CModel, Exportable
from supple.export.c.names import prefix_of
from supple.export.c.source import source


def c_files(rom: Exportable, prefix: str) -> dict[str, str]:
    """Name and text of each file of the C code."""
    model = CModel(prefix, rom)
    model.require_complete()
    return {f"{prefix}.h": header(model), f"{prefix}.c": source(model), "example_main.c": example(model)}


TARGETS: dict[str, Callable[[Exportable, str], dict[str, str]]] = {"c": c_files}


def require_target(to: str) -> None:
    """Refuse what there is no generator for, naming those there are."""
    if to not in TARGETS:
        raise InputError(f"a model cannot be exported to {quoted(to)}", part="export", hint=nearest(to, TARGETS))


def export(
    rom: Exportable, directory: str | os.PathLike[str], *, to: str = "c", prefix: str | None = None
) -> list[Path]:
    """Write a reduced model as source code into a directory; the files that were written.

    to     : "c": a C99 file with its header, and a small program that calls it
    prefix : what all names begin with; made from the model's name if left out
    """
    require_target(to)
    files = TARGETS[to](rom, prefix_of(rom.name if prefix is None else prefix))
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_written(folder / name, text) for name, text in files.items()]
    except OSError as error:
        raise InputError(
            f"cannot write to {folder}: {error.strerror or error}", part="export", hint="choose another directory"
        ) from None


def _written(file: Path, text: str) -> Path:
    """Beside its target, then renamed: a build never sees half a file."""
    partial = file.with_name(f".{file.name}.part")
    partial.write_text(text, encoding="ascii", newline="\n")
    partial.replace(file)
    return file
