"""Loading whatever a file holds: the description of a mechanism, a robot, or a reduced model with its mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formats.bundled import example_file
from supple.formats.mechanism_file import Parameters
from supple.formats.mechanism_file import load_mechanism_file as load_file
from supple.reduced.seal import MARK


def load(path: str | Path, *, parameters: Parameters | None = None, sidecar: Any = None) -> Any:
    """The Mechanism in a mechanism file or a robot's (.urdf, .par), or the ReducedModel in a saved one (.rom).

    parameters : of a mechanism file or a side-car, values (numbers or expressions) that replace those of the file
    sidecar    : of a URDF, the YAML file that completes it, or its data; the one beside it if left out

    A type checker cannot know which of the two it is; to it `load_mechanism` and `load_model` say more.
    """
    require_arguments(load, locals())
    if not holds_model(path):
        return load_mechanism(path, parameters=parameters, sidecar=sidecar)
    if parameters:
        raise InputError(
            "a reduced model has no parameters any more", file=str(path), hint="set them in the mechanism and reduce it"
        )
    from supple.reduced.file import load_model

    return load_model(path)


def load_mechanism(path: str | Path, *, parameters: Parameters | None = None, sidecar: Any = None) -> Mechanism:
    """The mechanism in a mechanism file, or the robot in a URDF with its side-car, or in a .par file of SYMORO's.

    The name of a bundled example (`"four-bar"`) stands for its mechanism file, unless a file of that name exists.
    """
    require_arguments(load_mechanism, locals())
    path = example_file(path) or path
    if Path(path).suffix.lower() == ".urdf":
        from supple.formats.urdf.urdf import load_urdf as load_robot  # XML and what reads it are for robots alone

        return load_robot(path, sidecar=sidecar, parameters=parameters)
    if Path(path).suffix.lower() == ".par" and sidecar is None:
        from supple.formats.khalil_kleinfinger.robot_tables import load_par

        return load_par(path, parameters=parameters or {})
    if sidecar is not None:
        raise InputError("only a URDF has a side-car", file=str(path), hint="leave sidecar out")
    return load_file(path, parameters=parameters or {})


def holds_model(path: str | Path) -> bool:
    """Whether a file is (meant as) a reduced model: by its name, or by how it begins."""
    if Path(path).suffix.lower() == ".rom":
        return True
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False  # the reader of mechanism files tells what is wrong
