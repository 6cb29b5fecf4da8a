"""What the page needs to find modes and responses by itself, at any posture (docs/theory/elastic-rest.md).

Bodies are constants in their own axes; the page forms the rows between them at a posture and solves for the modes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, NumericalError
from supple.formulations.coefficients import along_measure, carried
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, first_shift, search_for
from supple.formulations.elastic_rest.dense import acting
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, Held, elastic_rest, own_band
from supple.formulations.elastic_rest.loaded_modes import constrained_loaded_modes
from supple.formulations.elastic_rest.loads import carries_loads, measures_acted_along
from supple.formulations.elastic_rest.preload import UnheldLoads, pushed_rows
from supple.formulations.elastic_rest.rest_stiffness import load_forms
from supple.formulations.elastic_rest.rows import WIDTH
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import Rest
from supple.kinematics.rest import rest as undeformed
from supple.modal_analysis.modes import require_elastic
from supple.view.page.encoding import table
from supple.view.page.load_choice import PRELOAD
from supple.view.page.region import sampled

COUNT = 8  # modes on the page
_SAMPLES = 24  # postures by which the band is chosen
_MARGIN = 1.1
_SHIFT = 4.0  # of the lowest ω² of all: lower, and stiff rows next to redundant ones would drown in rounding
_RATIO = 0.01  # ζ where the mechanism has no damping of its own


class Vibrating(NamedTuple):
    """A mechanism as the page vibrates it.

    rest, held : condensed for what its lowest modes need at some postures, and rows held with actuators locked
    squares    : (N, k) ω² there, without loads
    loads      : "counted", "left out" or "none": the stiffness of its loads at rest
    """

    rest: ElasticRest
    held: Held
    squares: Array
    loads: str


def vibrating(position: Rest, count: int = COUNT, *, preload: bool = PRELOAD) -> Vibrating | str:
    """The elastic mechanism, condensed for its lowest modes; or why it has no modes, in words.

    preload : count the geometric stiffness of its loads at rest
    """
    mechanism = position.numbering.mechanism
    postures, band = sampled(position, _SAMPLES), own_band(mechanism)
    loads = "none" if not carries_loads(mechanism) else "counted" if preload else "left out"
    try:
        while True:
            rest = elastic_rest(mechanism, band)
            require_elastic(rest)
            held = rest.held(actuators=True)
            squares = _squares(rest, held, postures.X, count)
            if squares.shape[1] == 0:
                return "nothing of it can move while its actuators are locked"
            enough, highest = squares.shape[1] == count, _highest(squares)
            if loads == "counted" and (rest.whole or (highest <= rest.band and enough)):
                highest = max(highest, _highest(_loaded_squares(rest, held, postures, count)))
            if rest.whole or (highest <= rest.band and enough):
                return Vibrating(rest, held, squares, loads)
            band = _MARGIN * highest if highest > rest.band else 8.0 * rest.band
    except InputError as error:
        return f"{error.message}; {error.hint}" if error.hint else error.message


def _highest(squares: Array) -> float:
    """Hz."""
    return float(np.sqrt(np.abs(squares)).max(initial=0.0)) / (2.0 * np.pi)


def _squares(rest: ElasticRest, held: Held, X: Array, count: int) -> Array:
    """ω² (N, k) at poses X; postures next to dead points, where the search finds no end, are left out."""
    found = [constrained_modes(rest, held, X[:1], count)[0][0]]
    for pose in X[1:]:
        try:
            found.append(constrained_modes(rest, held, pose[None], count)[0][0])
        except NumericalError:
            continue
    least = min(len(item) for item in found)
    return np.array([item[:least] for item in found])


def _loaded_squares(rest: ElasticRest, held: Held, postures: Configuration, count: int) -> Array:
    """ω² (N, k) under loads at rest, none where nothing holds them."""
    try:
        return constrained_loaded_modes(rest, held, postures, count)[0]
    except UnheldLoads:
        return np.zeros((0, 0))


def vibration(position: Rest, found: Vibrating, count: int = COUNT) -> dict[str, Any]:
    """Constants of the bodies, rows between parts, what is held, motors that are free, loads, and where a search
    begins."""
    rest, held, squares, loads = found
    arrays, tables = rest.arrays, rest.arrays.tables
    locked = range(position.numbering.constraints, position.numbering.constraints + len(position.numbering.coordinates))
    motors = {row: J for row, J in acting(rest, "inertia").items() if row not in locked}
    moving = squares[squares > 0.0]
    return {
        "size": rest.size,
        "stiffness": table(arrays.stiffness),
        "part_i": table(arrays.part_i, "i4"),
        "part_x": table(arrays.part_x),
        "shapes": table(arrays.shapes),
        "column": table(arrays.column, "i4"),
        "rows_i": table(arrays.rows_i, "i4"),
        "rows_f": table(arrays.rows_f),
        "held": table(held.rows, "i4"),
        "compliance": table(held.compliance),
        "motors": table(list(motors), "i4"),
        "inertia": table(list(motors.values())),
        "tables": {
            "of_row": table(tables.of_row, "i4"),
            "coordinate": table(tables.coordinate, "i4"),
            "first": table(tables.first, "i4"),
            "at": table(tables.at),
            "stiffness": table(tables.stiffness),
            "slope": table(tables.slope),
            "reference": table(tables.reference),
            "middle": [None if np.isnan(value) else float(value) for value in tables.middle],
        },
        "shift": _SHIFT * float(moving.min(initial=np.inf)) if len(moving) else 1.0,
        "count": count,
        "block": len(search_for(rest, held, count).start),
        "loads": load_tables(rest, held) if loads == "counted" else None,
        "preload": loads,
        "band": float(rest.band),
        "bodies": [[body.start, body.size] for body in rest.bodies],
        "softness": [{"row": int(row), "part": soft.part} for row, soft in rest.elastic_rows.items()],
        "drives": [{"column": drive.column, "part": drive.joint} for drive in rest.drives.values()],
        "damping": damping_law(position.numbering.mechanism, rest),
    }


def damping_law(mechanism: Mechanism, rest: ElasticRest) -> dict[str, Any]:
    """The law that the page's responses take, and in `says` what of the mechanism's damping they leave out."""
    law, left = mechanism.damping, []
    if rest.dampers or acting(rest, "damping"):
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
            left.append("the ratios of single modes; 1 % is taken for all")
    return {**found, "says": left, "given": law is not None}


# What the page needs of the loads at rest: the constants of their geometric stiffness K_g.
#
#     K_g = Σ_bodies Σ_c w_c(θ) K_c + Σ_pairs Gᵀ (Σ λ_i D²φ_i) G  (docs/theory/elastic-rest.md, 14b)
#
# The page is given the matrices K_c; at a posture it solves for the forces λ of the rows and adds everything up.


class _Forms:
    """Upper triangles of symmetric matrices one after the other, equal ones once."""

    def __init__(self) -> None:
        self.values: list[Array] = []
        self._size = 0
        self._first: dict[bytes, int] = {}

    def add(self, K: Array) -> int:
        """Where the triangle of K begins."""
        upper = K[np.triu_indices(len(K))]
        key = upper.tobytes()
        if key not in self._first:
            self._first[key] = self._size
            self.values.append(upper)
            self._size += len(upper)
        return self._first[key]


def load_tables(rest: ElasticRest, held: Held) -> dict[str, Any]:
    """Loads over z, K_c for units of them and of what rows push parts with, and springs along measures.

    Springs of elastic mechanisms are linear: force + slope · measure.
    """
    given, forms = load_forms(rest), _Forms()
    acting = np.flatnonzero(given.loads.wrenches.any(axis=1))
    of_loads = []
    for number, i in enumerate(acting.tolist()):
        width, wrench = int(given.loads.place[i, WIDTH]), given.loads.wrenches[i]
        for c in range(6):
            K = given.of_loads[i, c, : width**2].reshape(width, width)
            half = wrench[:3] if c < 3 else wrench[3:]  # in body axes any component of it may act
            if half.any() and K.any():
                of_loads.append((number, c, forms.add(K)))
    of_parts = []
    for part, width in enumerate(rest.arrays.part_i[:, WIDTH].tolist()):
        for c in range(6):
            K = given.of_parts[part, c, : width**2].reshape(width, width)
            if K.any():
                of_parts.append((part, c, forms.add(K)))
    position = undeformed(rest.numbering.mechanism)
    arrays, first = carried(position).arrays, rest.numbering.constraints
    along = {measure: along_measure(arrays, measure, 0.0) for measure in measures_acted_along(rest)}
    along = {measure: item for measure, item in along.items() if item.force or item.slope}
    return {
        "place": table(given.loads.place[acting], "i4"),
        "maps": table(given.loads.maps[acting]),
        "wrenches": table(given.loads.wrenches[acting]),
        "of_loads": table(np.array(of_loads).reshape(-1, 3), "i4"),
        "of_parts": table(np.array(of_parts).reshape(-1, 3), "i4"),
        "forms": table(np.concatenate([np.zeros(0), *forms.values]), "f4"),
        "acted": table(np.array([(first + measure, measure) for measure in along]).reshape(-1, 2), "i4"),
        "along": table(np.array([(item.force, item.slope) for item in along.values()]).reshape(-1, 2)),
        "pushed": table(pushed_rows(rest), "i4"),
        "theta": [int(first), len(rest.numbering.coordinates)],
        "shift": float(first_shift(rest, held, position.X)),
    }
