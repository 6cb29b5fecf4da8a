"""A flexible mechanism, and the modes asked of it, as arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.description.force_law import DAMPER
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.coefficients import LAW, carried
from supple.formulations.elastic_rest.constrained_modes import constrained_modes, reference_at, rows_at
from supple.formulations.elastic_rest.elastic_rest import BodyCoordinates, ElasticRest, elastic_rest, node_at, own_band
from supple.formulations.laws import number_of
from supple.geometry.rotation import skew
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest as undeformed
from supple.parameterization.elastic_modes import upwards
from supple.parameterization.internal_modes import EXACT, SPARE
from supple.parameterization.mode_choice import TRACKING, ModeChoice, require_sense

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

_BAND = 2.5  # over the highest internal mode at the germ, spare ones included: room for the rest of the region


class ModalArrays(NamedTuple):
    """What `modal_coefficients` takes, in this order.

    rest    : ElasticArrays; held, compliance : rows held, those of loaded displacements last
    body_i  : (bodies, 2) first coordinate and how many; rigid : (bodies, widest, d) z of rigid motions
    turning : (bodies, axes, widest, widest) ΦᵀMW_kΦ in z
    chosen  : all rows that are computed, those held first
    loads   : gravity and forces at places, see `load_vector`; search : where the search for modes begins
    """

    rest: tuple
    held: Integers
    compliance: Array
    body_i: Integers
    rigid: Array
    turning: Array
    chosen: Integers
    loads: tuple
    search: tuple


@dataclass(frozen=True, eq=False)
class ModalParameterization:
    """A mechanism with a choice of modes, ready for its kernels.

    uses  : row among those computed, role and number, coefficient and reference, place of its value among the measures
    sizes : constraint modes, internal modes, tracking, actuators
    reference : (k, z) internal modes at the germ
    stresses  : (k, z + rows held) theirs, (ΛΦ/ω, CΦ/(c ω)), the latter of elastic rows: what "strain" is measured by
    """

    choice: ModeChoice
    rest: ElasticRest
    arrays: ModalArrays
    uses: tuple[Integers, Integers, Array, Integers]
    sizes: Integers
    reference: Array = field(repr=False)
    stresses: Array = field(repr=False)
    germ: Configuration = field(repr=False)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of η."""
        internal = tuple(f"mode{i + 1}" for i in range(self.choice.internal))
        return (*self.rest.numbering.coordinates, *self.choice.constraint, *internal)


def modal_parameterization(mechanism: Mechanism, choice: ModeChoice) -> ModalParameterization:
    """Computed once for each mechanism and choice."""
    return mechanism.remembered(f"flexible {choice}", lambda: _build(mechanism, choice))


def _build(mechanism: Mechanism, choice: ModeChoice) -> ModalParameterization:
    require_sense(mechanism, choice)
    germ = assemble(mechanism, None if choice.germ is None else np.array(choice.germ))
    rest, search, reference = _search(mechanism, choice, germ.X)
    held = rest.held_and_loaded()
    arrays = carried(undeformed(mechanism)).arrays
    measured = np.repeat(np.arange(len(arrays.uses_start) - 1), np.diff(arrays.uses_start))
    first = rest.numbering.constraints
    known = {int(row): i for i, row in enumerate(held.rows)}
    for row in first + measured:
        known.setdefault(int(row), len(known))
    uses_row = np.array([known[int(row)] for row in first + measured], dtype=np.int64)
    uses = _with_elastic_dampers(rest, known, (uses_row, arrays.uses_i, arrays.uses_f, measured))
    d, widest = len(rest.arrays.column), max(body.size for body in rest.bodies)
    flexible = ModalArrays(
        tuple(rest.arrays),
        held.rows,
        held.compliance,
        np.array([(body.start, body.size) for body in rest.bodies], dtype=np.int64),
        np.array([_padded(body.rigid, (widest, d)) for body in rest.bodies]),
        np.array([[_padded(axis, (widest, widest)) for axis in turning_in_z(rest, body)] for body in rest.bodies]),
        np.array(list(known), dtype=np.int64),
        _loads(rest, widest),
        search,
    )
    sizes = np.array([len(choice.constraint), choice.internal, TRACKING[choice.tracking], len(mechanism.actuators)])
    stresses = stresses_of(rest, rows_at(rest, held.rows, germ.X[None])[0], reference)
    return ModalParameterization(choice, rest, flexible, uses, sizes, reference, stresses, germ)


def _with_elastic_dampers(
    rest: ElasticRest, known: dict[int, int], uses: tuple[Integers, Integers, Array, Integers]
) -> tuple[Integers, Integers, Array, Integers]:
    """The uses of measures, and those of the rows of elastic joints and drives that have damping beside their
    stiffness."""
    given = rest.dampers
    rows = list(given)
    for row in rows:
        known.setdefault(row, len(known))
    count = len(rows)
    damping = np.zeros((count, uses[2].shape[1]))
    damping[:, 0] = [given[row] for row in rows]
    return (
        np.concatenate([uses[0], np.array([known[row] for row in rows], dtype=np.int64)]),
        np.concatenate([uses[1], np.full((count, 2), [LAW, number_of(DAMPER)], dtype=np.int64)]),
        np.concatenate([uses[2], damping]),
        np.concatenate([uses[3], np.full(count, -1, dtype=np.int64)]),
    )


def _search(mechanism: Mechanism, choice: ModeChoice, X: Array) -> tuple[ElasticRest, tuple, Array]:
    """Bodies condensed for the band that the modes need, and where the search for internal modes begins."""
    wanted = max(choice.internal, 1) + SPARE
    band = own_band(mechanism)
    while True:
        rest = elastic_rest(mechanism, band, choice.constraint)
        held = rest.held_and_loaded()
        hard = rows_at(rest, held.rows[held.compliance == 0.0], X[None])[0]
        free = rest.size - int(np.linalg.matrix_rank(hard / np.linalg.norm(hard, axis=1, keepdims=True)))
        if free < choice.internal and not rest.whole:  # a wider band keeps more of the bodies
            band = 8.0 * rest.band
            continue
        if free < choice.internal:
            raise InputError(
                f"{choice.internal} internal modes were asked for, and it has {free}",
                part=f'mechanism "{mechanism.name}"',
                hint="ask for fewer internal modes, or for more elements in its beams",
            )
        wanted = min(wanted, free)
        squares, Z = constrained_modes(rest, held, X[None], wanted, EXACT)
        highest = float(np.sqrt(squares.max(initial=0.0))) / (2.0 * np.pi)
        if _BAND * highest <= rest.band or rest.whole:
            break
        band = _BAND * highest
    found = reference_at(rest, held, X, wanted)
    reference = Z[0, : choice.internal].copy()
    _upwards(rest, reference)
    return rest, (float(found.shift), float(found.cut), found.start), reference


def stresses_of(rest: ElasticRest, C: Array, modes: Array) -> Array:
    """(ΛΦ, CΦ/c)/ω (k, z + m) of modes (k, z) where the rows held are C (m, z): what strains are measured against."""
    compliance = rest.held_and_loaded().compliance
    soft = compliance > 0.0
    rows = modes @ C.T
    acting = np.where(soft, rows / np.where(soft, compliance, 1.0), 0.0)
    inside = modes * rest.arrays.stiffness
    squares = np.einsum("kz,kz->k", modes, inside) + np.einsum("km,km->k", rows, acting)
    return np.hstack([inside, acting]) / np.sqrt(squares)[:, None]


def _upwards(rest: ElasticRest, modes: Array) -> None:
    for mode in modes:
        upwards(tuple(rest.arrays), mode)


def turning_in_z(rest: ElasticRest, body: BodyCoordinates) -> Array:
    """ΦᵀMW_kΦ in z, (axes, size, size): what a turn of the body's frame does to its displacements, as momentum."""
    if body.condensed is not None:
        T = body.to_condensed
        return np.array([T.T @ axis @ T for axis in body.condensed.turning])
    column = rest.arrays.column
    M = body.rigid.T @ body.rigid
    center = _center(M)
    found = []
    for axis in (2,) if len(column) == 3 else (0, 1, 2):
        # The mass is at the centre c, which moves by u + φ × c; seen from the origin, its turn by e is
        # (e × u + φ × (e × c), e × φ).
        W = np.zeros((6, 6))
        W[:3, :3] = W[3:, 3:] = skew(np.eye(3)[axis])
        W[:3, 3:] = -skew(np.cross(np.eye(3)[axis], center))
        found.append(body.shapes.T @ M @ W[np.ix_(column, column)] @ body.shapes)
    return np.array(found)


def _center(M: Array) -> Array:
    """Centre of mass from the mass matrix (d, d) of a body's twist."""
    if len(M) == 3:
        return np.array([M[2, 1], -M[2, 0], 0.0]) / M[0, 0]
    return np.array([M[5, 1], M[3, 2], M[4, 0]]) / M[0, 0]


def _loads(rest: ElasticRest, widest: int) -> tuple[Integers, Integers, Array, Array]:
    """Gravity on every body and forces at places: (body, follows, first coordinate), widths, maps, wrenches."""
    numbering, column = rest.numbering, rest.arrays.column
    heads, widths, maps, wrenches = [], [], [], []

    def add(b: int, follows: int, shapes: Array, wrench: Array) -> None:
        body = rest.bodies[b]
        heads.append((b, follows, body.start))
        widths.append(body.size)
        full = np.zeros((widest, 6))
        full[: body.size, column] = shapes
        maps.append(full)
        wrenches.append(wrench)

    mechanism = numbering.mechanism
    if mechanism.gravity is not None:
        gravity = numbering.drawing.vector(mechanism.gravity, ("gravity",), "gravity")
        for b, body in enumerate(rest.bodies):
            add(b, 0, np.where(column < 3, body.rigid, 0.0), np.concatenate([gravity, np.zeros(3)]))
    arrays = carried(undeformed(mechanism)).arrays
    applied = len(rest.bodies) if mechanism.gravity is not None else 0
    for (b, follows), row in zip(arrays.loads_i[applied:].tolist(), arrays.loads_f[applied:], strict=True):
        if b < len(rest.bodies):
            node, place = node_at(rest.bodies[b], row[:3])
            lever = np.eye(6)
            lever[3:, :3] = skew(row[:3] - place)  # moment about the node, in body axes
            shapes = np.zeros((6, rest.bodies[b].size))
            shapes[column] = rest.bodies[b].of_node(node)
            add(b, follows, (shapes.T @ lever)[:, column], row[3:9])
    d = len(heads)
    return (
        np.array(heads, dtype=np.int64).reshape(-1, 3),
        np.array(widths, dtype=np.int64),
        np.array(maps).reshape(d, widest, 6),
        np.array(wrenches).reshape(d, 6),
    )


def _padded(matrix: Array, shape: tuple[int, int]) -> Array:
    found = np.zeros(shape)
    found[: matrix.shape[0], : matrix.shape[1]] = matrix
    return found
