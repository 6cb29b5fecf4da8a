"""The motion of all bodies of a mechanism over time, and what can be told from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError, nearest
from supple.formulations.absolute.balance import gradients
from supple.formulations.absolute.instant import Instant, equations, instant
from supple.formulations.absolute.reaction import Reaction, reaction_of
from supple.formulations.absolute.system import Absolute, absolute
from supple.formulations.coefficients import carried
from supple.formulations.measured_units import units_of
from supple.kinematics.configuration import Configuration
from supple.kinematics.motion import Motion
from supple.results.energy_account import energy_defect
from supple.results.signals import Signals, labelled
from supple.results.units import numbered, rate

Array = NDArray[np.float64]

_STILL = 1e-6  # extents/s: slower is the rounding of positions over a step


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """What a march through the DAE records at times (N,), and the signals that follow from it.

    forces   : breaks and coefficients of the piecewise linear inputs
    courses  : breaks, and accelerations of the prescribed coordinates there
    X, V, acceleration : (N, bodies + 1, 12), (N, bodies, d) twice, of the centres of mass; multipliers : (N, rows)
    w        : (N, measures); energies : (N, 6) as `march` records them
    """

    problem: Absolute
    time: Array
    forces: tuple[Array, Array]
    courses: tuple[Array, Array]
    X: Array
    V: Array
    acceleration: Array
    multipliers: Array
    w: Array
    energies: Array

    @property
    def energy_defect(self) -> float:
        return defect_of(self.problem, self.energies)

    @cached_property
    def configuration(self) -> Configuration:
        """All positions as a batch of configurations."""
        X = self.X.copy()
        R = X[..., 3:].reshape(*X.shape[:-1], 3, 3)
        X[..., :3] -= np.einsum("nbij,bj->nbi", R, self.problem.centers)
        s = len(self.problem.rest.numbering.coordinates)
        return Configuration(self.problem.rest, self.w[:, :s], X, self.w, np.ones(len(self.time)))

    @cached_property
    def motion(self) -> Motion:
        """All velocities and accelerations."""
        count, bodies, _ = self.V.shape
        V, dV = np.zeros((count, bodies + 1, 6)), np.zeros((count, bodies + 1, 6))
        column = self.problem.system.rows.column
        V[:, :-1, column], dV[:, :-1, column] = self.V, self.acceleration
        R = self.X[..., 3:].reshape(count, bodies + 1, 3, 3)
        # From the centre of mass, in the world, to the body's origin, in its axes.
        turn, c = V[..., 3:], self.problem.centers
        v = np.einsum("nbji,nbj->nbi", R, V[..., :3])
        a = np.einsum("nbji,nbj->nbi", R, dV[..., :3])
        V[..., :3] = v - np.cross(turn, c)
        dV[..., :3] = a - np.cross(turn, v) - np.cross(dV[..., 3:], c)
        return Motion(self.configuration, V, dV)

    @property
    def coordinates(self) -> Signals:
        """θ over time."""
        units = units_of(self.problem.rest).coordinates
        return labelled(self.time, units, self.w, units)

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
        position, count = self.problem.rest, len(self.time)
        names = position.numbering.coordinates
        every = absolute(position, tuple(range(len(names))))  # their rows stand behind those of the joints
        joints, n = position.numbering.constraints, position.numbering.columns
        u = np.zeros((count, len(position.numbering.mechanism.actuators)))
        along = equations(every, self.X, self.V, self.w, u)
        found = np.einsum("nri,ni->nr", along.J[:, joints:], self.acceleration.reshape(count, n))
        found += along.second[:, joints:]
        return labelled(self.time, names, found, units_of(position).accelerations)

    @property
    def joint_coordinates(self) -> Signals:
        """Every coordinate of every joint."""
        numbering = self.problem.rest.numbering
        turns = [numbering.angles()[row] for key, row in numbering.measures.items() if key[0] == "joint"]
        values = self.configuration.joint_coordinates
        return Signals(self.time, dict(values), numbered(values, turns))

    @property
    def outputs(self) -> Signals:
        """What the sensors see."""
        numbering = self.problem.rest.numbering
        rows = carried(self.problem.rest).outputs
        values = {name: self.w[:, row - numbering.constraints] for name, row in rows.items()}
        return Signals(self.time, values, dict(units_of(self.problem.rest).outputs))

    @property
    def output_rates(self) -> Signals:
        """How fast that changes."""
        units = {name: rate(unit) for name, unit in units_of(self.problem.rest).outputs.items()}
        return Signals(self.time, self._rates(carried(self.problem.rest).outputs), units)

    def _rates(self, rows: dict[str, int]) -> dict[str, Array]:
        along = gradients(self.problem, self.X, list(rows.values()))
        rates = np.einsum("nri,ni->nr", along, self.V.reshape(len(self.time), -1))
        return {name: rates[:, i] for i, name in enumerate(rows)}

    @property
    def inputs(self) -> Signals:
        """Forces of the actuators; where held ones change, those from then on."""
        breaks, coefficients = self.forces
        piece = np.clip(np.searchsorted(breaks, self.time, side="right") - 1, 0, len(breaks) - 2)
        values = coefficients[3, piece] + coefficients[2, piece] * (self.time - breaks[piece])[:, None]
        names = self.problem.rest.numbering.mechanism.actuators
        return labelled(self.time, names, values, units_of(self.problem.rest).inputs)

    @property
    def energy(self) -> Signals:
        """Kinetic and potential energy, work put in and lost, and what is left over: the error of the balance.

        Work of the actuators, of the forces behind prescribed coordinates, and of loads without potential (moments
        and followers) is counted from the start.
        """
        kinetic, potential, actuators, courses, lost, loads = self.energies.T
        values = {
            "kinetic": kinetic, "potential": potential, "total": kinetic + potential, "actuators": actuators,
            "prescribed": courses, "loads": loads, "lost": -lost, "balance": balance_of(self.energies),
        }  # fmt: skip
        return Signals(self.time, values, dict.fromkeys(values, "J"))

    @cached_property
    def instant(self) -> Instant:
        """Accelerations and least multipliers from a rank-revealing solve at every result."""
        u = np.stack(list(self.inputs.values()), axis=1) if len(self.inputs) else np.zeros((len(self.time), 0))
        breaks, accelerations = self.courses
        courses = [np.interp(self.time, breaks, column) for column in accelerations.T]
        along = np.stack(courses, axis=1) if courses else np.zeros((len(self.time), 0))
        return instant(self.problem, self.X, self.V, self.w, np.ascontiguousarray(u), along)

    @property
    def driving_forces(self) -> Signals:
        """Force (or moment) along each prescribed coordinate that keeps it on its course."""
        joints = self.problem.rest.numbering.constraints
        names = self.problem.rest.numbering.coordinates
        angle = self.problem.rest.numbering.angles()
        driven = {names[row - joints]: row for row in self.problem.system.driven}
        values = {name: self.instant.multipliers[:, joints + n] for n, name in enumerate(driven)}
        return Signals(self.time, values, {name: "N m" if angle[row] else "N" for name, row in driven.items()})

    def reaction(self, joint: str) -> Reaction:
        """Force and moment of a joint on its second body over time, about its place there, in the world.

        Where constraints are redundant, those of least norm, moments divided by the mechanism's extent.
        """
        numbering = self.problem.rest.numbering
        if joint not in numbering.joint_rows:
            raise InputError(f'there is no joint "{joint}"', hint=nearest(joint, numbering.joint_rows))
        return reaction_of(self.problem, self.X, self.instant.rows, self.instant.multipliers, joint)


def balance_of(energies: Array) -> Array:
    """Of energies (N, 6) as `march` records them: T + V since the start, less all works."""
    total = energies[:, 0] + energies[:, 1]
    return np.asarray(total - total[:1] - energies[:, 2:].sum(axis=1))


def defect_of(problem: Absolute, energies: Array) -> float:
    """The defect of the account of energies (N, 6)."""
    speed = _STILL * problem.rest.numbering.arrays.extent
    least = 0.5 * float(problem.system.mass.sum()) * speed**2
    return energy_defect(energies[:, 0], energies[:, 1], energies[:, 2:], balance_of(energies), least)
