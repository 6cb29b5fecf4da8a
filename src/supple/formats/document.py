"""Loading of mechanisms, robots and reduced models, selected by the type of the file."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.files.seal import LAW, MODEL, is_sealed
from supple.formats.bundled import example_file
from supple.formats.mechanism_file import Parameters
from supple.formats.mechanism_file import load_mechanism_file as load_file


def load(path: str | Path, *, parameters: Parameters | None = None, sidecar: Any = None) -> Any:
    """Load a mechanism (.yaml), a robot (.urdf, .par), a saved reduced model (.rom) or a saved control law (.law).

    Parameters
    ----------
    path : str or path-like
        Path of the file, or the name of a bundled example, such as "four-bar".
    parameters : mapping of str to float or str, optional
        Values that replace parameters of the mechanism file or side-car: {name: number or expression}. Default: none.
    sidecar : str, path-like or mapping, optional
        YAML file that completes a URDF, or its data. Default: the file of the same name next to the URDF, if there is
        one.

    Returns
    -------
    Mechanism, ReducedModel or AffineLaw
        The mechanism, the reduced model of a .rom file, or the control law of a .law file. For static type checkers,
        `load_mechanism`, `load_model` and `control.load_law` have the exact return type.

    Raises
    ------
    InputError
        If the file does not exist or is invalid; the message names the line, the part and the value.

    See Also
    --------
    loads : Mechanism from a text.
    load_mechanism : The same for mechanisms only.
    to_yaml : Text of a mechanism file.

    Examples
    --------
    >>> import supple
    >>> supple.load("four-bar")
    <mechanism "four-bar": 3 bodies, 4 joints, 1 actuators>
    """
    require_arguments(load, locals())
    law = holds_law(path)
    if not law and not holds_model(path):
        return load_mechanism(path, parameters=parameters, sidecar=sidecar)
    if parameters:
        raise InputError(
            f"a {'control law' if law else 'reduced model'} has no parameters that can be set",
            file=str(path),
            hint=f"set them in the mechanism and {'design the law' if law else 'reduce it'} again",
        )
    if law:  # found by name: laws are built on mechanisms
        return import_module("supple.control.laws.law_file").load_law(path)
    from supple.reduced.file import load_model

    return load_model(path)


def load_mechanism(path: str | Path, *, parameters: Parameters | None = None, sidecar: Any = None) -> Mechanism:
    """Load the mechanism in a mechanism file (.yaml), a URDF with its side-car, or a SYMORO file (.par).

    Parameters
    ----------
    path : str or path-like
        Path of the file, or the name of a bundled example, such as "four-bar".

        An existing file of that name takes precedence over the example.
    parameters : mapping of str to float or str, optional
        Values that replace parameters of the mechanism file or side-car: {name: number or expression}. Default: none.
    sidecar : str, path-like or mapping, optional
        YAML file that completes a URDF, or its data. Default: the file of the same name next to the URDF, if there is
        one.

    Returns
    -------
    Mechanism
        The mechanism, with all consistency checks passed.

    Raises
    ------
    InputError
        If the file does not exist or is invalid; the message names the line, the part and the value.

    See Also
    --------
    load : The same, and reduced models and control laws.

    Examples
    --------
    >>> import supple
    >>> supple.load_mechanism("two-link").coordinate_names()
    ('shoulder', 'elbow')
    """
    require_arguments(load_mechanism, locals())
    path = example_file(path) or path
    if Path(path).suffix.lower() == ".urdf":
        from supple.formats.urdf.urdf import load_urdf as load_robot  # import the XML parser only for robots

        return load_robot(path, sidecar=sidecar, parameters=parameters)
    if Path(path).suffix.lower() == ".par" and sidecar is None:
        from supple.formats.khalil_kleinfinger.robot_tables import load_par

        return load_par(path, parameters=parameters or {})
    if sidecar is not None:
        raise InputError("a side-car is only possible for a URDF file", file=str(path), hint="remove sidecar")
    return load_file(path, parameters=parameters or {})


def holds_model(path: str | Path) -> bool:
    """Return whether a file is (intended as) a reduced model, by its name or by its first bytes."""
    if Path(path).suffix.lower() == ".rom":
        return True
    return is_sealed(Path(path), MODEL)  # the reader of mechanism files reports a missing file


def holds_law(path: str | Path) -> bool:
    """Return whether a file is (intended as) a control law, by its name or by its first bytes."""
    return Path(path).suffix.lower() == ".law" or is_sealed(Path(path), LAW)
