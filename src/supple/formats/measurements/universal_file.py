"""Universal file as data: header, units, points, trace lines, functions (58) and mode shapes (55)."""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, optional_package
from supple.diagnostics.errors import excerpt, quote
from supple.files.whole import write_beside
from supple.formats.text_file import read_bytes

DIRECTIONS = {"": 0, "x": 1, "y": 2, "z": 3, "rx": 4, "ry": 5, "rz": 6}
QUANTITIES = {"strain": 3, "displacement": 8, "velocity": 11, "acceleration": 12, "force": 13, "other": 1}
_CODES = {code: name for name, code in QUANTITIES.items()} | {9: "force"}
TIME, FREQUENCY, COHERENCE, TIME_AXIS, FREQUENCY_AXIS = 1, 4, 6, 17, 18
_NONE = ("", "NONE", "none")


class Side(NamedTuple):
    """Side of a function: node, name of the entity, direction (`-z`), code of the quantity, and label of the unit."""

    node: int = 0
    entity: str = ""
    direction: str = ""
    kind: int = 0
    label: str = ""


class Function(NamedTuple):
    """Function (set 58): values of a response to a reference over an even or uneven axis.

    kind   : 1 time, 4 frequency response, 6 coherence
    texts  : (5,), the ID lines
    number : number of the set in its file
    record : the function's identification number
    """

    kind: int
    axis: Array
    values: Complex
    response: Side
    reference: Side = Side()
    texts: tuple[str, ...] = ("NONE",) * 5
    record: int = 0
    number: int = 0
    binary: bool = False


class Shape(NamedTuple):
    """Mode shape at nodes (set 55).

    eigenvalue : of a complex mode, 1/s; i ω for a normal mode
    values     : (nodes, 3 or 6), translations and rotations
    """

    nodes: tuple[int, ...]
    values: Complex
    eigenvalue: complex
    damping_ratio: float = 0.0
    mode: int = 1
    complex_mode: bool = False
    modal_a: complex = 0j
    text: str = "NONE"


@dataclass(frozen=True, eq=False)
class UniversalFile:
    """Supported contents of a universal file, with the numbers of the file.

    length, force : the file's units per metre and per newton (set 164); None if the file has no units
    points        : node -> position (3,), in the file's unit of length
    traces        : lines to draw, each a row of nodes; 0 lifts the pen
    """

    functions: tuple[Function, ...] = ()
    shapes: tuple[Shape, ...] = ()
    points: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    traces: tuple[tuple[int, ...], ...] = ()
    length: float | None = None
    force: float | None = None
    title: str = ""
    description: str = ""
    program: str = ""
    date: str = ""
    notes: tuple[str, ...] = ()

    def place(self, node: int) -> tuple[float, float, float] | None:
        """Return the position of a node, m; None if the file has none."""
        found, scale = self.points.get(node), self.length or 1.0
        return None if found is None else (found[0] / scale, found[1] / scale, found[2] / scale)


def read_universal(path: str | Path, *, partial: bool = False) -> UniversalFile:
    """Return the contents of a universal file; sets 15 and 2411 are both points. Errors name the set."""
    sets, notes = read_sets(path, partial=partial)
    found: dict[str, Any] = {"notes": tuple(notes)}
    points: dict[int, tuple[float, float, float]] = {}
    functions, shapes, traces = [], [], []
    for item in sets:
        kind = item["type"]
        with _errors_of_set(item, path):
            if kind in (15, 2411):
                points |= _points(item)
            elif kind == 164:
                found |= {key: _positive(item, key, path) for key in ("length", "force")}
            elif kind == 151:
                date = " ".join(str(item.get(key, "")).strip() for key in ("date_db_created", "time_db_created"))
                found |= {
                    "title": plain_text(item.get("model_name")), "description": plain_text(item.get("description")),
                    "program": plain_text(item.get("program")), "date": date.strip(),
                }  # fmt: skip
            elif kind == 58:
                functions.append(_function(item))
            elif kind == 55:
                shapes.append(_shape(item))
            elif kind == 82:
                traces.append(tuple(int(node) for node in item["nodes"]))
    return UniversalFile(tuple(functions), tuple(shapes), points, tuple(traces), **found)


@contextmanager
def _errors_of_set(item: dict[str, Any], path: str | Path) -> Iterator[None]:
    """Report numbers of a set that cannot be read as an InputError about the set."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, KeyError, IndexError) as error:
        raise InputError(
            f"it cannot be read ({excerpt(error) or type(error).__name__})",
            part=f"set {item['number']} of type {item['type']}", file=excerpt(path, 500),
            hint="export it again, or remove the set",
        ) from None  # fmt: skip


def _points(item: dict[str, Any]) -> dict[int, tuple[float, float, float]]:
    """Return nodes with their positions."""
    columns = [np.asarray(item[key], float) for key in ("node_nums", "x", "y", "z")]
    if len({len(column) for column in columns}) > 1:
        raise ValueError(
            f"{', '.join(str(len(column)) for column in columns)} node numbers, x, y and z, which must be equally many"
        )
    nodes, *places = columns
    if not np.isfinite(nodes).all() or not np.isfinite(places).all():
        raise ValueError("a node number or a coordinate is not finite")
    rows = zip(nodes, *places, strict=True)
    return {int(node): (float(x), float(y), float(z)) for node, x, y, z in rows}


def write_universal(path: str | Path, data: UniversalFile) -> Path:
    """Write a file: header, units, points as 2411 (15 has single precision), lines, functions, shapes."""
    sets: list[dict[str, Any]] = [
        {
            "type": 151, "model_name": data.title[:80] or "NONE", "description": data.description[:80] or "NONE",
            "db_app": data.program[:80] or "supple", "program": data.program[:80] or "supple",
        },
        {
            "type": 164, "units_code": 1 if (data.length or 1.0, data.force or 1.0) == (1.0, 1.0) else 9,
            "units_description": "SI: m, N" if (data.length or 1.0, data.force or 1.0) == (1.0, 1.0) else "user's",
            "temp_mode": 1, "length": float(data.length or 1.0), "force": float(data.force or 1.0), "temp": 1.0,
            "temp_offset": 273.15,
        },
    ]  # fmt: skip
    if data.date:
        parts = (*data.date.split(), "")
        sets[0] |= {"date_db_created": parts[0][:10], "time_db_created": parts[1][:10]}
    if data.points:
        xyz = np.array(list(data.points.values()), dtype=float)
        none = np.zeros(len(xyz), dtype=int)
        sets.append({
            "type": 2411, "node_nums": np.array(list(data.points), dtype=int), "def_cs": none, "disp_cs": none,
            "color": none, "x": xyz[:, 0], "y": xyz[:, 1], "z": xyz[:, 2],
        })  # fmt: skip
    for number, trace in enumerate(data.traces, 1):
        nodes = np.array(trace, dtype=int)
        if len(nodes) < 2 or (np.diff(nodes) == 0).any():
            raise InputError(
                "has fewer than two nodes, or the same node twice in a row",
                part=f"line {number}",
                hint="list at least two nodes, with neighbours that differ",
            )
        sets.append({"type": 82, "trace_num": number, "color": 0, "id": f"line {number}", "nodes": nodes})
    sets += [_function_set(function) for function in data.functions]
    sets += [_shape_set(shape) for shape in data.shapes]
    return write_sets(path, sets)


def save_universal_file(path: str | Path, result: Any, *, binary: bool = False) -> Path:
    """Write responses or records as a universal file, for their method `save`."""
    from supple.formats.measurements import universal_responses
    from supple.results.responses import Responses

    if isinstance(result, Responses):
        return write_universal(path, universal_responses.universal_of_responses(result, binary=binary))
    return write_universal(path, universal_responses.universal_of_records(result, binary=binary))


def quantity_of_code(code: int) -> str | None:
    """Return the quantity of a specific data type; None for an unspecified one."""
    return None if code == 0 else _CODES.get(code, "other")


def even(axis: Array) -> bool:
    """Return whether an axis has equal steps, to rounding."""
    steps = np.diff(axis)
    return bool(len(steps) and np.abs(steps - steps.mean()).max() <= 1e-9 * max(abs(float(axis[-1])), 1e-300))


def _positive(item: dict[str, Any], key: str, path: str | Path) -> float:
    value = float(item[key])
    if not value > 0.0 or not np.isfinite(value):
        raise InputError(
            f"the factor of {key} must be positive (got {value:g})", part=f"set {item['number']} of type 164",
            file=str(path), hint="correct the units of the file",
        )  # fmt: skip
    return value


def plain_text(value: Any) -> str:
    """Return the text of a field; empty for NONE."""
    text = str(value or "").strip()
    return "" if text in _NONE else text


def _direction(code: int) -> str:
    names = {number: name for name, number in DIRECTIONS.items()}
    name = names.get(abs(int(code)), "")
    return f"-{name}" if code < 0 and name else name


def _code(direction: str) -> int:
    size = DIRECTIONS.get(direction.removeprefix("-"), 0)
    return -size if direction.startswith("-") else size


def _side(item: dict[str, Any], side: str, axis: str) -> Side:
    entity = plain_text(item.get(f"{side}_ent_name"))
    return Side(
        int(item.get(f"{side}_node", 0)), entity, _direction(item.get(f"{side}_dir", 0)),
        int(item.get(f"{axis}_spec_data_type", 0)), plain_text(item.get(f"{axis}_axis_units_lab")),
    )  # fmt: skip


def _function(item: dict[str, Any]) -> Function:
    texts = tuple(str(item.get(f"id{i}", "")) for i in range(1, 6))
    return Function(
        int(item["func_type"]), np.asarray(item["x"], float), np.asarray(item["data"], complex),
        _side(item, "rsp", "ordinate"), _side(item, "ref", "orddenom"), texts, int(item.get("func_id", 0)),
        int(item["number"]), bool(item.get("binary")),
    )  # fmt: skip


def _function_set(function: Function) -> dict[str, Any]:
    real = function.kind != FREQUENCY
    spaced = even(function.axis)
    over_time = function.kind == TIME
    found: dict[str, Any] = {
        "type": 58, "binary": int(function.binary), "func_type": function.kind, "func_id": function.record,
        "ver_num": 0, "load_case_id": 0, "abscissa_spacing": int(spaced),
        "abscissa_spec_data_type": TIME_AXIS if over_time else FREQUENCY_AXIS,
        "abscissa_axis_lab": "Time" if over_time else "Frequency",
        "abscissa_axis_units_lab": "s" if over_time else "Hz",
        "x": function.axis, "data": function.values.real.copy() if real else function.values,
        "z_axis_spec_data_type": 0,
    }  # fmt: skip
    found |= {f"id{i}": (text or "NONE")[:80] for i, text in enumerate(function.texts, 1)}
    for side, axis, one in (("rsp", "ordinate", function.response), ("ref", "orddenom", function.reference)):
        found |= {
            f"{side}_node": one.node, f"{side}_dir": _code(one.direction),
            f"{side}_ent_name": one.entity[:10] or "NONE",
            f"{axis}_spec_data_type": one.kind, f"{axis}_axis_units_lab": one.label[:20] or "NONE",
            f"{axis}_axis_lab": _CODES.get(one.kind, "NONE"),
        }  # fmt: skip
    return found


def _shape(item: dict[str, Any]) -> Shape:
    values = np.stack([np.asarray(item[f"r{i}"], complex) for i in range(1, 7) if f"r{i}" in item], axis=1)
    nodes = tuple(int(node) for node in item["node_nums"])
    text = plain_text(item.get("id1"))
    if item["analysis_type"] in (3, 7):
        root = complex(item["eig"])
        ratio = -root.real / abs(root) if root else 0.0
        return Shape(nodes, values, root, ratio, int(item["mode_n"]), True, complex(item["modal_a"]), text)
    root = 2j * np.pi * float(item.get("freq", 0.0))
    number = int(item.get("mode_n", item.get("freq_step_n", 0)))
    return Shape(nodes, values, root, float(item.get("modal_damp_vis", 0.0)), number, False, 0j, text)


def _shape_set(shape: Shape) -> dict[str, Any]:
    values = np.asarray(shape.values)
    if values.ndim != 2 or values.shape[1] not in (3, 6) or len(values) != len(shape.nodes):
        raise InputError(
            f"the shape of its array must be (nodes, 3 or 6) (got {values.shape})", part=f"mode {shape.mode}"
        )
    if shape.complex_mode and values.shape[1] == 6:
        raise InputError(
            "rotations of complex mode shapes are not supported (set 55 of pyuff)", part=f"mode {shape.mode}",
            hint="write its translations only",
        )  # fmt: skip
    columns: Iterable[Any] = values.T if shape.complex_mode else values.real.T
    found: dict[str, Any] = {
        "type": 55, "id1": (shape.text or "NONE")[:80], "model_type": 1, "data_ch": 2 if values.shape[1] == 3 else 3,
        "spec_data_type": 8, "load_case": 0, "mode_n": shape.mode, "node_nums": np.array(shape.nodes, dtype=int),
        **{f"r{i}": np.ascontiguousarray(column) for i, column in enumerate(columns, 1)},
    }  # fmt: skip
    if shape.complex_mode:
        return found | {"analysis_type": 3, "eig": complex(shape.eigenvalue), "modal_a": shape.modal_a, "modal_b": 0j}
    return found | {
        "analysis_type": 2, "freq": abs(shape.eigenvalue) / (2.0 * np.pi), "modal_m": 1.0,
        "modal_damp_vis": shape.damping_ratio, "modal_damp_his": 0.0,
    }  # fmt: skip


# Universal files, set by set: pyuff reads and writes the sets; what it would ignore silently is reported.
#
# A set is between two lines `    -1`. For an empty file, or one without such lines, pyuff returns an empty list. It
# drops the last set of an incomplete file, shortens a set with missing numbers, and writes NaN as 0.


LARGEST = 2**28  # bytes
KINDS = (15, 55, 58, 82, 151, 164, 2411)
_MARK = b"    -1"


def pyuff() -> Any:
    """Return the package pyuff, or raise an error with its installation."""
    return optional_package("pyuff", "pyuff", "'supple[measurements]', or use .npz or .csv")


def read_sets(path: str | Path, *, partial: bool = False) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the sets of supported types, in the order of the file, and notes on what was left out.

    partial : whether an incomplete file may be read up to its last complete set
    """
    file = excerpt(path, 500)
    package = pyuff()
    content = read_bytes(path, LARGEST, "split it")
    marks = _marks(content)
    if not content.strip():
        raise InputError("the file is empty", file=file, hint="export it again")
    if not marks:
        raise InputError(
            "this is not a universal file: it has no data set (no line `    -1`)", file=file,
            hint="export it as a universal file (UFF 58), or use the extension .csv, .mat or .npz for such a file",
        )  # fmt: skip
    notes = []
    if len(marks) % 2:
        kind = _kind(content, marks[-1])
        last = f"its {_th(len(marks) // 2 + 1)} set{f' (type {kind})' if kind else ''}"
        problem = f"the file is incomplete: it ends within {last}"
        if not partial:
            raise InputError(
                problem, file=file, hint="copy or export it again; partial=True (--partial) reads the sets before"
            )
        notes.append(f"{problem}; that set was ignored")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        reader, kinds = _reader(package, path, file)
        found = []
        others: dict[int, int] = {}
        for i, number in enumerate(kinds):
            if number in KINDS:
                found.append({**_read(reader, i, number, file), "number": i + 1})
            else:
                others[number] = others.get(number, 0) + 1
    if others:
        ignored = ", ".join(f"{count} of type {number}" for number, count in sorted(others.items()))
        notes.append(f"sets of unsupported types were ignored: {ignored}")
    return found, notes


def write_sets(path: str | Path, sets: list[dict[str, Any]]) -> Path:
    """Write sets as pyuff's dictionaries; atomically, through a temporary file next to the target."""
    package = pyuff()
    target = Path(path)
    # pyuff reads the whole file again after every set, so each is written into a file of its own.
    with write_beside(target) as beside, tempfile.TemporaryDirectory() as folder, beside.open("wb") as stream:
        one = Path(folder) / "set.uff"
        for item in sets:
            if "data" in item and not np.isfinite(item["data"]).all():
                raise InputError(
                    f"{int((~np.isfinite(item['data'])).sum())} values are not finite",
                    part=item.get("id4", "data"),
                    hint="a universal file cannot contain NaN: remove the lines or the channel",
                )
            one.unlink(missing_ok=True)
            with contextlib.redirect_stdout(io.StringIO()):  # "overwrite" would drop the header of binary sets
                package.UFF(str(one)).write_sets(dict(item), mode="add")
            stream.write(one.read_bytes())
    return target


def _marks(content: bytes) -> list[int]:
    """Return the positions of lines that open or close a set, as pyuff finds them."""
    found, at = [], content.find(_MARK)
    while at >= 0:
        end = content[at + 6 : at + 7]
        if end in (b"", b"\n", b"\r") or content[at + 6 : at + 80] == b" " * 74:
            found.append(at)
        at = content.find(_MARK, at + 1)
    return found


def _kind(content: bytes, mark: int) -> str:
    lines = content[mark : mark + 200].splitlines()
    text = lines[1][:6].strip() if len(lines) > 1 else b""
    return text.decode("ascii") if text.isdigit() else ""


def _reader(package: Any, path: str | Path, file: str) -> tuple[Any, list[int]]:
    """Return pyuff's reader, and the types of the sets."""
    try:
        reader = package.UFF(str(path))
        return reader, [int(kind) for kind in reader.get_set_types()]
    except Exception as error:  # noqa: BLE001  pyuff raises nothing narrower
        reason = excerpt(error) or type(error).__name__
        raise InputError(f"the data sets cannot be separated ({reason})", file=file, hint="export it again") from None


def _read(reader: Any, i: int, kind: int, file: str) -> dict[str, Any]:
    part = f"set {i + 1} of type {kind}"
    try:
        found = reader.read_sets(i)
    except Exception as error:  # noqa: BLE001  pyuff raises nothing narrower
        reason = excerpt(error) or type(error).__name__
        raise InputError(
            f"it cannot be read ({reason})", part=part, file=file, hint="export it again, or remove the set"
        ) from None
    if not isinstance(found, dict):
        raise InputError("it cannot be read", part=part, file=file, hint="export it again")
    if kind == 58:
        promised, there = int(found.get("num_pts", -1)), len(found.get("data", ()))
        if promised != there:
            raise InputError(
                f"it declares {promised} values, but has {there}",
                part=f"{part} ({quote(found.get('id4', ''))})", file=file,
                hint="export it again; numbers are missing or were edited by hand",
            )  # fmt: skip
    return found


def _th(number: int) -> str:
    return f"{number}{'th' if 10 < number % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
