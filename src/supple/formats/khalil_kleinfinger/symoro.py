"""SYMORO's files (.par): the same tables, written column by column.

NL = 6, NJ = 6, ant = {0,1,2,3,4,5}, ..., (* comments *). In a closed robot joint i > NL is cut, and frame i + NJ - NL
coincides with its frame. Symbols are parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from supple.description.quantities.arithmetic import FUNCTIONS, names_in, parse
from supple.description.quantities.expression import current_parameters, number
from supple.description.quantities.units import CONSTANTS
from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import brief, quoted
from supple.formats.khalil_kleinfinger.geometry import variables
from supple.formats.khalil_kleinfinger.table import LARGEST, Row
from supple.formats.text_file import read_bytes

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
    """What a .par file says: lists by name, with the line each begins at."""

    file: str
    name: str
    lists: dict[str, list[str]]
    lines: dict[str, int]
    counts: dict[str, int] = field(default_factory=dict)

    def geometry(self) -> list[Row]:
        """One row for each frame."""
        return self._rows("geometry", "joint", GEOMETRY, self.counts["NF"])

    def masses(self) -> list[Row]:
        """One row for each link that the file says anything of."""
        return self._rows("masses", "body", MASSES, self.counts["NL"]) if self.lists.keys() & MASSES.keys() else []

    def closures(self) -> list[Row]:
        """Joint i that is cut, and the frame it coincides with."""
        NL, NJ = self.counts["NL"], self.counts["NJ"]
        return [
            Row("closures", k, {"first": str(i), "second": str(i + NJ - NL)}, self.file, self.lines["NJ"], "first")
            for k, i in enumerate(range(NL + 1, NJ + 1), start=1)
        ]

    def gravity(self) -> list[float] | None:
        """G, m/s²; None where it is not said."""
        if "G" not in self.lists:
            return None
        return [self._number("G", item) for item in self._vector("G", 3)]

    def require_base(self) -> None:
        """A base that stands still, in the axes of the drawing."""
        if self.lists.get("is_mobile", ["0"])[0] not in ("0", "False", "false"):
            raise self.fault("is_mobile", "the base moves", hint="describe the base as a body of a mechanism file")
        if "Z" in self.lists:
            found = [self._number("Z", item) for item in self._vector("Z", 16)]
            if any(abs(value - (i % 5 == 0)) > 1e-12 for i, value in enumerate(found)):
                raise self.fault("Z", "frame 0 is not that of the drawing", hint="put it into γ, b, α, d of joint 1")

    def require_values(self, rows: list[Row]) -> None:
        """Symbols have values: all that miss one are told at once."""
        known = {*current_parameters(), *CONSTANTS, *FUNCTIONS}
        missing: dict[str, str] = {}
        coordinates = {name for row in rows for kind in ("theta", "r") for name in variables(row.label, kind)}
        for row in rows:
            for column, cell in row.cells.items():
                for symbol in _symbols(str(cell)):
                    if symbol not in known and not (symbol in coordinates and column in ("theta", "r")):
                        missing.setdefault(symbol, column)
        if missing:
            first = next(iter(missing))
            listed = ", ".join(list(missing)[:8]) + (", ..." if len(missing) > 8 else "")
            key = next((key for key, column in {**GEOMETRY, **MASSES}.items() if column == missing[first]), "ant")
            raise self.fault(
                key, f"{len(missing)} symbols have no value: {listed}",
                hint="give them under `parameters:` of a file with `tables: {symoro: FILE.par}`, or the masses "
                "in a table of their own",
            )  # fmt: skip

    def fault(self, name: str, what: str, *, hint: str | None = None) -> InputError:
        return InputError(what, part=name, file=self.file, line=self.lines.get(name, 1), hint=hint)

    def _rows(self, table: str, key: str, columns: Mapping[str, str], count: int) -> list[Row]:
        given = {name: column for name, column in columns.items() if name in self.lists}
        for name in given:
            if len(self.lists[name]) != count:
                raise self.fault(name, f"{len(self.lists[name])} values, and {count} are expected", hint="one a row")
        found = []
        for i in range(count):
            cells = {key: str(i + 1), **{column: self.lists[name][i] for name, column in given.items()}}
            lines = {column: self.lines[name] for name, column in given.items()}
            found.append(Row(table, i + 1, cells, self.file, next(iter(lines.values()), 1), key, lines))
        return found

    def _vector(self, name: str, size: int) -> list[str]:
        if len(self.lists[name]) != size:
            raise self.fault(name, f"{len(self.lists[name])} values, and {size} are expected")
        return self.lists[name]

    def _number(self, name: str, text: str) -> float:
        try:
            return float(number(text))
        except ValueError as error:
            raise self.fault(name, str(error), hint="give its symbols under `parameters:`") from None


def read_par(path: str | Path) -> ParFile:
    """The tables in a .par file; what it says of loads and motions belongs to SYMORO's equations and is not read."""
    file = brief(path, 500)
    content = read_bytes(path, LARGEST, "a robot's table is short")
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError:  # older ones have the name of their institute in Latin-1, which any bytes are
        written = content.decode("latin-1")
    called = re.search(r"Robotname\s*=\s*'([^'\n]*)'", written)
    text = re.sub(r"\(\*.*?\*\)", lambda found: re.sub(r"[^\n]", " ", found.group()), written, flags=re.DOTALL)
    lists: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for found in _STATEMENT.finditer(text):
        name = _SPELLINGS.get(found[1].lower(), found[1]) if found[1] not in MASSES else found[1]
        line = text.count("\n", 0, found.start(1)) + 1
        if name not in _READ and name not in _OF_EQUATIONS:
            raise InputError(f"{quoted(name)} is not known", part=name, file=file, line=line, hint=nearest(name, _READ))
        if name in lists:
            raise InputError("it stands twice", part=name, file=file, line=line, hint=f"first in line {lines[name]}")
        lists[name], lines[name] = _items(found[2].strip().strip("{}")), line
    par = ParFile(file, (called[1].strip() if called else "") or Path(path).stem, lists, lines)
    return ParFile(file, par.name, lists, lines, _counts(par))


def _counts(par: ParFile) -> dict[str, int]:
    found: dict[str, int] = {}
    for name in COUNTS:
        said = par.lists.get(name)
        if said is None and name == "NF" and len(found) == 2:
            found[name] = 2 * found["NJ"] - found["NL"]
        elif said is None:
            raise par.fault(name, "is missing", hint="a .par file gives NL, NJ and NF: links, joints, frames")
        elif len(said) != 1 or not said[0].isdecimal() or not 1 <= int(said[0]) <= _MOST:
            raise par.fault(name, f"{quoted(', '.join(said))} is no count", hint=f"from 1 to {_MOST}")
        else:
            found[name] = int(said[0])
    if not found["NL"] <= found["NJ"] or found["NF"] != 2 * found["NJ"] - found["NL"]:
        raise par.fault(
            "NF", f"{found['NL']} links, {found['NJ']} joints and {found['NF']} frames do not fit",
            hint="there is one frame more for each joint that closes a loop: NF = 2 NJ - NL",
        )  # fmt: skip
    return found


def _items(text: str) -> list[str]:
    """Split at commas that are not between parentheses; Pi and ^ in our spelling."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [" ".join(re.sub(r"\bPi\b", "pi", piece.replace("^", "**")).split()) for piece in pieces]


def _symbols(text: str) -> set[str]:
    try:
        return names_in(parse(text))
    except InputError:  # told with its row and column, where it is read
        return set()
