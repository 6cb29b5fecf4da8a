"""Forces inside a mechanism along a motion of the full equations: what sensors of reactions and sections see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import GROUND
from supple.equations.dry_friction import dry_friction
from supple.equations.effort_row import EffortMotion, effort_factors, effort_places
from supple.formulations.absolute.balance import friction_rows
from supple.formulations.absolute.measured import measure_rates
from supple.formulations.absolute.reaction import reaction_of
from supple.formulations.absolute.section_forces import end_forces
from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import carried
from supple.formulations.efforts import section_of
from supple.formulations.elastic.cut import cut_at
from supple.formulations.elastic_rest.elastic_rest import rigid_rest
from supple.kinematics.configuration import Configuration
from supple.kinematics.joint_frames import joint_frames
from supple.parameterization.effort_columns import effort_columns


class FullMotion(NamedTuple):
    """N states of all frames with their accelerations and multipliers, measures w (N, ...) and inputs u (N, a)."""

    X: Array
    V: Array
    acceleration: Array
    multipliers: Array
    w: Array
    u: Array


def inner_forces(problem: Absolute, moving: FullMotion) -> Array:
    """(N, efforts), in the order of `Carried.efforts`."""
    load, mechanism = carried(problem.rest), problem.rest.numbering.mechanism
    found = np.zeros((len(moving.X), len(load.efforts)))
    known: dict[str, Array] = {}
    for sensor in dict.fromkeys(item.sensor for item in load.efforts):
        kind = mechanism.sensors[sensor].record.inside
        known[sensor] = (_reaction if kind == "reaction" else _section)(problem, moving, sensor)
    for i, item in enumerate(load.efforts):
        found[:, i] = known[item.sensor][:, item.component]
    return found


def _reaction(problem: Absolute, moving: FullMotion, sensor: str) -> Array:
    """Force and moment (N, 6) of a joint on its second body, in axes of the drawing or of that body."""
    numbering = problem.rest.numbering
    described = numbering.mechanism.sensors[sensor]
    P = numbering.mechanism.plane_axes()
    found = [part @ P for part in reaction_of(problem, moving.X, moving.multipliers, described.said)]
    second = numbering.mechanism.joints[described.said].bodies[1]
    if described.own_axes and second != GROUND:
        frame = problem.frames.at(numbering.body_index(second), joint_frames(numbering.drawing, described.said).pb)
        R = moving.X[:, frame, 3:].reshape(-1, 3, 3)
        found = [np.einsum("nji,nj->ni", R, part) for part in found]
    return np.hstack(found)


def _section(problem: Absolute, moving: FullMotion, sensor: str) -> Array:
    """Force and moment (N, 6) in a section: at the end of an element, or of a rigid body by its balance."""
    numbering = problem.rest.numbering
    section = section_of(numbering.drawing, sensor)
    number = numbering.body_index(section.body)
    if problem.frames.meshes[number] is None:
        return _rigid_section(problem, moving, sensor)
    cut = cut_at(numbering, section, sensor)
    before = sum(len(mesh.elements) for mesh in problem.frames.meshes[:number] if mesh is not None)
    ends = end_forces(problem, moving.X, moving.V, moving.acceleration).ends
    return np.asarray(ends[:, before + cut.element, cut.end])


def _rigid_section(problem: Absolute, moving: FullMotion, sensor: str) -> Array:
    """By the coefficients of the rigid mechanism (docs/theory/outputs.md)."""
    position = problem.rest
    numbering, load = position.numbering, carried(position)
    s, first = len(numbering.coordinates), numbering.constraints
    rows = list(range(first, first + s))
    v, a = measure_rates(problem, moving.X, moving.V, moving.acceleration, rows)
    X = problem.frames.bodies(moving.X)
    here = Configuration(position, moving.w[:, :s], X, moving.w, np.ones(len(X)))
    columns = effort_columns(rigid_rest(numbering.mechanism), here)
    limits = np.array(list(load.dry_forces.values()), dtype=float)
    drag = np.zeros((len(X), len(limits)))
    if len(limits):
        rubbing = friction_rows(problem)
        slip, _ = measure_rates(problem, moving.X, moving.V, moving.acceleration, rubbing)
        drag = dry_friction(limits, slip, problem.system.friction_speed)[0]
    places = effort_places(s, s, moving.u.shape[1], len(limits))
    factors = effort_factors(places, EffortMotion(np.zeros((len(X), 0)), moving.u, a, v, drag))
    forces = np.einsum("nek,nk->ne", columns, factors)
    found = np.zeros((len(X), 6))
    for i, item in enumerate(load.efforts):
        if item.sensor == sensor:
            found[:, item.component] = forces[:, i]
    return found
