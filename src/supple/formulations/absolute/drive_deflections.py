"""Drives with compliance in absolute coordinates: the deflection δ of each is a stored coordinate.

    θ = q - δ,   V = ½ k δ²                                            (docs/theory/superelements-in-motion.md, 10-11)

Elements along the joint coordinate, including the motor inertia, act along θ, whose row has the term -δ; the spring
acts along δ. As in vibrations, δ has a small inertia of its own (`elastic_rest.yielding_drives`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import kernel
from supple.formulations.absolute.frames import HeldCoordinates, coordinate
from supple.formulations.absolute.step_work import LOST, STRAIN
from supple.formulations.coefficients import ACTUATOR, LAW, NUMBER, ROLE
from supple.formulations.elastic_rest.yielding_drives import YieldingDrive
from supple.formulations.force_models import law
from supple.formulations.yielding_rows import SoftRow
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import FACTOR, SCALE, THEN
from supple.kinematics.row_arrays import RowArrays

if TYPE_CHECKING:
    from supple.formulations.absolute.system import Absolute


class YieldingDriveArrays(NamedTuple):
    """Arrays of n drives.

    frame and position (n,) of δ; stiffness, damping and inertia (n,) along it; places (n,) of its entry in the
    iteration matrix
    """

    frame: Integers
    position: Integers
    stiffness: Array
    damping: Array
    inertia: Array
    places: Integers


def drive_arrays(drives: tuple[YieldingDrive, ...], coordinates: HeldCoordinates, group: int) -> YieldingDriveArrays:
    """Return the arrays of all drives, with deflections in a group of stored coordinates; places follow later."""
    whole = -(-len(drives) // coordinates.held) * coordinates.held
    where = np.array([coordinates.at(group, i) for i in range(whole)], dtype=np.int64).reshape(-1, 2)
    table = np.array([(drive.stiffness, drive.damping, drive.inertia) for drive in drives]).reshape(-1, 3)
    # Positions that are left over have inertia too, or nothing could be solved for.
    table = np.vstack([table, np.tile([0.0, 0.0, 1.0], (whole - len(drives), 1))])
    return YieldingDriveArrays(
        np.ascontiguousarray(where[:, 0]), np.ascontiguousarray(where[:, 1]),
        table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy(), np.zeros(whole, dtype=np.int64),
    )  # fmt: skip


def with_deflections(
    rows: RowArrays,
    numbering: Numbering,
    drives: tuple[YieldingDrive, ...],
    arrays: YieldingDriveArrays,
    ground: int,
    soft: dict[int, SoftRow],
) -> RowArrays:
    """Return the rows with the terms of δ.

    The joint coordinates of the drives, which may be terms of no other row, get -δ. Rows that the joint stiffness
    couples with δ get δ.
    """
    rows_i, rows_f = [rows.rows_i.copy()], [rows.rows_f.copy()]
    at = len(rows.rows_i)
    for i, drive in enumerate(drives):
        where = int(arrays.frame[i]), int(arrays.position[i])
        measured = numbering.measures["joint", drive.joint, drive.coordinate]
        factors = {measured: -float(rows.rows_f[measured, FACTOR])}
        coupled = {row: item.drives for row, item in soft.items() if item.part == drive.joint}
        factors |= {row: own[drive.coordinate] for row, own in coupled.items() if drive.coordinate in own}
        for row, factor in factors.items():
            added = coordinate(where, ground, factor, float(rows.rows_f[row, SCALE]))
            added.integers[THEN] = rows_i[0][row, THEN]
            rows_i[0][row, THEN] = at
            rows_i.append(added.integers[None])
            rows_f.append(added.numbers[None])
            at += 1
    return rows._replace(rows_i=np.concatenate(rows_i), rows_f=np.concatenate(rows_f))


def settled_deflections(problem: Absolute, w: Array, u: Array) -> Array:
    """Return δ (n,) of every drive at the start of a run: 0, except for motors without inertia.

    For these, the force balances the spring, k δ = -f(θ), since nothing else would hold the motor.

    w : (measures,); u : (actuators,). Velocity-dependent forces are omitted.
    """
    system, numbering = problem.system, problem.rest.numbering
    found = np.zeros(len(problem.frames.drives))
    for i, drive in enumerate(problem.frames.drives):
        row = numbering.measures["joint", drive.joint, drive.coordinate]
        measure = row - numbering.constraints
        force, inertia = 0.0, 0.0
        for use in range(system.uses_start[measure], system.uses_start[measure + 1]):
            role, number = system.uses_i[use, ROLE], system.uses_i[use, NUMBER]
            if role == LAW:
                acts = law(number, system.uses_f[use], w[measure])
                force, inertia = force + acts.force, inertia + acts.inertia
            elif role == ACTUATOR:
                force += u[number]
        if inertia == 0.0 and row not in system.driven:
            found[i] = -force / drive.stiffness
    return found


@kernel
def drive_forces(drives, X, V, acceleration, work):
    """Add -kδ - cδ̇ - mδ̈ to work.forces and return the strain energy; energy and losses are added to the account."""
    Q, account, frame, position = work.forces, work.account, drives.frame, drives.position
    stiffness, damping, inertia = drives.stiffness, drives.damping, drives.inertia
    strain, lost = 0.0, 0.0
    for n in range(frame.shape[0]):
        f, c = frame[n], position[n]
        away, speed = X[f, c], V[f, c]
        Q[f, c] -= stiffness[n] * away + damping[n] * speed + inertia[n] * acceleration[f, c]
        strain += 0.5 * stiffness[n] * away * away
        lost += damping[n] * speed * speed
    account[STRAIN] += strain
    account[LOST] -= lost
    return strain


@kernel
def drive_tangents(drives, factors, work):
    """Add m + damping factor c + stiffness factor k to work.matrix; factors : the two factors."""
    A_, places = work.matrix, drives.places
    stiffness, damping, inertia = drives.stiffness, drives.damping, drives.inertia
    for n in range(places.shape[0]):
        A_[places[n]] += inertia[n] + factors[0] * damping[n] + factors[1] * stiffness[n]


@kernel
def drive_kinetic(drives, V):
    """Return ½ m δ̇²."""
    frame, position, inertia = drives.frame, drives.position, drives.inertia
    total = 0.0
    for n in range(frame.shape[0]):
        speed = V[frame[n], position[n]]
        total += 0.5 * inertia[n] * speed * speed
    return total


@kernel
def drive_momentum(drives, factor, V, force):
    """Add m δ̇ times a factor to force."""
    frame, position, inertia = drives.frame, drives.position, drives.inertia
    for n in range(frame.shape[0]):
        force[frame[n], position[n]] += factor * inertia[n] * V[frame[n], position[n]]
