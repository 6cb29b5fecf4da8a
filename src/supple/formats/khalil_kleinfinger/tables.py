"""A robot from tables: the mechanism file whose key `tables:` names them.

The other sections of the file are those of every mechanism file; what they say of a part that the tables make is added
to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import ValidationError, WithJsonSchema, model_validator

from supple.description.drawing import Pose
from supple.description.mechanism import Mechanism
from supple.description.quantities.dimension import LENGTH, require
from supple.description.quantities.expression import number, resolve_parameters, use_parameters
from supple.description.quantities.quantity import Part
from supple.diagnostics import InputError
from supple.formats.error_lines import as_input_error
from supple.formats.khalil_kleinfinger import beams, closures, geometry, masses, stiffnesses
from supple.formats.khalil_kleinfinger.parts import GROUPED, Parts, Tables, parts_of
from supple.formats.khalil_kleinfinger.symoro import ParFile, read_par
from supple.formats.khalil_kleinfinger.table import Columns, Row, read_table
from supple.formats.khalil_kleinfinger.transform import HERE
from supple.formats.mechanism_file import Parameters, mechanism_of, require_version, with_parameters
from supple.formats.model_fields import fields_of
from supple.formats.yaml_tree import KeyPath, Tree

GROUP = "chain"  # the name of the copies
_TABLES: dict[str, Any] = {"geometry": geometry, "masses": masses, "closures": closures}


Table = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1}]})]


class Repeated(Part):
    """Copies of all that the tables say, turned about the z axis of the base unless another one is named."""

    count: Any
    about: Any = "z"
    angle: Any = None
    through: Any = None
    suffixes: Any = None


class Said(Part):
    """A robot from tables after Khalil and Kleinfinger (docs/tables.md): each a CSV file, CSV in a block of text, or a
    list of rows."""

    geometry: Table | None = None
    """Rows of frames: joint, antecedent, actuated, sigma, gamma, b, alpha, d, theta, r."""
    symoro: str | None = None
    """In place of geometry: a .par file of SYMORO's."""
    beams: Table | None = None
    """Beams of elastic bodies, one behind the other."""
    masses: Table | None = None
    """Masses of bodies, or of what is fixed in a frame of them."""
    stiffness: Table | None = None
    """Stiffnesses of joints."""
    closures: Table | None = None
    """Frames that coincide, which closes loops."""
    copies: Repeated | None = None
    """All of it repeated about an axis of the base."""

    @model_validator(mode="after")
    def _one_geometry(self) -> Self:
        if len(self.chosen("geometry", "symoro")) != 1:
            raise ValueError("a robot has one table of geometry: geometry, or symoro for a .par file")
        return self


def load_par(path: str | Path, *, parameters: Parameters) -> Mechanism:
    """The robot in a .par file of SYMORO's by itself."""
    place = Path(path)
    return complete(
        Tree({"supple": 1, "tables": {"symoro": place.name}}, {}, str(path)), place.parent, parameters=parameters
    )


def complete(tree: Tree, folder: Path, *, parameters: Parameters) -> Mechanism:
    """The mechanism of a file that names its tables."""
    require_version(tree)
    said = with_parameters(tree.data, parameters)
    try:
        choices = Said.model_validate(said["tables"])
    except ValidationError as error:
        within = Tree({"tables": said["tables"]}, tree.lines, tree.file, files=tree.files)
        raise as_input_error(_inside(error), within, lambda path: fields_of(Said)(path[1:])) from None
    par = None if choices.symoro is None else read_par(folder / choices.symoro)
    with use_parameters(_values(said, tree, parameters)):
        parts, elastic = _parts(choices, par, said, tree, folder)
        if par is not None:
            given = {"name": par.name, "gravity": None if "gravity" in said else par.gravity()}
            said = {**{key: value for key, value in given.items() if value is not None}, **said}
    taken = frozenset(parts.taken)
    return mechanism_of(replace(_joined(parts, elastic, choices, said, tree), taken=taken), folder=folder)


def _inside(error: ValidationError) -> ValidationError:
    """The same mistakes, seen from the top of the file."""
    lines: list[Any] = [
        {"type": item["type"], "loc": ("tables", *item["loc"]), "input": item["input"], "ctx": item.get("ctx", {})}
        for item in error.errors(include_url=False)
    ]
    return ValidationError.from_exception_data("tables", lines)


def _values(said: Mapping[str, Any], tree: Tree, parameters: Parameters) -> dict[str, float]:
    written = said.get("parameters")
    try:
        return resolve_parameters(written) if isinstance(written, Mapping) else {}
    except InputError as error:
        if error.path[1:2] and error.path[1] in parameters:
            raise
        raise error.located(*tree.place(error.path)) from None


def _parts(
    said: Said, par: ParFile | None, data: Mapping[str, Any], tree: Tree, folder: Path
) -> tuple[Parts, beams.Beams]:
    def rows(name: str, columns: Columns) -> list[Row]:
        given = getattr(said, name)
        return [] if given is None else read_table(given, name, columns, tree, folder)

    if par is None:
        frames, weighed, looped = (rows(name, each.COLUMNS) for name, each in _TABLES.items())
    else:
        par.require_base()
        frames, looped = par.geometry(), [*par.closures(), *rows("closures", closures.COLUMNS)]
        weighed = par.masses() if said.masses is None else rows("masses", masses.COLUMNS)
        par.require_values([*frames, *weighed])
    outside = _outside(data)
    links = geometry.links_of(frames, outside)
    weights = masses.masses_of(weighed, links)
    elastic = beams.beams_of(rows("beams", beams.COLUMNS), links)
    joints, springs = stiffnesses.stiffnesses_of(rows("stiffness", stiffnesses.COLUMNS), links)
    for label, added in masses.of_joints(weighed, links).items():
        joints[label] = added | joints.get(label, {})
    laden = {label for label, link in links.items() if label in weights or (link.moves and link.body in elastic.beams)}
    laden |= {link.antecedent for link in links.values() if link.antecedent is not None}
    loops = closures.closures_of(looped, links, laden)
    parts = parts_of(Tables(links, weights, elastic, joints, springs, loops, outside))
    bent = rows("beams", beams.COLUMNS)
    parts.taken |= {name for row in (*frames, *weighed) for name in row.names(("joint", "antecedent", "body"))}
    parts.taken |= {name for row in bent for name in row.names(("body", *beams.KEPT))}
    return parts, elastic


def _outside(data: Mapping[str, Any]) -> dict[str, Pose]:
    """Bodies that the file draws with the axes of the drawing: rows may start from them."""
    found: dict[str, Pose] = {}
    bodies = data.get("bodies")
    for name, body in (bodies if isinstance(bodies, Mapping) else {}).items():
        at = body.get("at") if isinstance(body, Mapping) else None
        if not isinstance(body, Mapping) or set(body) & {"rotation", "rod", "beam"}:
            continue
        if at is None or (isinstance(at, list) and len(at) == 3):
            try:
                place = [require(number(value), LENGTH) for value in at or (0.0, 0.0, 0.0)]
            except (ValueError, InputError):  # the reader of mechanisms tells what is wrong with it
                continue
            found[str(name)] = Pose(HERE.position + place, HERE.axes)
    return found


def _joined(parts: Parts, elastic: beams.Beams, choices: Said, said: Mapping[str, Any], tree: Tree) -> Tree:
    """The mechanism file that the tables and the rest of the file are together, with the lines of both."""
    prefix: KeyPath = ("copies", GROUP) if choices.copies is not None else ()
    lines, files = dict(tree.lines), dict(tree.files)
    for (section, name), row in parts.rows.items():
        path = (*prefix, section, name)
        lines[path], files[path] = row.line, row.file
    data = {key: value for key, value in said.items() if key != "tables"}
    made: dict[str, dict[str, Any]] = {section: dict(part) for section, part in parts.data.items() if part}
    for section in GROUPED:
        own = data.get(section)
        if not isinstance(own, dict):
            continue
        for name in [name for name in own if name in made.get(section, {})]:
            known, added = made[section][name], own[name]
            made[section][name] = {**known, **added} if isinstance(added, dict) else added
        data[section] = {name: part for name, part in own.items() if name not in made.get(section, {})}
    for section, part in (("sections", elastic.sections), ("materials", elastic.materials)):
        if part:
            data[section] = {**part, **(data.get(section) or {})}
    if choices.copies is None:
        for section, group in made.items():
            data[section] = {**group, **(data.get(section) or {})}
    else:
        turned = choices.copies.model_dump(exclude_none=True)
        data["copies"] = {**(data.get("copies") or {}), GROUP: {**turned, **made}}
        data.setdefault("bodies", {})
    return Tree(
        {key: value for key, value in data.items() if value != {} or key == "bodies"}, lines, tree.file, files=files
    )
