"""Mechanism file: YAML text to a mechanism, with the line of every mistake."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from supple.description.consistency import require_consistent
from supple.description.drawing import Drawing
from supple.description.elastic.superelement import use_folder
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import SCHEMA_VERSION, Mechanism
from supple.description.posture import watched_place
from supple.description.quantities.dimension import Measured, require
from supple.description.quantities.expression import resolve_parameters
from supple.description.topology import topology
from supple.diagnostics import InputError, require_known
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quote
from supple.formats.error_lines import as_input_error, fields_of
from supple.formats.source import locate_error, read_by, remember
from supple.formats.yaml_tree import KeyPath, YamlTree, read_text, read_tree

Parameters = Mapping[str, float | int | str]
_NONE: Parameters = MappingProxyType({})


def load_mechanism_file(path: str | Path, *, parameters: Parameters = _NONE) -> Mechanism:
    """Return the mechanism in a file.

    parameters : values (numbers or expressions) that replace those of the file
    """
    return loads(read_text(path), name=str(path), parameters=parameters, folder=Path(path).parent)


def loads(
    text: str, *, name: str = "<text>", parameters: Parameters = _NONE, folder: str | Path | None = None
) -> Mechanism:
    """Read a mechanism from the text of a mechanism file.

    Parameters
    ----------
    text : str
        Text of a mechanism file (YAML).
    name : str, optional
        File name for messages. Default: "<text>".
    parameters : mapping of str to float or str, optional
        Values that replace parameters of the text: {name: number or expression}. Default: none.
    folder : str or path-like, optional
        Folder for relative paths, such as those of superelements. Default: the current folder.

    Returns
    -------
    Mechanism
        The mechanism, with all consistency checks passed.

    Raises
    ------
    InputError
        If the text is invalid; the message names the line, the part and the value.

    See Also
    --------
    load : Mechanism from a file.
    to_yaml : Text of a mechanism file.

    Examples
    --------
    >>> import supple
    >>> mechanism = supple.loads('''
    ... supple: 1
    ... name: pendulum
    ... plane: xz
    ... gravity: [0, -9.81]
    ... points: {O: [0, 0], P: [1, 0]}
    ... bodies: {bar: {rod: [O, P], mass: 1}}
    ... joints: {O: {revolute: [ground, bar]}}
    ... ''')
    >>> mechanism.name
    'pendulum'
    """
    require_arguments(loads, locals())
    tree = read_tree(text, name)
    if "urdf" in tree.data:  # a side-car, which completes a URDF robot
        from supple.formats.urdf.urdf import mechanism_of_sidecar

        return _by(mechanism_of_sidecar, tree, folder, parameters)
    if "tables" in tree.data:  # a robot described by tables
        from supple.formats.khalil_kleinfinger.robot_tables import mechanism_of_tables as from_tables

        return _by(from_tables, tree, folder, parameters)
    require_version(tree)
    return mechanism_of(tree, parameters=parameters, folder=folder)


def _by(complete: Callable[..., Mechanism], tree: YamlTree, folder: str | Path | None, given: Parameters) -> Mechanism:
    """Return a mechanism that another reader completes, and register that reader for other parameter values."""
    root = Path(folder or ".").absolute()

    def reader(before: Parameters) -> Callable[[Parameters], Mechanism]:
        def read(parameters: Parameters) -> Mechanism:
            values = {**before, **parameters}
            return read_by(complete(tree, root, parameters=values), reader(values))

        return read

    return read_by(complete(tree, Path(folder or "."), parameters=given), reader(given))


def mechanism_of(tree: YamlTree, *, parameters: Parameters = _NONE, folder: str | Path | None = None) -> Mechanism:
    """Return the mechanism in the data of a file, after all checks that need no assembly."""
    data = with_parameters(tree.data, parameters)
    try:
        with use_folder(None if folder is None else Path(folder)):
            mechanism = Mechanism.model_validate(data)
    except ValidationError as error:
        raise as_input_error(error, tree, fields_of(Mechanism)) from None
    except InputError as error:  # from the parameters, which are evaluated first
        if error.path[1:2] and error.path[1] in parameters:
            raise  # the mistake is not in the file
        raise error.locate(*tree.place(error.path)) from None
    remember(mechanism, _with_lines_of_copies(tree, mechanism))
    try:
        _require_meaning(mechanism)
    except InputError as error:
        raise locate_error(error, mechanism) from None
    return mechanism


def _with_lines_of_copies(tree: YamlTree, mechanism: Mechanism) -> YamlTree:
    """Return the tree in which copied parts have the lines of their originals."""
    origins: dict[tuple[str, str], KeyPath] = mechanism.compute_once("copied", dict)
    if not origins:
        return tree
    lines, files, names = dict(tree.lines), dict(tree.files), dict(tree.names)
    for (section, name), origin in origins.items():
        names[section, name] = str(origin[-1])
        for path, line in tree.lines.items():
            if path[: len(origin)] == origin:
                copy = (section, name, *path[len(origin) :])
                lines[copy], files[copy] = line, tree.files.get(path, tree.file)
    return YamlTree(tree.data, lines, tree.file, files=files, names=names, taken=tree.taken)


def require_version(tree: YamlTree) -> None:
    """Check the version first, because a file of another version may differ in everything that follows."""
    written = tree.data.get("supple")
    line = tree.line(("supple",))
    if "supple" not in tree.data:
        raise InputError(
            "the version of the mechanism file is missing",
            file=tree.file, line=line, hint=f"begin the file with `supple: {SCHEMA_VERSION}`",
        )  # fmt: skip
    if isinstance(written, bool) or not isinstance(written, int) or written < 1:
        raise InputError(
            f"{quote(written)} is not a version number of the mechanism file",
            part="supple", file=tree.file, line=line, hint=f"write `supple: {SCHEMA_VERSION}`",
        )  # fmt: skip
    if written > SCHEMA_VERSION:
        raise InputError(
            f"the file is written for a newer supple (file version {written}; this supple reads version "
            f"{SCHEMA_VERSION})",
            part="supple", file=tree.file, line=line, hint="install a newer supple",
        )  # fmt: skip


def with_parameters(data: dict[str, Any], parameters: Parameters) -> dict[str, Any]:
    """Return the file's data with some parameters replaced."""
    if not parameters:
        return data
    written = data.get("parameters")
    known = written if isinstance(written, dict) else {}
    for name in parameters:
        require_known("parameter", name, known, part="parameters")
    return {**data, "parameters": {**known, **_alike(known, parameters)}}


def parameter_values(data: Mapping[str, Any], tree: YamlTree, given: Parameters) -> dict[str, float]:
    """Return the values of a file's parameters, including values given from outside."""
    written = data.get("parameters")
    try:
        return resolve_parameters(written) if isinstance(written, Mapping) else {}
    except InputError as error:
        if error.path[1:2] and error.path[1] in given:
            raise  # the mistake is not in the file
        raise error.locate(*tree.place(error.path)) from None


def _alike(known: Parameters, parameters: Parameters) -> dict[str, float | int | str]:
    """Return replacements of parameters, with the same dimension as in the file, or as plain numbers in SI units."""
    try:
        before, after = resolve_parameters(known), resolve_parameters(known, parameters)
    except InputError:  # reported later, with its line
        return dict(parameters)
    found = dict(parameters)
    for name in parameters:
        old, new = before[name], after[name]
        if isinstance(old, Measured):
            try:
                value = require(new, old.dimension)
            except InputError as error:
                raise InputError(
                    error.message, part=f"parameter {quote(name)}", hint=f"the file has {quote(old.text)}"
                ) from None
            found[name] = Measured(value, old.dimension, str(parameters[name]))
    return found


def _require_meaning(mechanism: Mechanism) -> None:
    """Check everything that needs no assembly: names, points, connections, masses."""
    require_consistent(mechanism)
    topology(mechanism)
    drawing = Drawing(mechanism)
    mass_properties(drawing)
    for name, motion in mechanism.motions.items():
        if motion.tool is not None:
            drawing.find_frame(watched_place(drawing, motion.tool.place), ("motions", name, "tool", "place"))
