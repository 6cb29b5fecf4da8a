"""Whatever a file holds: the description of a mechanism, or a reduced model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple.diagnostics import InputError
from supple.formats.mechanism_file import Parameters
from supple.formats.mechanism_file import load as load_mechanism

_HDF5 = b"\x89HDF\r\n\x1a\n"


def load(path: str | Path, *, parameters: Parameters | None = None) -> Any:
    """The Mechanism in a mechanism file, or the ReducedModel in a saved one (.rom).

    parameters : of a mechanism file, values (numbers or expressions) that replace those of the file
    """
    if not holds_model(path):
        return load_mechanism(path, parameters=parameters or {})
    if parameters:
        raise InputError(
            "a reduced model has no parameters any more", file=str(path), hint="set them in the mechanism and reduce it"
        )
    from supple.reduced.file import load_model

    return load_model(path)


def holds_model(path: str | Path) -> bool:
    """Whether a file is (meant as) a reduced model: by its name, or by how it begins."""
    if Path(path).suffix.lower() == ".rom":
        return True
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_HDF5)) == _HDF5
    except OSError:
        return False  # the reader of mechanism files tells what is wrong
