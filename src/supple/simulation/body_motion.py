"""Motion of all bodies of a mechanism over time, and the signals that follow from it: outputs, reactions, energy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import GROUND
from supple.diagnostics import require_known
from supple.equations.forces import dry_friction
from supple.equations.row import EffortMotion, effort_factors, effort_places
from supple.formats.mechanism_text import to_yaml
from supple.formulations.absolute.instant import Instant, friction_rows, instant
from supple.formulations.absolute.march import KINETIC, POTENTIAL, WORK
from supple.formulations.absolute.measured import measure_rates, measured_accelerations, measured_rates
from supple.formulations.absolute.reaction import Reaction, reaction_of
from supple.formulations.absolute.section_forces import (
    IN_PLANE,
    IN_SPACE,
    EndForces,
    beam_place,
    end_forces,
    section_at,
    strain_energies,
)
from supple.formulations.absolute.system import Absolute
from supple.formulations.coefficients import get_coefficients, units_of
from supple.formulations.efforts import section_of
from supple.formulations.elastic.cut import cut_at
from supple.formulations.elastic_rest.elastic_rest import rigid_rest
from supple.kinematics.configuration import Configuration, Deformed, FramePose
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.measures import key_of
from supple.kinematics.motion import BodyRates, FrameMotion
from supple.parameterization.effort_columns import effort_columns
from supple.results.signals import Signals, label_signals
from supple.results.simulation import energy_defect
from supple.results.units import assign_units, rate_unit
from supple.time_functions.polynomial_pieces import PolynomialPieces

# Internal forces of a mechanism along a motion of the full equations: outputs of reaction and section sensors.


class FullMotion(NamedTuple):
    """N states of all frames with their accelerations and multipliers, measures w (N, ...) and inputs u (N, a)."""

    X: Array
    V: Array
    acceleration: Array
    multipliers: Array
    w: Array
    u: Array


def inner_forces(problem: Absolute, moving: FullMotion) -> Array:
    """Return the internal forces (N, efforts), in the order of `Carried.efforts`."""
    load, mechanism = get_coefficients(problem.rest), problem.rest.numbering.mechanism
    found = np.zeros((len(moving.X), len(load.efforts)))
    known: dict[str, Array] = {}
    for sensor in dict.fromkeys(item.sensor for item in load.efforts):
        kind = mechanism.sensors[sensor].record.inside
        known[sensor] = (_reaction if kind == "reaction" else _section)(problem, moving, sensor)
    for i, item in enumerate(load.efforts):
        found[:, i] = known[item.sensor][:, item.component]
    return found


def _reaction(problem: Absolute, moving: FullMotion, sensor: str) -> Array:
    """Return force and moment (N, 6) of a joint on its second body, in axes of the drawing or of that body."""
    numbering = problem.rest.numbering
    described = numbering.mechanism.sensors[sensor]
    P = numbering.mechanism.plane_axes()
    found = [part @ P for part in reaction_of(problem, moving.X, moving.multipliers, described.kind_value)]
    second = numbering.mechanism.joints[described.kind_value].bodies[1]
    if described.own_axes and second != GROUND:
        frame = problem.frames.at(
            numbering.body_index(second), joint_frames(numbering.drawing, described.kind_value).pb
        )
        R = moving.X[:, frame, 3:].reshape(-1, 3, 3)
        found = [np.einsum("nji,nj->ni", R, part) for part in found]
    return np.hstack(found)


def _section(problem: Absolute, moving: FullMotion, sensor: str) -> Array:
    """Return force and moment (N, 6) in a section: at the end of an element, or of a rigid body by its balance."""
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
    """Return the section forces from the coefficients of the rigid mechanism (docs/theory/outputs.md)."""
    position = problem.rest
    numbering, load = position.numbering, get_coefficients(position)
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


# Motion recorded by a march.


_STILL = 1e-6  # extents/s: lower speeds are rounding of positions over a step


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """Record of a march through the DAE at times (N,), and the signals that follow from it.

    forces   : of the inputs, over time
    courses  : breaks, and accelerations of the prescribed coordinates there
    X, V, acceleration : (N, frames + 1, 12), (N, frames, d) twice, of the frames; multipliers : (N, rows)
    w        : (N, measures); energies : (N, 7) as recorded by `march`
    """

    problem: Absolute
    time: Array
    forces: PolynomialPieces
    courses: tuple[Array, Array]
    X: Array
    V: Array
    acceleration: Array
    multipliers: Array
    w: Array
    energies: Array

    @property
    def origin(self) -> dict[str, str]:
        """Source of the run: `mechanism`, the text of its file."""
        return {"mechanism": to_yaml(self.problem.rest.numbering.mechanism)}

    @property
    def energy_defect(self) -> float:
        """Error of the energy balance, as a fraction of the exchanged energy."""
        return defect_of(self.problem, self.energies)

    @cached_property
    def configuration(self) -> Configuration:
        """All positions as a batch of configurations. An elastic body has the pose of the node next to its origin."""
        s = len(self.problem.rest.numbering.coordinates)
        frames, reached = self.problem.frames, np.ones(len(self.time))
        deformed = Deformed(frames, self.X) if self.problem.elastic else None
        return Configuration(self.problem.rest, self.w[:, :s], frames.bodies(self.X), self.w, reached, deformed)

    @cached_property
    def motion(self) -> BodyRates:
        """All velocities and accelerations; for elastic bodies those of the same nodes."""
        return BodyRates(self.configuration, *self._body_motion(self.problem.frames.lead))

    def _body_motion(self, lead: NDArray[np.int64]) -> tuple[Array, Array]:
        """Return twists and their rates (N, n, 6) of bodies that these frames carry, at the bodies' origins.

        They are in the axes of the bodies.
        """
        count, frames, _ = self.V.shape
        V, dV = np.zeros((count, frames + 1, 6)), np.zeros((count, frames + 1, 6))
        column = self.problem.system.rows.column
        V[:, :-1, column], dV[:, :-1, column] = self.V, self.acceleration
        V, dV, c = V[:, lead], dV[:, lead], self.problem.frames.place[lead]
        R = self.X[:, lead, 3:].reshape(count, len(lead), 3, 3)
        # From the frame, in the world, to the body's origin, in its axes.
        turn = V[..., 3:]
        v = np.einsum("nbji,nbj->nbi", R, V[..., :3])
        a = np.einsum("nbji,nbj->nbi", R, dV[..., :3])
        V[..., :3] = v - np.cross(turn, c)
        dV[..., :3] = a - np.cross(turn, v) - np.cross(dV[..., 3:], c)
        return V, dV

    def frame_motion(self, name: str) -> FrameMotion:
        """Return the motion of a body, a frame, `body.point` or a joint's point.

        On an elastic body it is the motion of the node that carries the point, or of the nearest node.
        """
        frames, (body, place, _) = self.problem.frames, self.problem.rest.numbering.place(name)
        lead = frames.nearest(body, place)
        V, dV, X = self.motion.V.copy(), self.motion.dV.copy(), self.configuration.X.copy()
        here, there = self._body_motion(np.array([lead]))
        V[:, body], dV[:, body], X[:, body, 3:] = here[:, 0], there[:, 0], self.X[:, lead, 3:]
        return BodyRates(replace(self.configuration, X=X), V, dV).frame(name)

    def nodes(self, body: str) -> FramePose:
        """Return positions (N, nodes, 3) and rotations (N, nodes, 3, 3) of the nodes of an elastic body."""
        frames, numbering = self.problem.frames, self.problem.rest.numbering
        require_known("body", body, numbering.bodies)
        number = numbering.body_index(body)
        X = self.X[:, frames.first[number] : frames.first[number + 1]]
        if frames.floating[number] is not None:  # whose first frame is no node
            X = X[:, 1:]
        P = numbering.mechanism.plane_axes()
        return FramePose(X[..., :3] @ P.T, P @ X[..., 3:].reshape(*X.shape[:-1], 3, 3) @ P.T)

    @property
    def coordinates(self) -> Signals:
        """θ over time."""
        units = units_of(self.problem.rest).coordinates
        return label_signals(self.time, units, self.w, units)

    @property
    def rates(self) -> Signals:
        """θ̇ over time."""
        numbering = self.problem.rest.numbering
        first = numbering.constraints
        rows = {name: first + i for i, name in enumerate(numbering.coordinates)}
        return Signals(self.time, self._rates(rows), units_of(self.problem.rest).rates)

    @cached_property
    def accelerations(self) -> Signals:
        """θ̈ = ∇θ·v̇ + d(∇θ)/dt·v over time."""
        numbering = self.problem.rest.numbering
        names = numbering.coordinates
        rows = [numbering.constraints + i for i in range(len(names))]
        found = measured_accelerations(self.problem, self.X, self.V, self.acceleration, rows)
        return label_signals(self.time, names, found, units_of(self.problem.rest).accelerations)

    @property
    def joint_coordinates(self) -> Signals:
        """All joint coordinates."""
        numbering = self.problem.rest.numbering
        turns = [numbering.angles()[row] for key, row in numbering.measures.items() if key[0] == "joint"]
        values = self.configuration.joint_coordinates
        return Signals(self.time, dict(values), assign_units(values, turns))

    @property
    def outputs(self) -> Signals:
        """Outputs of the sensors."""
        found = get_coefficients(self.problem.rest).observation.values(self._output_quantities)
        names = units_of(self.problem.rest).outputs
        return label_signals(self.time, names, found, names)

    @cached_property
    def _output_quantities(self) -> Array:
        """Values, rates and second rates (3, N, measures and efforts) of the quantities in outputs.

        Second rates are those of the equations at the instant: the accelerations that the method carries from step to
        step satisfy the constraints only after its own transients.
        """
        load, first = get_coefficients(self.problem.rest), self.problem.rest.numbering.constraints
        rows = list(load.measured.values())
        values = self.w[:, [row - first for row in rows]]
        found = np.stack([values, np.zeros_like(values), np.zeros_like(values)])
        if load.observation.order:
            acceleration = self.instant.acceleration if load.observation.order > 1 else self.acceleration
            found[1:] = measure_rates(self.problem, self.X, self.V, acceleration, rows)
        if not load.efforts:
            return found
        u = np.stack(list(self.inputs.values()), axis=1) if len(self.inputs) else np.zeros((len(self.time), 0))
        forces = inner_forces(self.problem, FullMotion(self.X, self.V, *self.instant, self.w, u))
        return np.concatenate([found, np.stack([forces, np.zeros_like(forces), np.zeros_like(forces)])], axis=-1)

    @property
    def output_rates(self) -> Signals:
        """Rates of the outputs that are single measures."""
        rows, known = get_coefficients(self.problem.rest).outputs, units_of(self.problem.rest).outputs
        return Signals(self.time, self._rates(rows), {name: rate_unit(known[name]) for name in rows})

    def _rates(self, rows: dict[str, int]) -> dict[str, Array]:
        rates = measured_rates(self.problem, self.X, self.V, list(rows.values()))
        return {name: rates[:, i] for i, name in enumerate(rows)}

    @cached_property
    def _pushes(self) -> Array:
        """Input forces (N, a) from their course; for compliant drives without their springs and dampers."""
        return self.forces.at(self.time)

    @property
    def inputs(self) -> Signals:
        """Forces of the actuators; at jumps of held forces, the values from then on."""
        numbering, values = self.problem.rest.numbering, self._pushes.copy()
        mechanism = numbering.mechanism
        rows = [numbering.measures[key_of(mechanism, actuator)] for actuator in mechanism.actuators.values()]
        for held in self.problem.yields:
            rate = measured_rates(self.problem, self.X, self.V, [held.row])[:, 0]
            away = self.w[:, held.row - numbering.constraints] - held.relaxed
            values[:, rows.index(held.row)] -= held.stiffness * away + held.damping * rate
        return label_signals(self.time, mechanism.actuators, values, units_of(self.problem.rest).inputs)

    @property
    def energy(self) -> Signals:
        """Kinetic and potential energy, work done and dissipated, and the error of the balance.

        With deformation, the strain energy, which is part of the potential, is included. Work of the actuators, of the
        forces behind prescribed coordinates, and of loads without potential (moments and followers) is counted from
        the start.
        """
        kinetic, potential, strain, actuators, courses, dissipated, loads = self.energies.T
        values = {
            "kinetic": kinetic, "potential": potential, "total": kinetic + potential, "actuators": actuators,
            "prescribed": courses, "loads": loads, "lost": -dissipated, "balance": balance_of(self.energies),
        }  # fmt: skip
        if self.problem.elastic:
            values["strain"] = strain
        return Signals(self.time, values, dict.fromkeys(values, "J"))

    @cached_property
    def instant(self) -> Instant:
        """Accelerations and least multipliers from a rank-revealing solve at every result.

        With deformation they are those of the march: stiff elements would amplify errors of positions to forces.
        """
        if self.problem.elastic:
            return Instant(self.acceleration, self.multipliers)
        u = self._pushes
        breaks, accelerations = self.courses
        courses = [np.interp(self.time, breaks, column) for column in accelerations.T]
        along = np.stack(courses, axis=1) if courses else np.zeros((len(self.time), 0))
        return instant(self.problem, self.X, self.V, self.w, np.ascontiguousarray(u), along)

    @property
    def driving_forces(self) -> Signals:
        """Force or moment along each prescribed coordinate that produces its motion."""
        joints = self.problem.rest.numbering.constraints
        names = self.problem.rest.numbering.coordinates
        angle = self.problem.rest.numbering.angles()
        driven = {names[row - joints]: row for row in self.problem.system.driven if row - joints < len(names)}
        values = {name: self.instant.multipliers[:, joints + n] for n, name in enumerate(driven)}
        return Signals(self.time, values, {name: "N m" if angle[row] else "N" for name, row in driven.items()})

    @cached_property
    def _end_forces(self) -> EndForces:
        return end_forces(self.problem, self.X, self.V, self.acceleration)

    def section(self, body: str, place: str | float, beam: int | None = None) -> Signals:
        """Return section forces and moments of a beam at a point, see `Simulation.section`."""
        numbering = self.problem.rest.numbering
        found = section_at(self.problem, self._end_forces.ends, beam_place(numbering, body, place, beam))
        shown = IN_PLANE if numbering.mechanism.planar else IN_SPACE
        units = {letter: "N" if column < 3 else "N m" for letter, column in shown.items()}
        return Signals(self.time, {letter: found[:, column] for letter, column in shown.items()}, units)

    @property
    def strain_energy(self) -> Signals:
        """Strain energy of every body that deforms, and of joints that are elastic or have a drive."""
        values = strain_energies(self.problem, self.X, self._end_forces.strain)
        return Signals(self.time, values, dict.fromkeys(values, "J"))

    def reaction(self, joint: str) -> Reaction:
        """Return force and moment of a joint on its second body over time, about its point there, in the world.

        With redundant constraints, they are those of least norm, with moments divided by the mechanism's extent.
        """
        numbering = self.problem.rest.numbering
        require_known("joint", joint, numbering.joint_rows)
        return reaction_of(self.problem, self.X, self.instant.multipliers, joint)


def balance_of(energies: Array) -> Array:
    """Return T + V since the start minus all works, from energies (N, 7) as recorded by `march`."""
    total = energies[:, KINETIC] + energies[:, POTENTIAL]
    return np.asarray(total - total[:1] - energies[:, WORK:].sum(axis=1))


def defect_of(problem: Absolute, energies: Array) -> float:
    """Return the relative error of the balance of energies (N, 7)."""
    speed = _STILL * problem.rest.numbering.arrays.extent
    least = 0.5 * problem.frames.total_mass * speed**2
    kinetic, potential, works = energies[:, KINETIC], energies[:, POTENTIAL], energies[:, WORK:]
    return energy_defect(kinetic, potential, works, balance_of(energies), least)
