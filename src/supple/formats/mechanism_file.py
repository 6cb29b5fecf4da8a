"""The mechanism file: YAML text to a mechanism, every mistake with its line."""

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
from supple.diagnostics import InputError, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quoted
from supple.formats.error_lines import as_input_error, fields_of
from supple.formats.source import located, read_by, remember
from supple.formats.yaml_tree import KeyPath, YamlTree, read_text, read_tree

Parameters = Mapping[str, float | int | str]
_NONE: Parameters = MappingProxyType({})


def load_mechanism_file(path: str | Path, *, parameters: Parameters = _NONE) -> Mechanism:
    """The mechanism in a file.

    parameters : values (numbers or expressions) that replace those of the file
    """
    return loads(read_text(path), name=str(path), parameters=parameters, folder=Path(path).parent)


def loads(
    text: str, *, name: str = "<text>", parameters: Parameters = _NONE, folder: str | Path | None = None
) -> Mechanism:
    """The mechanism in a text.

    name   : stands for the file in messages
    folder : where the paths of its superelements start; the current one if left out
    """
    require_arguments(loads, locals())
    tree = read_tree(text, name)
    if "urdf" in tree.data:  # it stands beside a robot, whose links and joints it completes
        from supple.formats.urdf.urdf import mechanism_of_sidecar

        return _by(mechanism_of_sidecar, tree, folder, parameters)
    if "tables" in tree.data:  # it describes a robot by tables
        from supple.formats.khalil_kleinfinger.robot_tables import mechanism_of_tables as from_tables

        return _by(from_tables, tree, folder, parameters)
    require_version(tree)
    return mechanism_of(tree, parameters=parameters, folder=folder)


def _by(complete: Callable[..., Mechanism], tree: YamlTree, folder: str | Path | None, given: Parameters) -> Mechanism:
    """A mechanism that something else completes, which is noted for when it is asked for with other parameters."""
    root = Path(folder or ".").absolute()

    def reader(before: Parameters) -> Callable[[Parameters], Mechanism]:
        def read(parameters: Parameters) -> Mechanism:
            values = {**before, **parameters}
            return read_by(complete(tree, root, parameters=values), reader(values))

        return read

    return read_by(complete(tree, Path(folder or "."), parameters=given), reader(given))


def mechanism_of(tree: YamlTree, *, parameters: Parameters = _NONE, folder: str | Path | None = None) -> Mechanism:
    """The mechanism in the data of a file, checked in all that can be told without assembling it."""
    data = with_parameters(tree.data, parameters)
    try:
        with use_folder(None if folder is None else Path(folder)):
            mechanism = Mechanism.model_validate(data)
    except ValidationError as error:
        raise as_input_error(error, tree, fields_of(Mechanism)) from None
    except InputError as error:  # of the parameters, which are worked out before all else
        if error.path[1:2] and error.path[1] in parameters:
            raise  # what is wrong does not stand in the file
        raise error.located(*tree.place(error.path)) from None
    remember(mechanism, _with_lines_of_copies(tree, mechanism))
    try:
        _require_meaning(mechanism)
    except InputError as error:
        raise located(error, mechanism) from None
    return mechanism


def _with_lines_of_copies(tree: YamlTree, mechanism: Mechanism) -> YamlTree:
    """The tree in which a copied part stands where it is written once."""
    origins: dict[tuple[str, str], KeyPath] = mechanism.remembered("copied", dict)
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
    """The version comes first: a file of another one may differ in anything that follows."""
    written = tree.data.get("supple")
    line = tree.line(("supple",))
    if "supple" not in tree.data:
        raise InputError(
            "the version of the mechanism file is missing",
            file=tree.file, line=line, hint=f"begin it with `supple: {SCHEMA_VERSION}`",
        )  # fmt: skip
    if isinstance(written, bool) or not isinstance(written, int) or written < 1:
        raise InputError(
            f"{quoted(written)} is not a version of the mechanism file",
            part="supple", file=tree.file, line=line, hint=f"write `supple: {SCHEMA_VERSION}`",
        )  # fmt: skip
    if written > SCHEMA_VERSION:
        raise InputError(
            f"written for a newer supple (version {written} of the mechanism file; this one reads "
            f"{SCHEMA_VERSION})",
            part="supple", file=tree.file, line=line, hint="install a newer supple",
        )  # fmt: skip


def with_parameters(data: dict[str, Any], parameters: Parameters) -> dict[str, Any]:
    """The file's data with some parameters replaced."""
    if not parameters:
        return data
    written = data.get("parameters")
    known = written if isinstance(written, dict) else {}
    for name in parameters:
        if name not in known:
            raise InputError(
                f"there is no parameter {quoted(name)} to set", part="parameters", hint=nearest(name, known)
            )
    return {**data, "parameters": {**known, **_alike(known, parameters)}}


def parameter_values(said: Mapping[str, Any], tree: YamlTree, given: Parameters) -> dict[str, float]:
    """What the parameters of a file are, some of them as given and not as they stand there."""
    written = said.get("parameters")
    try:
        return resolve_parameters(written) if isinstance(written, Mapping) else {}
    except InputError as error:
        if error.path[1:2] and error.path[1] in given:
            raise  # what is wrong does not stand in the file
        raise error.located(*tree.place(error.path)) from None


def _alike(known: Parameters, parameters: Parameters) -> dict[str, float | int | str]:
    """Other values of parameters that have a dimension in the file: of the same one, or plain numbers in SI units."""
    try:
        before, after = resolve_parameters(known), resolve_parameters(known, parameters)
    except InputError:  # it is told later, with its place
        return dict(parameters)
    found = dict(parameters)
    for name in parameters:
        old, new = before[name], after[name]
        if isinstance(old, Measured):
            try:
                value = require(new, old.dimension)
            except InputError as error:
                raise InputError(
                    error.message, part=f"parameter {quoted(name)}", hint=f"the file says {quoted(old.text)}"
                ) from None
            found[name] = Measured(value, old.dimension, str(parameters[name]))
    return found


def _require_meaning(mechanism: Mechanism) -> None:
    """Everything that can be told without assembling: names, places, connections, masses."""
    require_consistent(mechanism)
    topology(mechanism)
    drawing = Drawing(mechanism)
    mass_properties(drawing)
    for name, motion in mechanism.motions.items():
        if motion.tool is not None:
            drawing.attached(watched_place(drawing, motion.tool.place), ("motions", name, "tool", "place"))
