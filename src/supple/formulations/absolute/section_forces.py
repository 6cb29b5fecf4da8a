"""Section forces and moments of beams along a motion of the full model, and the strain energy of every elastic part.

At the ends of an element they are the forces of its nodes (flexible-motion, section forces), including inertia and
weight over its length. At a node between two elements of a beam the mean of both sides is used; they differ by the
loads on the node itself. Within an element forces change linearly from end to end, and moments with them,

    M_y' = Q_z,   M_z' = -Q_y                                              (docs/theory/superelements-in-motion.md, 12)

which is exact for loads that are constant or linear along it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.description.elastic.placed_beam import placed_beams
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.absolute.beams.beam_arrays import ALPHA
from supple.formulations.absolute.beams.element_work import ENDS, STRAIN_ENERGY, element_work
from supple.formulations.absolute.beams.planar_element import planar_element
from supple.formulations.absolute.beams.space_element import space_element
from supple.formulations.absolute.system import Absolute
from supple.formulations.absolute.time_damping import deformation_velocity_batch
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import row_value

# Forces and moments in the sections at both ends of every beam element.
#
# They are what the nodes do to the ends, with gravity and inertia of the element's own length in the balance, so that
# they pass from element to element without a jump where nothing acts on the node, and end in the reaction.


NORMAL, SHEAR_Y, SHEAR_Z, TWIST, BEND_Y, BEND_Z = range(6)


@kernel
def section_forces(beams, gravity, X, V, acceleration, Q, out, strain):
    """Write (N, Q_y, Q_z, M_x, M_y, M_z) on the section that faces along the element to out (e, 2, 6), in element axes.

    Strain energies are written to strain (e,). In the plane y is across the element and z is the normal of the plane.
    Q : (frames, d) is overwritten.
    """
    count, width = beams.frames.shape[0], beams.coupled.shape[0]
    d = width // 2
    work = element_work(X)
    for n in range(count):
        if d == 3:
            planar_element(beams, n, gravity, X, V, acceleration, work, Q)
        else:
            space_element(beams, n, gravity, X, V, acceleration, work, Q)
        strain[n] = work[STRAIN_ENERGY]
        for end in range(2):
            for c in range(6):
                out[n, end, c] = 0.0
            for c in range(d):
                place = BEND_Z if d == 3 and c == 2 else c
                out[n, end, place] = (2.0 * end - 1.0) * work[ENDS + end * d + c]


IN_SPACE = {"N": NORMAL, "Qy": SHEAR_Y, "Qz": SHEAR_Z, "T": TWIST, "My": BEND_Y, "Mz": BEND_Z}
IN_PLANE = {"N": NORMAL, "Q": SHEAR_Y, "M": BEND_Z}
_NO_TURNS = np.zeros(0)  # joints hold no angle beyond a turn
_NEAR = 1e-6  # of a beam's length: closer is at it


class BeamPlace(NamedTuple):
    """A point on a beam: number of the body, of the beam on it (from 0), and fraction t of the beam's length."""

    body: int
    beam: int
    t: float


def beam_place(numbering: Numbering, body: str, place: str | float, beam: int | None) -> BeamPlace:
    """Return the point on the beams of a body for a fraction of a beam's length, or a name; beam : number from 1."""
    beams = placed_beams(numbering.drawing, body) if body in numbering.bodies else ()
    part = part_name(("bodies", body))
    if not beams:
        raise InputError("has no beams, so it has no sections", part=part, hint="name a body that is made of beams")
    if beam is not None and not 1 <= beam <= len(beams):
        raise InputError(f"unknown beam {beam}", part=part, hint=f"the body has beams 1 to {len(beams)}")
    asked = range(len(beams)) if beam is None else [beam - 1]
    if not isinstance(place, str):
        if not 0.0 <= place <= 1.0:
            raise InputError(
                f"the fraction of a beam must be 0 to 1 (got {place:g})", part=part, hint="or name a point"
            )
        touching = {number: float(place) for number in asked}
    else:
        at = numbering.drawing.on_body(body, place, ("bodies", body))
        found = {number: beams[number].fraction(at) for number in asked}
        touching = {number: t for number, t in found.items() if t is not None}
    if len(touching) != 1:
        listed = ", ".join(str(number + 1) for number in touching)
        where = f"on beams {listed}" if touching else "on none of its beams"
        raise InputError(
            f"{place} is {where}", part=part, hint="select one: beam=1" if touching else "move it onto a beam"
        )
    number, t = next(iter(touching.items()))
    return BeamPlace(numbering.body_index(body), number, t)


class EndForces(NamedTuple):
    """Forces and moments (N, e, 2, 6) at both ends of all beam elements, and strain energies (N, e), at N states."""

    ends: Array
    strain: Array


def end_forces(problem: Absolute, X: Array, V: Array, acceleration: Array) -> EndForces:
    """Compute end forces at N states: X (N, frames + 1, 12), V and v̇ (N, frames, d)."""
    count, elements = len(X), len(problem.elements.beams.frames)
    found = EndForces(np.zeros((count, elements, 2, 6)), np.zeros((count, elements)))
    if elements:
        beams, gravity = problem.elements.beams, problem.system.gravity
        moving = (
            deformation_velocity_batch(problem, X, V) if problem.system.mass_damping is not None else np.zeros_like(V)
        )
        for own in np.unique(beams.numbers[:, ALPHA]):  # damping in proportion to mass is a load, as inertia is
            felt = acceleration + (problem.system.alpha + own) * moving
            part = EndForces(np.zeros_like(found.ends), np.zeros_like(found.strain))
            compile_kernel(end_batch, count=count)(beams, gravity, X, V, felt, part)
            chosen = beams.numbers[:, ALPHA] == own
            found.ends[:, chosen], found.strain[:, chosen] = part.ends[:, chosen], part.strain[:, chosen]
    return found


def section_at(problem: Absolute, ends: Array, place: BeamPlace) -> Array:
    """Return `section_forces` (N, 6) at a point, from the forces at the ends of all elements."""
    frames = problem.frames
    mesh = frames.meshes[place.body]
    if mesh is None:
        name = frames.numbering.bodies[place.body]
        raise InputError(
            "this body was treated as rigid", part=part_name(("bodies", name)), hint="simulate without rigid=True"
        )
    before = sum(len(item.elements) for item in frames.meshes[: place.body] if item is not None)
    beam = placed_beams(frames.numbering.drawing, mesh.name)[place.beam]
    own = np.flatnonzero(mesh.beams == place.beam)
    way = beam.ends[1] - beam.ends[0]
    t = (mesh.ends[own] - beam.ends[0]) @ way / beam.length**2  # (k, 2)
    holds = np.flatnonzero((t[:, 0] - _NEAR <= place.t) & (place.t <= t[:, 1] + _NEAR))
    sides = [_within(ends[:, before + own[i]], t[i] * beam.length, place.t * beam.length) for i in holds]
    return np.asarray(np.mean(sides, axis=0))


def _within(ends: Array, span: Array, s: float) -> Array:
    """Return the forces (N, 6) at s of an element from span[0] to span[1], from both its ends (N, 2, 6)."""
    length = span[1] - span[0]
    x = min(max((s - span[0]) / length, 0.0), 1.0)
    found = (1.0 - x) * ends[:, 0] + x * ends[:, 1]
    for moment, shear, sign in ((BEND_Y, SHEAR_Z, 1.0), (BEND_Z, SHEAR_Y, -1.0)):
        slopes = sign * length * ends[:, :, shear]
        rise = ends[:, 1, moment] - ends[:, 0, moment]
        found[:, moment] += x * (1.0 - x) * ((1.0 - x) * (slopes[:, 0] - rise) - x * (slopes[:, 1] - rise))
    return found


def strain_energies(problem: Absolute, X: Array, strain: Array) -> dict[str, Array]:
    """Return the strain energy of every elastic body (N,), J, followed by elastic joints and drives."""
    frames, names = problem.frames, problem.rest.numbering.bodies
    found: dict[str, Array] = {}
    at = 0
    for name, mesh in zip(names, frames.meshes, strict=True):
        if mesh is not None:
            found[name] = strain[:, at : at + len(mesh.elements)].sum(axis=1)
            at += len(mesh.elements)
    held = frames.held
    for group, item in enumerate(frames.superelements):
        q = _read_stored(X, held.first[group], item.body.size, held.held)
        found[item.body.name] = 0.5 * np.einsum("ni,ij,nj->n", q, item.body.K, q)
    for i, drive in enumerate(frames.drives):
        frame, position = held.at(len(held.sizes) - 1, i)
        found[drive.joint] = found.get(drive.joint, 0.0) + 0.5 * drive.stiffness * X[:, frame, position] ** 2
    for name, energy in _joints(problem, X).items():
        found[name] = found.get(name, 0.0) + energy
    return found


def _joints(problem: Absolute, X: Array) -> dict[str, Array]:
    """Return ½ k Φ² of elastic joints."""
    rows, compliance = problem.system.rows, problem.system.compliance
    found: dict[str, Array] = {}
    for name, own in problem.rest.numbering.joint_rows.items():
        for row in range(own.start, own.stop):
            if compliance[row] > 0.0:
                away = np.array([row_value(rows.rows_i, rows.rows_f, row, x, _NO_TURNS) for x in X])
                found[name] = found.get(name, 0.0) + 0.5 * away**2 / compliance[row]
    return found


def _read_stored(X: Array, first: int, size: int, held: int) -> Array:
    """Return stored coordinates (N, size)."""
    number = np.arange(size)
    return X[:, first + number // held, number % held]


@kernel(purpose="section forces of beams")
def end_batch(beams, gravity, X_all, V_all, acceleration_all, found):
    """Compute forces at the ends of all elements at every state."""
    Q = np.zeros(V_all.shape[1:])
    for n in range(X_all.shape[0]):
        section_forces(beams, gravity, X_all[n], V_all[n], acceleration_all[n], Q, found.ends[n], found.strain[n])
