"""Arrays of a mechanism in absolute coordinates, the arguments of the DAE kernels."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.description.mechanism import Mechanism
from supple.formulations.absolute.beams.beam_arrays import BeamArrays, BodyBeams, beam_arrays
from supple.formulations.absolute.drive_deflections import YieldingDriveArrays, drive_arrays, with_deflections
from supple.formulations.absolute.frames import Frames, RowTerm, coordinate, frames_of, still_rows, term, turn_about
from supple.formulations.absolute.frozen_motion import MassDamping
from supple.formulations.absolute.superelements.superelement_arrays import (
    PlacedBody,
    SuperelementArrays,
    superelement_arrays,
)
from supple.formulations.absolute.time_damping import mass_damping_factor, time_damping
from supple.formulations.coefficients import (
    AT_POINT,
    BODY,
    LAW,
    ROLE,
    CoefficientArrays,
    Yield,
    get_coefficients,
    with_yields,
)
from supple.formulations.elastic.elastic_body import meshed_beams
from supple.formulations.yielding_rows import SoftRow, yielding_rows
from supple.integration.ldl import Pattern, pattern_of
from supple.kinematics.numbering import Numbering, terms
from supple.kinematics.primitives import ALONG, PA, THEN, A, B, U
from supple.kinematics.rest import Rest
from supple.kinematics.row_arrays import COORDINATES, RowArrays

_FILLED = (
    1e-3  # least inertia in the iteration matrix, against the largest: directions without inertia follow constraints
)


class SystemArrays(NamedTuple):
    """Arrays of the equations.

    rows           : of the mechanism, between frames, with points relative to them
    mass, inertia  : of each frame itself, about the centre of that mass, without elements
    armed, arm     : (n,) the frames whose mass is on an arm, and (F, 3) that arm, in frame axes
    gravity        : (3,) m/s², for the weight of elements
    alpha          : 1/s, mass-proportional damping; 0 for rigid mechanisms (see `mass_damping`)
    mass_damping   : arguments for the velocity of deformation, on which it acts; None without it
    compliance     : (joint rows,) 1/k of elastic joints, m/N or rad/(N m); 0 for ideal ones
    lag            : (joint rows,) c/k, s
    beams, superelements, drives : elements between frames, bodies in floating frames, drives with compliance; None if
    there
                     are none, so that nothing is compiled or called for them
    loads, uses    : as in CoefficientArrays, on frames
    friction_speed : speed over which dry friction changes its sign
    driven         : prescribed rows in addition to the joints, followed by rows of superelements
    """

    rows: RowArrays
    mass: Array
    inertia: Array
    armed: Integers
    arm: Array
    gravity: Array
    alpha: float
    mass_damping: MassDamping | None
    compliance: Array
    lag: Array
    beams: BeamArrays | None
    superelements: SuperelementArrays | None
    drives: YieldingDriveArrays | None
    loads_i: Integers
    loads_f: Array
    uses_start: Integers
    uses_i: Integers
    uses_f: Array
    friction_speed: float
    driven: Integers


class IterationArrays(NamedTuple):
    """Iteration matrix [[M̂, Φ_qᵀ], [Φ_q, -ε]]: positions of its entries.

    solid_mass, solid_inertia : M of the frames, with zero directions filled unless elements provide mass
    of_elements   : (frames,) whether elements provide mass
    turned        : whether displacements are in frame axes, so that the factor is valid for many steps; otherwise they
                    are in world axes
    at_body       : (bodies, d, d) positions of the entries of M̂
    at_term       : (terms, 2, d) positions of the entries of Φ_q: of the terms of its rows, on their two bodies
    at_multiplier : (multipliers,)
    links         : (n, 5) measure, two ends (term and side) of measures with force models; at_link : (n, d, d)
                    positions of the contribution of both ends to M̂. An end on the ground has none
    """

    solid_mass: Array
    solid_inertia: Array
    of_elements: NDArray[np.bool_]
    turned: bool
    at_body: Integers
    at_term: Integers
    at_multiplier: Integers
    links: Integers
    at_link: Integers


MEASURE, TERM, SIDE, OTHER_TERM, OTHER_SIDE = range(5)  # columns of links


class StepProblem(NamedTuple):
    """Arguments of kernels that compute steps."""

    system: SystemArrays
    iteration: IterationArrays
    pattern: Pattern


class Elements(NamedTuple):
    """Elastic elements between frames, empty if there are none; see `SystemArrays`."""

    beams: BeamArrays
    superelements: SuperelementArrays
    drives: YieldingDriveArrays


class Absolute(NamedTuple):
    """A mechanism ready for simulation; yields : springs and dampers of drives along measures."""

    rest: Rest
    system: SystemArrays
    iteration: IterationArrays
    pattern: Pattern
    frames: Frames
    elements: Elements
    yields: tuple[Yield, ...] = ()

    @property
    def steps(self) -> StepProblem:
        return StepProblem(self.system, self.iteration, self.pattern)

    @property
    def centers(self) -> Array:
        """Positions (F + 1, 3) of frames on their bodies, in body axes: for rigid ones the centre of mass."""
        return self.frames.place

    @property
    def elastic(self) -> bool:
        """Whether a body or a joint is elastic."""
        return self.frames.elastic or bool(self.system.compliance.any())


def absolute(
    rest: Rest,
    driven: tuple[int, ...] = (),
    friction_speed: float = 1e-3,
    *,
    rigid: bool = False,
    yields: tuple[Yield, ...] = (),
) -> Absolute:
    """Return the mechanism in absolute coordinates, with the coordinates of these numbers prescribed.

    rigid  : treat elastic parts as rigid
    yields : springs and dampers of drives, along measures
    """
    key = f"absolute {driven} {friction_speed} {rigid} {yields}"
    return rest.numbering.mechanism.compute_once(key, lambda: _make(rest, driven, friction_speed, rigid, yields))


def _make(
    rest: Rest, driven: tuple[int, ...], friction_speed: float, rigid: bool, yields: tuple[Yield, ...]
) -> Absolute:
    numbering, arrays = rest.numbering, with_yields(get_coefficients(rest).arrays, rest.numbering.constraints, yields)
    frames = frames_of(numbering, rigid)
    own = frames.own
    soft = yielding_rows(numbering, rigid=rigid)
    compliance, lag = _softness(numbering.mechanism, soft.soft, numbering.constraints)
    alpha = mass_damping_factor(numbering.mechanism) if frames.elastic or compliance.any() else 0.0
    drives = drive_arrays(frames.drives, frames.held, len(frames.held.sizes) - 1)
    if frames.drives:
        law, extra = time_damping(numbering.mechanism), np.zeros(len(drives.stiffness))
        extra[: len(frames.drives)] = [law.beside(item.joint) for item in frames.drives]
        drives = drives._replace(damping=drives.damping + extra * drives.stiffness)
    rows, ties = _append_ties(
        with_deflections(
            frames.rows(numbering.arrays._replace(rows_i=soft.rows_i, rows_f=soft.rows_f)),
            numbering, frames.drives, drives, frames.count, soft.soft,
        ),
        frames,
    )  # fmt: skip
    system = SystemArrays(
        rows, own.mass, own.inertia, np.flatnonzero(own.arm.any(axis=1)), own.arm,
        gravity_of(numbering), alpha, _by_mass(frames, alpha), compliance, lag, None, None, None,
        *_loads(frames, arrays),
        arrays.uses_start, arrays.uses_i, arrays.uses_f, float(friction_speed),
        np.concatenate([np.array([numbering.constraints + i for i in driven], dtype=np.int64), ties]),
    )  # fmt: skip
    elements = Elements(frame_beams(frames), frame_superelements(frames), drives)
    elements, iteration, pattern = _iteration(system, elements, numbering.constraints, frames.least)
    return Absolute(rest, with_elements(system, elements), iteration, pattern, frames, elements, yields)


def _by_mass(frames: Frames, alpha: float) -> MassDamping | None:
    """Return the mass-proportional damping of the mechanism or of the materials of its elements; None without it."""
    law, arrays = time_damping(frames.numbering.mechanism), frames.numbering.arrays
    of_elements = frames.elastic and any(own > 0.0 for own, _ in law.materials.values())
    if alpha == 0.0 and not of_elements:
        return None
    return MassDamping(alpha, arrays, frames.rows(arrays), frames.body, frames.lead)


def with_elements(system: SystemArrays, elements: Elements) -> SystemArrays:
    """Return the equations with these elements, by kind."""
    return system._replace(
        beams=elements.beams if len(elements.beams.frames) else None,
        superelements=elements.superelements if len(elements.superelements.frame) else None,
        drives=elements.drives if len(elements.drives.frame) else None,
    )


def _append_ties(rows: RowArrays, frames: Frames) -> tuple[RowArrays, Integers]:
    """Return the rows followed by those of superelements and stored coordinates, and the numbers of the latter."""
    planar, ground = frames.held.held == 2, frames.count
    added = still_rows(frames.held, ground, rows.extent)
    for item in frames.superelements:
        added += tie_rows(item, ground, rows.extent, planar)
    heads, at = [], len(rows.rows_i)
    for row in added:
        heads.append(at)
        for place, (integers, _) in enumerate(row[:-1]):
            integers[THEN] = at + place + 1
        at += len(row)
    if added:
        terms = [item for row in added for item in row]
        rows = rows._replace(
            rows_i=np.vstack([rows.rows_i, *(item.integers for item in terms)]),
            rows_f=np.vstack([rows.rows_f, *(item.numbers for item in terms)]),
        )
    return rows, np.array(heads, dtype=np.int64)


def gravity_of(numbering: Numbering) -> Array:
    """Return the gravity (3,), m/s², default zero."""
    given = numbering.mechanism.gravity
    return np.zeros(3) if given is None else np.asarray(numbering.drawing.vector(given, ("gravity",), "gravity"), float)


def _softness(mechanism: Mechanism, soft: dict[int, SoftRow], constraints: int) -> tuple[Array, Array]:
    """Return 1/k, and c/k with β of the mechanism, of the rows of elastic joints and couplings; zero for others."""
    compliance, lag = np.zeros(constraints), np.zeros(constraints)
    for row, yields in soft.items():
        compliance[row] = 1.0 / yields.stiffness
        lag[row] = yields.damping * compliance[row] + time_damping(mechanism).beside(yields.part)
    return compliance, lag


def _loads(frames: Frames, arrays: CoefficientArrays) -> tuple[Integers, Array]:
    """Return the weight of the frames, without elements, followed by the applied loads."""
    numbering, own = frames.numbering, frames.own
    applied = len(numbering.bodies) if numbering.mechanism.gravity is not None else 0
    loads_i, loads_f = frames.loads(arrays.loads_i[applied:], arrays.loads_f[applied:], BODY, AT_POINT)
    heavy = np.flatnonzero(own.mass > 0.0) if applied else np.zeros(0, np.int64)
    weights = np.column_stack(
        [own.arm[heavy], own.mass[heavy, None] * gravity_of(numbering), np.zeros((len(heavy), 3))]
    )
    return (
        np.concatenate([np.column_stack([heavy, np.zeros_like(heavy)]), loads_i]).astype(np.int64),
        np.concatenate([weights, loads_f]),
    )


class _End(NamedTuple):
    """A frame on which a row acts by one of its terms."""

    term: int
    side: int
    body: int


def _ends(system: SystemArrays, row: int) -> list[_End]:
    """Return the frames on which a row acts, without the ground: two, or more with several terms."""
    rows_i, ground = system.rows.rows_i, len(system.mass)
    both = [_End(term, side, int(rows_i[term, (A, B)[side]])) for term in terms(system.rows, row) for side in (0, 1)]
    return [end for end in both if end.body != ground]


def _iteration(
    system: SystemArrays, elements: Elements, constraints: int, least: Array
) -> tuple[Elements, IterationArrays, Pattern]:
    """Return the layout of the iteration matrix; elements receive the positions of their entries."""
    bodies, d = len(system.mass), len(system.rows.column)
    rows = [*range(constraints), *system.driven.tolist()]
    columns = bodies * d
    acted = [
        measure
        for measure in range(len(system.uses_start) - 1)
        if (system.uses_i[system.uses_start[measure] : system.uses_start[measure + 1], ROLE] == LAW).any()
        or (system.mass_damping is not None and measure < system.mass_damping.rows.sizes[COORDINATES])
    ]
    links = [
        (measure, one, other)
        for measure in acted
        for one, other in combinations_with_replacement(_ends(system, constraints + measure), 2)
    ]
    held = [(i, end) for i, row in enumerate(rows) for end in _ends(system, row)]

    def degrees(frames: Integers) -> Integers:
        """Return the degrees of freedom (..., frames, d) of frames (..., frames)."""
        return np.asarray(frames, dtype=np.int64)[..., None] * d + np.arange(d)

    of_frames = degrees(np.arange(bodies))
    of_elements = degrees(elements.beams.frames).reshape(len(elements.beams.frames), 2 * d)
    one_end = degrees(np.array([one.body for _, one, _ in links], dtype=np.int64))
    other_end = degrees(np.array([other.body for _, _, other in links], dtype=np.int64))
    floating = [
        (e, elements.superelements.columns[e, : d + n]) for e, n in enumerate(elements.superelements.coordinates)
    ]
    of_drives = elements.drives.frame * d + elements.drives.position
    of_rows = columns + np.array([i for i, _ in held], dtype=np.int64)
    on_rows = degrees(np.array([end.body for _, end in held], dtype=np.int64))
    blocks = [
        (of_frames[:, :, None], of_frames[:, None, :]),
        (of_elements[:, :, None], of_elements[:, None, :]),
        (one_end[:, :, None], other_end[:, None, :]),
        (of_rows[:, None], on_rows),
        *((own[:, None], own[None, :]) for _, own in floating),
    ]
    spread = [np.broadcast_arrays(one, other) for one, other in blocks]
    entries = [np.concatenate([pair[k].ravel() for pair in spread]) for k in (0, 1)]
    pattern, places = pattern_of(columns + len(rows), *entries)
    at_body, at_element, at_link, at_row = (places.of(*pair) for pair in spread[:4])
    at_floating = elements.superelements.places.copy()
    for e, own in floating:
        at_floating[e, : len(own), : len(own)] = places.of(*np.broadcast_arrays(own[:, None], own[None, :]))
    at_term = np.full((len(system.rows.rows_i), 2, d), -1, dtype=np.int64)
    for place, (_, end) in zip(at_row, held, strict=True):
        at_term[end.term, end.side] = place
    multipliers = columns + np.arange(len(rows))
    carried_by_elements = np.isin(np.arange(bodies), [*elements.beams.frames.ravel(), *elements.drives.frame])
    for _, own in floating:
        carried_by_elements[own // d] = True
    iteration = IterationArrays(
        *_fill_masses(system, carried_by_elements, least),
        carried_by_elements,
        bool(carried_by_elements.any() or system.compliance.any()),
        at_body,
        at_term,
        places.of(multipliers, multipliers),
        np.array([(m, one.term, one.side, other.term, other.side) for m, one, other in links], np.int64).reshape(-1, 5),
        at_link,
    )
    placed = Elements(
        beams=elements.beams._replace(places=at_element),
        superelements=elements.superelements._replace(places=at_floating),
        drives=elements.drives._replace(places=places.of(of_drives, of_drives)),
    )
    return placed, iteration, pattern


def _fill_masses(system: SystemArrays, of_elements: NDArray[np.bool_], light: Array) -> tuple[Array, Array]:
    """Return masses and inertias with (nearly) zero values filled, except where elements have mass."""
    rigid = system.mass[~of_elements]
    largest = float(rigid.max()) if rigid.max(initial=0.0) > 0.0 else 1.0
    fill = np.where(light > 0.0, light, _FILLED * largest)
    mass = np.where(of_elements, system.mass, np.maximum(system.mass, fill))
    inertia = system.inertia.copy()
    inertia[light > 0.0] = light[light > 0.0, None, None] * system.rows.extent**2 * np.eye(3)
    for b in np.flatnonzero(~of_elements & (light == 0.0)):
        moments, axes = np.linalg.eigh(system.inertia[b])
        least = _FILLED * max(float(moments.max()), _FILLED * mass[b] * system.rows.extent**2)
        inertia[b] = axes @ np.diag(np.maximum(moments, least)) @ axes.T
    return mass, inertia


# The beam elements and superelements of a mechanism between its frames, with the damping that its description gives
# them.


def frame_beams(frames: Frames) -> BeamArrays:
    """Return the beams of all bodies."""
    numbering = frames.numbering
    mechanism = numbering.mechanism
    found = []
    for first, mesh in zip(frames.first, frames.meshes, strict=False):
        if mesh is None:
            continue
        meshed = meshed_beams(numbering.drawing, mesh.name)
        damping = time_damping(mechanism)
        alpha, beta = np.array([damping.of(beam.material) for beam in mechanism.bodies[mesh.name].all_beams]).T
        found.append(BodyBeams(meshed.spans, meshed.mesh, int(first), alpha, beta))
    return beam_arrays(found, mechanism.planar)


def frame_superelements(frames: Frames) -> SuperelementArrays:
    """Return the superelements of all bodies; mass-proportional damping is that of the mechanism (`SystemArrays`)."""
    mechanism = frames.numbering.mechanism
    beta = time_damping(mechanism).whole[1] if frames.superelements else 0.0
    placed = [item._replace(damping=beta * item.body.K) for item in frames.superelements]
    return superelement_arrays(placed, mechanism.planar)


# Rows that tie the touched nodes of a superelement to its floating frame and its coordinates.
#
#     e_k·Rᵀ(x_i - r) - e_k·X_i = S_ik q,  ½ (Rᵀ R_i - R_iᵀ R)ᵛ = S_φi q  (docs/theory/superelements-in-motion.md, 2)
#
# Both are sums of measures that joints are made of: places along the axes of the floating frame, products of directions
# (in the plane the angle), and positions of the frames that hold q. The second is the sine of the turn along its axis:
# a small rotation to third order, objective, and smooth.


_AXES = np.eye(3)


def tie_rows(item: PlacedBody, ground: int, extent: float, planar: bool) -> list[list[RowTerm]]:
    """Return the rows of every node: three along axes and three about them, in the plane two and one."""
    body, held = item.body, 2 if planar else 3
    found = []
    for node in range(len(body.nodes)):
        at = item.nodes + node
        for k in (0, 1, 5) if planar else range(6):
            if k < 3:
                along = term(ALONG, item.frame, at, 1.0, extent)
                along.numbers[U : U + 3] = _AXES[k]
                along.numbers[PA : PA + 3] = body.nodes[node] - body.center
                row, scale = [along], extent
            else:
                row, scale = turn_about(k - 3, item.frame, at, planar), 1.0
            for i in np.flatnonzero(body.shapes[node, k]).tolist():
                where = (item.first + i // held, i % held)
                row.append(coordinate(where, ground, -float(body.shapes[node, k, i]), scale))
            found.append(row)
    return found
