"""Data of the page for a mechanism, a reduced model or runs, as one dictionary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.comparison.comparison import local_errors
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.formats.model_description import restore_mechanism
from supple.formulations.coefficients import along_measure, get_coefficients
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, first_shift, search_for
from supple.formulations.elastic_rest.dense import collect_by_row
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows, elastic_rest
from supple.formulations.elastic_rest.loaded_modes import constrained_loaded_modes
from supple.formulations.elastic_rest.loads import carries_loads, measures_acted_along
from supple.formulations.elastic_rest.preload import UnheldLoads, pushed_rows
from supple.formulations.elastic_rest.rows import WIDTH
from supple.formulations.elastic_rest.stiffening_kernels import load_forms
from supple.kinematics.closing import close_all, closing_start
from supple.kinematics.closure import assemble
from supple.kinematics.closure_kernel import Start
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.coordinate_limits import list_limits, within_limits
from supple.kinematics.rest import Rest, rest
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.modes import require_elastic
from supple.reduced.model import ReducedModel
from supple.results.units import MODAL
from supple.view.page.encoding import PRELOAD, includes_preload, page_array
from supple.view.page.scene import scene

# Range of each coordinate on the page: its limits, or a default range about rest.


_TURN, _SLIDE = 1.0, 0.15  # default ranges about rest: rad, and relative to the size of the mechanism


@dataclass(frozen=True)
class Range:
    """Range of one coordinate, rad or m; `limited` is True if it comes from the file."""

    name: str
    unit: str
    low: float
    high: float
    limited: bool

    def data(self, at_rest: float) -> dict[str, Any]:
        return {
            "name": self.name, "unit": self.unit, "low": self.low, "high": self.high, "limited": self.limited,
            "rest": at_rest,
        }  # fmt: skip


def ranges(position: Rest) -> list[Range]:
    """Return the range of every coordinate, in the order of θ."""
    numbering, mechanism = position.numbering, position.numbering.mechanism
    found = []
    for i, name in enumerate(numbering.coordinates):
        turns = bool(numbering.angles()[numbering.constraints + i])
        half = _TURN if turns else _SLIDE * numbering.arrays.extent
        given = _limits(mechanism, name)
        low, high = given or (float(position.theta[i]) - half, float(position.theta[i]) + half)
        found.append(Range(name, "rad" if turns else "m", float(low), float(high), given is not None))
    return found


def _limits(mechanism: Any, name: str) -> tuple[float, float] | None:
    """Return the limits of the actuator, else those of the joint that it drives, else those of the joint itself."""
    actuator = mechanism.actuators.get(name)
    if actuator is not None and actuator.limits is not None:
        return tuple(actuator.limits)
    reference = name if actuator is None else actuator.joint
    found = None if reference is None else mechanism.joint_coordinate(reference)
    return None if found is None else mechanism.joints[found[0]].value("limits", found[1], mechanism.plane)


def sampled_postures(position: Rest, count: int) -> Configuration:
    """Return the rest posture and some postures within all limits, random with a fixed seed."""
    found, theta = ranges(position), position.theta[None]
    X, w = position.X[None].copy(), position.w[None].copy()
    if found:
        low, high = np.array([item.low for item in found]), np.array([item.high for item in found])
        others = low + np.random.default_rng(1).random((count, len(found))) * (high - low)
        poses, measures, reached = close_all(position, others)
        inside = (reached >= 1.0) & within_limits(position.numbering, measures)
        theta, X = np.concatenate([theta, others[inside]]), np.concatenate([X, poses[inside]])
        w = np.concatenate([w, measures[inside]])
    return Configuration(position, theta, X, w, np.ones(len(X)))


# Data by which the page computes modes and responses at any posture (docs/theory/elastic-rest.md).
#
# Bodies are constants in their own axes; the page assembles the constraint rows at a posture and solves for the modes.


COUNT = 8  # modes on the page
_SAMPLES = 24  # postures by which the frequency band is chosen
_MARGIN = 1.1
_SHIFT = 4.0  # relative to the lowest ω²; with a smaller shift, redundant constraints cause large rounding errors
_RATIO = 0.01  # ζ if the mechanism has no damping model


class PageMechanism(NamedTuple):
    """Mechanism in the form in which the page computes vibrations.

    rest, held : condensed for the lowest modes at some postures, and constraint rows with actuators locked
    squares    : (N, k) ω² there, without loads
    loads      : "counted", "left out" or "none": use of the stiffness of loads at rest
    """

    rest: ElasticRest
    held: HeldRows
    squares: Array
    loads: str


def page_mechanism(position: Rest, count: int = COUNT, *, preload: bool = PRELOAD) -> PageMechanism | str:
    """Return the elastic mechanism, condensed for its lowest modes; or a text with the reason why it has no modes.

    preload : include the geometric stiffness of loads at rest
    """
    mechanism = position.numbering.mechanism
    postures, band = sampled_postures(position, _SAMPLES), own_band(mechanism)
    loads = "none" if not carries_loads(mechanism) else "counted" if preload else "left out"
    try:
        while True:
            rest = elastic_rest(mechanism, band)
            require_elastic(rest)
            held = rest.list_held_rows(actuators=True)
            squares = _squares(rest, held, postures.X, count)
            if squares.shape[1] == 0:
                return "the mechanism cannot move with locked actuators"
            enough, highest = squares.shape[1] == count, _highest(squares)
            if loads == "counted" and (rest.whole or (highest <= rest.band and enough)):
                highest = max(highest, _highest(_loaded_squares(rest, held, postures, count)))
            if rest.whole or (highest <= rest.band and enough):
                return PageMechanism(rest, held, squares, loads)
            band = _MARGIN * highest if highest > rest.band else 8.0 * rest.band
    except InputError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message


def _highest(squares: Array) -> float:
    """Return the highest frequency, Hz."""
    return float(np.sqrt(np.abs(squares)).max(initial=0.0)) / (2.0 * np.pi)


def _squares(rest: ElasticRest, held: HeldRows, X: Array, count: int) -> Array:
    """Return ω² (N, k) at poses X, without postures near singularities at which the solver does not converge."""
    found = [constrained_modes(rest, held, X[:1], count)[0][0]]
    for pose in X[1:]:
        try:
            found.append(constrained_modes(rest, held, pose[None], count)[0][0])
        except NumericalError:
            continue
    least = min(len(item) for item in found)
    return np.array([item[:least] for item in found])


def _loaded_squares(rest: ElasticRest, held: HeldRows, postures: Configuration, count: int) -> Array:
    """Return ω² (N, k) under loads at rest, without postures at which the loads are not supported."""
    try:
        return constrained_loaded_modes(rest, held, postures, count)[0]
    except UnheldLoads:
        return np.zeros((0, 0))


def vibration(position: Rest, found: PageMechanism, count: int = COUNT) -> dict[str, Any]:
    """Return constants of the bodies, constraint rows, locked coordinates, free motors, loads, and start vectors."""
    rest, held, squares, loads = found
    arrays, tables = rest.arrays, rest.arrays.tables
    locked = range(position.numbering.constraints, position.numbering.constraints + len(position.numbering.coordinates))
    motors = {row: J for row, J in collect_by_row(rest, "inertia").items() if row not in locked}
    moving = squares[squares > 0.0]
    return {
        "size": rest.size,
        "stiffness": page_array(arrays.stiffness),
        "part_i": page_array(arrays.part_i, "i4"),
        "part_x": page_array(arrays.part_x),
        "shapes": page_array(arrays.shapes),
        "column": page_array(arrays.column, "i4"),
        "rows_i": page_array(arrays.rows_i, "i4"),
        "rows_f": page_array(arrays.rows_f),
        "held": page_array(held.rows, "i4"),
        "compliance": page_array(held.compliance),
        "motors": page_array(list(motors), "i4"),
        "inertia": page_array(list(motors.values())),
        "tables": {
            "of_row": page_array(tables.of_row, "i4"),
            "coordinate": page_array(tables.coordinate, "i4"),
            "first": page_array(tables.first, "i4"),
            "at": page_array(tables.at),
            "stiffness": page_array(tables.stiffness),
            "slope": page_array(tables.slope),
            "reference": page_array(tables.reference),
            "middle": [None if np.isnan(value) else float(value) for value in tables.middle],
        },
        "shift": _SHIFT * float(moving.min(initial=np.inf)) if len(moving) else 1.0,
        "count": count,
        "block": len(search_for(rest, held, count).start),
        "loads": page_loads(rest, held) if loads == "counted" else None,
        "preload": loads,
        "band": float(rest.band),
        "bodies": [[body.start, body.size] for body in rest.bodies],
        "softness": [{"row": int(row), "part": soft.part} for row, soft in rest.elastic_rows.items()],
        "drives": [{"column": drive.column, "part": drive.joint} for drive in rest.drives.values()],
        "damping": page_damping_model(position.numbering.mechanism, rest),
    }


def page_damping_model(mechanism: Mechanism, rest: ElasticRest) -> dict[str, Any]:
    """Return the damping model of the page's responses, with a list of the mechanism's damping that it omits."""
    law, left = mechanism.damping, []
    if rest.dampers or collect_by_row(rest, "damping"):
        left.append("dampers and the damping of joints and drives")
    if any(item.damping is not None for item in mechanism.materials.values()):
        left.append("damping of materials")
    if law is not None and law.structural is not None:
        found: dict[str, Any] = {"kind": "structural", "values": [float(law.structural)]}
    elif law is not None and law.rayleigh is not None:
        found = {"kind": "rayleigh", "values": [float(value) for value in law.rayleigh]}
    elif law is not None and isinstance(law.modal, float):
        found = {"kind": "modal", "values": [law.modal]}
    else:
        found = {"kind": "modal", "values": [_RATIO]}
        if law is not None:
            left.append("damping ratios of single modes (1 % is used for all modes)")
    return {**found, "says": left, "given": law is not None}


# Data about the loads at rest: the constants of their geometric stiffness K_g.
#
#     K_g = Σ_bodies Σ_c w_c(θ) K_c + Σ_pairs Gᵀ (Σ λ_i D²φ_i) G  (docs/theory/elastic-rest.md, 14b)
#
# The page has the matrices K_c; at a posture it solves for the constraint forces λ and computes the sum.


class _Forms:
    """Upper triangles of symmetric matrices in one array; equal ones are stored once."""

    def __init__(self) -> None:
        self.values: list[Array] = []
        self._size = 0
        self._first: dict[bytes, int] = {}

    def add(self, K: Array) -> int:
        """Return the position of the triangle of K, adding it if it is new."""
        upper = K[np.triu_indices(len(K))]
        key = upper.tobytes()
        if key not in self._first:
            self._first[key] = self._size
            self.values.append(upper)
            self._size += len(upper)
        return self._first[key]


def page_loads(rest: ElasticRest, held: HeldRows) -> dict[str, Any]:
    """Return loads over z, K_c for unit loads and unit constraint forces, and springs along measures.

    Springs of elastic mechanisms are linear: force + slope · measure.
    """
    given, forms = load_forms(rest), _Forms()
    acting = np.flatnonzero(given.loads.wrenches.any(axis=1))
    of_loads = []
    for number, i in enumerate(acting.tolist()):
        width, wrench = int(given.loads.place[i, WIDTH]), given.loads.wrenches[i]
        for c in range(6):
            K = given.of_loads[i, c, : width**2].reshape(width, width)
            half = wrench[:3] if c < 3 else wrench[3:]  # in body axes, any component may be nonzero
            if half.any() and K.any():
                of_loads.append((number, c, forms.add(K)))
    of_parts = []
    for part, width in enumerate(rest.arrays.part_i[:, WIDTH].tolist()):
        for c in range(6):
            K = given.of_parts[part, c, : width**2].reshape(width, width)
            if K.any():
                of_parts.append((part, c, forms.add(K)))
    position = undeformed(rest.numbering.mechanism)
    arrays, first = get_coefficients(position).arrays, rest.numbering.constraints
    along = {measure: along_measure(arrays, measure, 0.0) for measure in measures_acted_along(rest)}
    along = {measure: item for measure, item in along.items() if item.force or item.slope}
    return {
        "place": page_array(given.loads.place[acting], "i4"),
        "maps": page_array(given.loads.maps[acting]),
        "wrenches": page_array(given.loads.wrenches[acting]),
        "of_loads": page_array(np.array(of_loads).reshape(-1, 3), "i4"),
        "of_parts": page_array(np.array(of_parts).reshape(-1, 3), "i4"),
        "forms": page_array(np.concatenate([np.zeros(0), *forms.values]), "f4"),
        "acted": page_array(np.array([(first + measure, measure) for measure in along]).reshape(-1, 2), "i4"),
        "along": page_array(np.array([(item.force, item.slope) for item in along.values()]).reshape(-1, 2)),
        "pushed": page_array(pushed_rows(rest), "i4"),
        "theta": [int(first), len(rest.numbering.coordinates)],
        "shift": float(first_shift(rest, held, position.X)),
    }


# Dictionary for the page.


FORMAT = 1


def page_data(
    thing: Mechanism | ReducedModel, *, at: At = None, preload: bool | None = None, count: int = COUNT
) -> dict[str, Any]:
    """Return the data for a mechanism, or for a reduced model and its mechanism.

    at      : initial posture; default: rest
    preload : modes with the geometric stiffness of loads at rest; default: see `includes_preload`
    count   : number of modes
    """
    mechanism = restore_mechanism(thing) if isinstance(thing, ReducedModel) else thing
    position = rest(mechanism)
    numbering, found = position.numbering, page_mechanism(position, count, preload=includes_preload(thing, preload))
    elastic = None if isinstance(found, str) else found.rest
    notes: list[str] = []
    return {
        "format": FORMAT,
        "name": mechanism.name,
        "description": mechanism.description or "",
        "kinematics": closing_rows(position),
        "coordinates": [
            item.data(float(value)) for item, value in zip(ranges(position), position.theta, strict=True)
        ],
        "limits": [
            {"part": part, "measure": row - numbering.constraints, "limits": list(limits),
             "unit": "rad" if numbering.angles()[row] else "m"}
            for part, row, limits in list_limits(numbering)
        ],
        "configurations": _configurations(position, notes),
        "scene": scene(numbering, elastic),
        "vibration": None if isinstance(found, str) else vibration(position, found, count),
        "still": found if isinstance(found, str) else "",
        "at": None if at is None else [float(value) for value in assemble(mechanism, at).theta],
        "notes": notes,
        **({"model": model_tables(mechanism, thing)} if isinstance(thing, ReducedModel) else {}),
    }  # fmt: skip


def _configurations(position: Rest, notes: list[str]) -> dict[str, list[float]]:
    """Return θ of the named configurations, and add a note for those that cannot be assembled."""
    mechanism = position.numbering.mechanism
    found = {"rest": [float(value) for value in position.theta]}
    for name in mechanism.configurations:
        try:
            found[name] = [float(value) for value in assemble(mechanism, name).theta]
        except (InputError, NumericalError) as error:
            notes.append(f'configuration "{name}" is not shown: {error.message}')
    return found


# Data by which the page closes loops: the constraint rows of the mechanism, and the start of closure.
#
# The page repeats `assemble`: Newton's method along the segment from rest (docs/theory/kinematics.md, docs/view.md).


def closing_rows(position: Rest) -> dict[str, Any]:
    """Return constraint rows, the rest posture with rigid modes, and the rank of the rows away from singularities."""
    numbering = position.numbering
    arrays, nothing = numbering.arrays, np.zeros((0,))
    # Without θ nothing moves on the page, and free motions have no start.
    still = Start(position.X, position.w, nothing, nothing, 1.0, 1.0, 0.0)
    start = closing_start(position) if numbering.coordinates else still
    return {
        "rows": {
            "sizes": page_array(arrays.sizes, "i4"),
            "tree": page_array(arrays.tree, "i4"),
            "reach": page_array(arrays.reach, "i4"),
            "column": page_array(arrays.column, "i4"),
            "selected": page_array(position.selected, "i4"),
            "rows_i": page_array(arrays.rows_i, "i4"),
            "rows_f": page_array(arrays.rows_f),
            "extent": float(arrays.extent),
        },
        "rest": {
            "X": page_array(start.X),
            "w": page_array(start.w),
            "Psi": page_array(start.Psi),
            "dPsi": page_array(start.dPsi),
            "sign": float(start.sign),
            "margin": float(start.margin),
        },
        "rank": int(numbering.columns - position.mobility.mobility + len(numbering.coordinates)),
    }


# A reduced model on the map of its region: its boxes, and its error in each of them.


_POINTS = 8  # points per box at which the model is compared with the mechanism
_MOST = 1200  # largest number of points
_MOST_NUMBERS = 150_000  # largest number of coefficients in double precision


def model_tables(mechanism: Mechanism, model: ReducedModel) -> dict[str, Any]:
    """Return boxes (boxes, dimension) with the largest error of each coefficient at some points in each of them."""
    leaves = model.fitted.leaves
    low, high = np.array([box.lower for box in leaves]), np.array([box.upper for box in leaves])
    each = max(1, min(_POINTS, _MOST // len(leaves)))
    shares = np.random.default_rng(7).random((len(leaves), each, low.shape[1]))
    x = (low[:, None] + shares * (high - low)[:, None]).reshape(-1, low.shape[1])
    notes = [
        f"Reduced model “{model.name}”: {len(leaves)} boxes, {model.layout.size} coordinates. Errors are relative to "
        f"the mechanism, at {each} points per box."
    ]
    if model.family is not None:
        notes.append(f"Parameters of the family: {model.family}.")
    errors: dict[str, Any] = {}
    try:
        found = local_errors(mechanism, model, x)
        errors = {name: page_array(off.reshape(len(leaves), each).max(axis=1), "f4") for name, off in found.items()}
    except InputError as error:
        notes.append(f"Errors inside the boxes are not available: {error.message}.")
    return {
        "name": model.name,
        "coordinates": list(model.layout.coordinates[: model.layout.theta]),
        "low": page_array(low),
        "high": page_array(high),
        "errors": errors,
        "stated": {name: float(value) for name, value in model.error.items()},
        "says": notes,
        "function": fitted_function(model, notes),
        "internal": model.layout.internal,
    }


def fitted_function(model: ReducedModel, notes: list[str]) -> dict[str, Any]:
    """Return the fitted polynomials of the coefficients of a posture, which the page evaluates.

    On leaf l, with ξ = (x - c_l) / h_l:  f = Σ_k c_lk T_{α_k}(ξ); `columns` names each with its unit
    """
    arrays, layout = model.fitted.arrays, model.layout
    columns: list[dict[str, Any]] = []
    taken: list[int] = []
    for name, (first, stop) in layout.columns.items():
        known = _COEFFICIENTS.get(name)
        if known is None:
            continue
        for place, (label, unit) in enumerate(known(model)):
            if name not in ("M", "K") and not arrays.coefficients[:, first + place].any():
                continue  # zero everywhere; of M and K the page needs all columns
            columns.append({"coefficient": name, "place": place, "label": label, "unit": unit})
            taken.append(first + place)
        assert stop - first == layout.widths[name]
    kind = "f8" if arrays.coefficients.shape[0] * len(taken) <= _MOST_NUMBERS else "f4"
    if kind == "f4":
        notes.append("The page stores its coefficients in single precision.")
    left = sorted(set(layout.columns) - set(_COEFFICIENTS))
    if left:
        notes.append(f"Coefficients that are not shown: {', '.join(left)}.")
    return {
        "roots_f": page_array(arrays.roots_f), "roots_i": page_array(arrays.roots_i, "i4"),
        "nodes_i": page_array(arrays.nodes_i, "i4"), "nodes_f": page_array(arrays.nodes_f),
        "leaves_i": page_array(arrays.leaves_i, "i4"), "leaves_f": page_array(arrays.leaves_f),
        "indices": page_array(arrays.indices[: int(arrays.leaves_i[:, 1].max(initial=0))], "i4"),
        "coefficients": page_array(arrays.coefficients[:, taken], kind),
        "columns": columns,
        "constants": {
            name: np.asarray(values).ravel().tolist() for name, values in layout.constants.items() if name in ("M", "K")
        },
        "size": layout.size, "theta": layout.theta,
    }  # fmt: skip


def _unit(model: ReducedModel, seconds: int, *names: str) -> str:
    """Return the unit of a coefficient of kg m² s⁻ᵏ over coordinates, k `seconds`; "" if it is unknown."""
    units = [model.units.coordinates.get(name, "") for name in names]
    if not all(unit in _POWERS for unit in units):
        return ""
    kg, m = (total - sum(_POWERS[unit][i] for unit in units) for i, total in enumerate((1.0, 2.0)))
    if seconds == 2 and kg == 1.0:
        return {2.0: "N m", 1.0: "N", 0.0: "N/m"}[m]
    top = " ".join(part for part in ({1.0: "kg", 0.5: "√kg"}.get(kg, ""), {2.0: "m²", 1.0: "m"}.get(m, "")) if part)
    return f"{top or '1'}/s{'²' * (seconds == 2)}" if seconds else top


_POWERS = {"m": (0.0, 1.0), "rad": (0.0, 0.0), MODAL: (0.5, 1.0)}
"""Powers of kg and m in the units of coordinates."""


def _pairs(letter: str, seconds: int) -> Callable[[ReducedModel], list[tuple[str, str]]]:
    def name_pairs(model: ReducedModel) -> list[tuple[str, str]]:
        names = model.layout.coordinates
        pairs = combinations_with_replacement(names, 2)
        return [(f"{letter} of {a}, {b}", _unit(model, seconds, a, b)) for a, b in pairs]

    return name_pairs


_COEFFICIENTS: dict[str, Callable[[ReducedModel], list[tuple[str, str]]]] = {
    "M": _pairs("M", 0),
    "K": _pairs("K", 2),
    "damping": _pairs("D", 1),
    "potential": lambda model: [("potential", "J")],
    "force": lambda model: [(f"p along {name}", _unit(model, 2, name)) for name in model.layout.coordinates],
    "outputs": lambda model: [(name, model.units.outputs.get(name, "")) for name in model.layout.measures],
}
"""Functions that return names and units of the packed columns of each coefficient that the page shows."""
