"""Robot from tables: the mechanism file whose key `tables:` names them.

The other sections of the file are those of every mechanism file; their entries for parts of the tables are added to
these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import ValidationError, WithJsonSchema, model_validator

from supple.description.drawing import Pose
from supple.description.mechanism import Mechanism
from supple.description.quantities.arithmetic import FUNCTIONS
from supple.description.quantities.dimension import LENGTH, require
from supple.description.quantities.expression import current_parameters, number, use_parameters
from supple.description.quantities.quantity import Part
from supple.description.quantities.unit_parsing import CONSTANTS
from supple.diagnostics import InputError, unknown_name
from supple.diagnostics.errors import excerpt, quote
from supple.formats.error_lines import as_input_error, fields_of
from supple.formats.khalil_kleinfinger import beams, closures, geometry, masses, stiffnesses
from supple.formats.khalil_kleinfinger.cell_table import LARGEST, Row, TableColumns, names_within, read_table
from supple.formats.khalil_kleinfinger.geometry import HERE, variable_names
from supple.formats.khalil_kleinfinger.mechanism_parts import GROUPED, KinematicTables, TableParts, parts_of_tables
from supple.formats.mechanism_file import Parameters, mechanism_of, parameter_values, require_version, with_parameters
from supple.formats.text_file import read_bytes
from supple.formats.yaml_tree import KeyPath, YamlTree

GROUP = "chain"  # the name of the copies
_TABLES: dict[str, Any] = {"geometry": geometry, "masses": masses, "closures": closures}


Table = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1}]})]


class Repeated(Part):
    """Copies of all parts of the tables, rotated about the z axis of the base unless another axis is given."""

    count: Any
    about: Any = "z"
    angle: Any = None
    through: Any = None
    suffixes: Any = None


class RobotTables(Part):
    """Robot from tables after Khalil and Kleinfinger (docs/tables.md).

    Each table is a CSV file, CSV in a block of text, or a list of rows.
    """

    geometry: Table | None = None
    """Frames of the robot: joint, antecedent, actuated, sigma, gamma, b, alpha, d, theta, r."""
    symoro: str | None = None
    """SYMORO file (.par), instead of geometry."""
    beams: Table | None = None
    """Beams of elastic bodies, consecutive in each body."""
    masses: Table | None = None
    """Masses of bodies, or of parts fixed in their frames."""
    stiffness: Table | None = None
    """Stiffnesses of joints."""
    closures: Table | None = None
    """Pairs of frames that coincide, which close loops."""
    copies: Repeated | None = None
    """Copies of the whole robot about an axis of the base."""

    @model_validator(mode="after")
    def _one_geometry(self) -> Self:
        if len(self.chosen("geometry", "symoro")) != 1:
            raise ValueError("tables needs exactly one of geometry and symoro (a .par file)")
        return self


def load_par(path: str | Path, *, parameters: Parameters) -> Mechanism:
    """Return the robot in a SYMORO file (.par)."""
    place = Path(path)
    return mechanism_of_tables(
        YamlTree({"supple": 1, "tables": {"symoro": place.name}}, {}, str(path)), place.parent, parameters=parameters
    )


def mechanism_of_tables(tree: YamlTree, folder: Path, *, parameters: Parameters) -> Mechanism:
    """Return the mechanism of a file that names its tables."""
    require_version(tree)
    content = with_parameters(tree.data, parameters)
    try:
        choices = RobotTables.model_validate(content["tables"])
    except ValidationError as error:
        within = YamlTree({"tables": content["tables"]}, tree.lines, tree.file, files=tree.files)
        raise as_input_error(_inside(error), within, lambda path: fields_of(RobotTables)(path[1:])) from None
    par = None if choices.symoro is None else read_par(folder / choices.symoro)
    with use_parameters(parameter_values(content, tree, parameters)):
        parts, elastic = _parts(choices, par, content, tree, folder)
        if par is not None:
            given = {"name": par.name, "gravity": None if "gravity" in content else par.gravity()}
            content = {**{key: value for key, value in given.items() if value is not None}, **content}
    taken = frozenset(parts.taken)
    return mechanism_of(replace(_join_parts(parts, elastic, choices, content, tree), taken=taken), folder=folder)


def _inside(error: ValidationError) -> ValidationError:
    """Return the validation errors with paths from the top of the file."""
    lines: list[Any] = [
        {"type": item["type"], "loc": ("tables", *item["loc"]), "input": item["input"], "ctx": item.get("ctx", {})}
        for item in error.errors(include_url=False)
    ]
    return ValidationError.from_exception_data("tables", lines)


def _parts(
    content: RobotTables, par: ParFile | None, data: Mapping[str, Any], tree: YamlTree, folder: Path
) -> tuple[TableParts, beams.Beams]:
    def rows(name: str, columns: TableColumns) -> list[Row]:
        given = getattr(content, name)
        return [] if given is None else read_table(given, name, columns, tree, folder)

    if par is None:
        frames, weighed, looped = (rows(name, each.COLUMNS) for name, each in _TABLES.items())
    else:
        par.require_base()
        frames, looped = par.geometry(), [*par.closures(), *rows("closures", closures.COLUMNS)]
        weighed = par.masses() if content.masses is None else rows("masses", masses.COLUMNS)
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
    parts = parts_of_tables(KinematicTables(links, weights, elastic, joints, springs, loops, outside))
    bent = rows("beams", beams.COLUMNS)
    parts.taken |= {name for row in (*frames, *weighed) for name in row.names(("joint", "antecedent", "body"))}
    parts.taken |= {name for row in bent for name in row.names(("body", *beams.KEPT))}
    return parts, elastic


def _outside(data: Mapping[str, Any]) -> dict[str, Pose]:
    """Return bodies that the file draws with the axes of the drawing, on which rows may start."""
    found: dict[str, Pose] = {}
    bodies = data.get("bodies")
    for name, body in (bodies if isinstance(bodies, Mapping) else {}).items():
        at = body.get("at") if isinstance(body, Mapping) else None
        if not isinstance(body, Mapping) or set(body) & {"rotation", "rod", "beam"}:
            continue
        if at is None or (isinstance(at, list) and len(at) == 3):
            try:
                place = [require(number(value), LENGTH) for value in at or (0.0, 0.0, 0.0)]
            except (ValueError, InputError):  # the reader of mechanisms reports the error
                continue
            found[str(name)] = Pose(HERE.position + place, HERE.axes)
    return found


def _join_parts(
    parts: TableParts, elastic: beams.Beams, choices: RobotTables, content: Mapping[str, Any], tree: YamlTree
) -> YamlTree:
    """Return the mechanism file that results from the tables and the rest of the file, with the lines of both."""
    prefix: KeyPath = ("copies", GROUP) if choices.copies is not None else ()
    lines, files = dict(tree.lines), dict(tree.files)
    for (section, name), row in parts.rows.items():
        path = (*prefix, section, name)
        lines[path], files[path] = row.line, row.file
    data = {key: value for key, value in content.items() if key != "tables"}
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
    return YamlTree(
        {key: value for key, value in data.items() if value != {} or key == "bodies"}, lines, tree.file, files=files
    )


# SYMORO files (.par): the same tables, written by columns.
#
# NL = 6, NJ = 6, ant = {0,1,2,3,4,5}, ..., (* comments *). In a closed robot joint i > NL is cut, and frame i + NJ - NL
# coincides with its frame. Symbols are parameters.


GEOMETRY = {
    "ant": "antecedent", "mu": "actuated", "sigma": "sigma", "gamma": "gamma", "b": "b", "alpha": "alpha", "d": "d",
    "theta": "theta", "r": "r",
}  # fmt: skip
MASSES = {
    "M": "mass", **{name: name for name in ["MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ", "IA", "FV", "FS"]},
}  # fmt: skip
COUNTS = ("NL", "NJ", "NF")
_READ = (*COUNTS, "is_mobile", "G", "Z", *GEOMETRY, *MASSES)
_OF_EQUATIONS = ("Type", "FX", "FY", "FZ", "CX", "CY", "CZ", "QP", "QDP", "GAM", "W0", "WP0", "V0", "VP0", "K", "eta")
_SPELLINGS = {name.lower(): name for name in (*COUNTS, "is_mobile", "Type", *GEOMETRY)} | {"gravity": "G"}
_STATEMENT = re.compile(r"^[ \t]*([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(\{[^{}]*\}|[^\n{}]*)", re.MULTILINE)
_MOST = 1000  # frames


@dataclass(frozen=True)
class ParFile:
    """Contents of a .par file: lists by name, with the line on which each begins."""

    file: str
    name: str
    lists: dict[str, list[str]]
    lines: dict[str, int]
    counts: dict[str, int] = field(default_factory=dict)

    def geometry(self) -> list[Row]:
        """Return one row per frame."""
        return self._rows("geometry", "joint", GEOMETRY, self.counts["NF"])

    def masses(self) -> list[Row]:
        """Return one row per link, if the file has dynamic parameters."""
        return self._rows("masses", "body", MASSES, self.counts["NL"]) if self.lists.keys() & MASSES.keys() else []

    def closures(self) -> list[Row]:
        """Return the pairs of a cut joint and the frame it coincides with."""
        NL, NJ = self.counts["NL"], self.counts["NJ"]
        return [
            Row("closures", k, {"first": str(i), "second": str(i + NJ - NL)}, self.file, self.lines["NJ"], "first")
            for k, i in enumerate(range(NL + 1, NJ + 1), start=1)
        ]

    def gravity(self) -> list[float] | None:
        """Return G, m/s²; None if it is not given."""
        if "G" not in self.lists:
            return None
        return [self._number("G", item) for item in self._vector("G", 3)]

    def require_base(self) -> None:
        """Require a fixed base, in the axes of the drawing."""
        if self.lists.get("is_mobile", ["0"])[0] not in ("0", "False", "false"):
            raise self.fault(
                "is_mobile", "a moving base is not supported", hint="describe the base as a body in a mechanism file"
            )
        if "Z" in self.lists:
            found = [self._number("Z", item) for item in self._vector("Z", 16)]
            if any(abs(value - (i % 5 == 0)) > 1e-12 for i, value in enumerate(found)):
                raise self.fault(
                    "Z",
                    "frame 0 must be that of the drawing",
                    hint="include the transformation in γ, b, α, d of joint 1",
                )

    def require_values(self, rows: list[Row]) -> None:
        """Require values for all symbols, and report all missing ones at once."""
        known = {*current_parameters(), *CONSTANTS, *FUNCTIONS}
        missing: dict[str, str] = {}
        coordinates = {name for row in rows for kind in ("theta", "r") for name in variable_names(row.label, kind)}
        for row in rows:
            for column, cell in row.cells.items():
                for symbol in names_within(str(cell)):
                    if symbol not in known and not (symbol in coordinates and column in ("theta", "r")):
                        missing.setdefault(symbol, column)
        if missing:
            first = next(iter(missing))
            listed = ", ".join(list(missing)[:8]) + (", ..." if len(missing) > 8 else "")
            key = next((key for key, column in {**GEOMETRY, **MASSES}.items() if column == missing[first]), "ant")
            raise self.fault(
                key, f"{len(missing)} symbols have no value: {listed}",
                hint="set them under `parameters:` of a file with `tables: {symoro: FILE.par}`, or give the masses "
                "in a table of their own",
            )  # fmt: skip

    def fault(self, name: str, what: str, *, hint: str | None = None) -> InputError:
        return InputError(what, part=name, file=self.file, line=self.lines.get(name, 1), hint=hint)

    def _rows(self, table: str, key: str, columns: Mapping[str, str], count: int) -> list[Row]:
        given = {name: column for name, column in columns.items() if name in self.lists}
        for name in given:
            if len(self.lists[name]) != count:
                raise self.fault(name, f"{len(self.lists[name])} values (expected {count})", hint="give one per row")
        found = []
        for i in range(count):
            cells = {key: str(i + 1), **{column: self.lists[name][i] for name, column in given.items()}}
            lines = {column: self.lines[name] for name, column in given.items()}
            found.append(Row(table, i + 1, cells, self.file, next(iter(lines.values()), 1), key, lines))
        return found

    def _vector(self, name: str, size: int) -> list[str]:
        if len(self.lists[name]) != size:
            raise self.fault(name, f"{len(self.lists[name])} values (expected {size})")
        return self.lists[name]

    def _number(self, name: str, text: str) -> float:
        try:
            return float(number(text))
        except ValueError as error:
            raise self.fault(name, str(error), hint="set its symbols under `parameters:`") from None


def read_par(path: str | Path) -> ParFile:
    """Return the tables in a .par file; loads and motions for SYMORO's equations are not read."""
    file = excerpt(path, 500)
    content = read_bytes(path, LARGEST, "tables of a robot are short")
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError:  # older files are in Latin-1
        written = content.decode("latin-1")
    called = re.search(r"Robotname\s*=\s*'([^'\n]*)'", written)
    text = re.sub(r"\(\*.*?\*\)", lambda found: re.sub(r"[^\n]", " ", found.group()), written, flags=re.DOTALL)
    lists: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for found in _STATEMENT.finditer(text):
        name = _SPELLINGS.get(found[1].lower(), found[1]) if found[1] not in MASSES else found[1]
        line = text.count("\n", 0, found.start(1)) + 1
        if name not in _READ and name not in _OF_EQUATIONS:
            raise unknown_name("name", name, _READ, file=file, line=line)
        if name in lists:
            raise InputError(
                f"it is defined twice (first in line {lines[name]})", part=name, file=file, line=line, hint="remove one"
            )
        lists[name], lines[name] = _items(found[2].strip().strip("{}")), line
    par = ParFile(file, (called[1].strip() if called else "") or Path(path).stem, lists, lines)
    return ParFile(file, par.name, lists, lines, _counts(par))


def _counts(par: ParFile) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in COUNTS:
        content = par.lists.get(name)
        if content is None and name == "NF" and len(found) == 2:
            found[name] = 2 * found["NJ"] - found["NL"]
        elif content is None:
            raise par.fault(
                name, f"{name} is missing", hint="give NL, NJ and NF, the numbers of links, joints and frames"
            )
        elif len(content) != 1 or not content[0].isdecimal() or not 1 <= int(content[0]) <= _MOST:
            raise par.fault(name, f"{quote(', '.join(content))} is not a count", hint=f"use a number from 1 to {_MOST}")
        else:
            found[name] = int(content[0])
    if not found["NL"] <= found["NJ"] or found["NF"] != 2 * found["NJ"] - found["NL"]:
        raise par.fault(
            "NF", f"{found['NL']} links, {found['NJ']} joints and {found['NF']} frames do not fit",
            hint="each joint that closes a loop has one more frame: NF = 2 NJ - NL",
        )  # fmt: skip
    return found


def _items(text: str) -> list[str]:
    """Split a list at commas that are not in parentheses, with Pi and ^ converted."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [" ".join(re.sub(r"\bPi\b", "pi", piece.replace("^", "**")).split()) for piece in pieces]
