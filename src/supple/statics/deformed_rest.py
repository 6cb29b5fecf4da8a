"""Equilibrium of an elastic mechanism with its deformation, at rest or in steady motion.

The undeformed mechanism comes first: at its own equilibrium if coordinates are free, or at the held coordinates. With
all coordinates held, loads deform it, in several load steps if necessary; then the free coordinates are released.
(docs/theory/flexible-statics.md)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.diagnostics import SuppleWarning
from supple.formulations.absolute.instant import centre_motion, least_multipliers
from supple.formulations.absolute.march import WIDEST
from supple.formulations.absolute.settling import Settled, Steady, settle_bodies
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import Absolute, absolute
from supple.formulations.coefficients import ACTUATOR, NUMBER, ROLE
from supple.kinematics.configuration import Configuration, Deformed
from supple.kinematics.motion import motion


class DeformedRest(NamedTuple):
    """The full equations with held coordinates prescribed, their equilibrium, and the inputs there."""

    problem: Absolute
    settled: Settled
    inputs: Array

    @property
    def state(self) -> State:
        """Poses, rates and multipliers of all frames at the equilibrium."""
        return self.settled.state

    @property
    def configuration(self) -> Configuration:
        """Deformed configuration of the mechanism, from which a simulation can start."""
        state, rest, frames = self.state, self.problem.rest, self.problem.frames
        theta = state.w[: len(rest.numbering.coordinates)].copy()
        one = np.ones(())
        return Configuration(rest, theta, frames.bodies(state.X), state.w.copy(), one, Deformed(frames, state.X.copy()))

    @property
    def multipliers(self) -> Array:
        """Multipliers (rows,) of joints and held coordinates, of least norm if redundant: Φ_qᵀ λ acts on the frames."""
        rows = _in_world(self.problem, self.state, self.settled.tangent.J.toarray())
        forces = rows.T @ self.state.multipliers
        return np.asarray(least_multipliers(self.problem, rows[None], forces[None, :, None])[0, :, 0])


def deformed_rest(
    here: Configuration,
    inputs: Array,
    held: tuple[int, ...] | None = None,
    *,
    rates: Array | None = None,
    loads: Mapping[int, float] | None = None,
) -> DeformedRest:
    """Return the equilibrium close to an undeformed (or deformed) configuration, under constant inputs (actuators,).

    held  : indices of the coordinates that keep their value; None for all
    rates : θ̇ (s,) of a steady motion, in which bodies move as if they were rigid, θ̈ = 0; all coordinates are held
    loads : further forces (N, N m) along measures, by their rows; all coordinates are held
    """
    count = len(here.rest.numbering.coordinates)
    every = tuple(range(count))
    problem = absolute(here.rest, every)
    if loads:
        problem, inputs = add_inputs(problem, list(loads)), np.concatenate([inputs, list(loads.values())])
    X = problem.frames.poses(here.X) if here.deformed is None else here.deformed.X.copy()
    still = np.zeros((len(X) - 1, len(problem.system.rows.column)))
    begin = State(X, still, still.copy(), still.copy(), np.zeros(_rows(problem)), here.w.copy())
    steady = None
    if rates is not None and np.any(rates):
        moving = motion(here.part(None), np.asarray(rates, float)[None], np.zeros((1, count)))
        steady = Steady(*(part[0] for part in centre_motion(problem, moving)))
    found = settle_bodies(problem, begin, inputs, here.theta, steady)
    if held is None or held == every:
        _warn_of_bending(found)
        return DeformedRest(problem, found, inputs)
    # Release the free coordinates: the forces that held them are removed.
    joints, state = here.rest.numbering.constraints, found.state
    others = np.arange(joints + count, len(state.multipliers))  # what holds superelements together
    kept = np.concatenate([np.arange(joints), joints + np.array(held, dtype=np.int64), others]).astype(np.int64)
    freed = absolute(here.rest, held)
    found = settle_bodies(freed, state._replace(multipliers=state.multipliers[kept]), inputs, here.theta[list(held)])
    _warn_of_bending(found)
    return DeformedRest(freed, found, inputs)


def _warn_of_bending(found: Settled) -> None:
    if found.tangent.bent > WIDEST:
        warnings.warn(
            f"an element is bent by {found.tangent.bent:.2g} rad from its chord (limit {WIDEST:g} rad), so that its "
            "strains are inaccurate; give its beam more elements", SuppleWarning, stacklevel=4,
        )  # fmt: skip


def _rows(problem: Absolute) -> int:
    return problem.rest.numbering.constraints + len(problem.system.driven)


def _in_world(problem: Absolute, state: State, rows: Array) -> Array:
    """Transform rows (m, n) over displacements from the axes of the frames to world axes."""
    column, frames = problem.system.rows.column, len(state.V)
    blocks = np.zeros((frames, 6, 6))
    blocks[:, :3, :3], blocks[:, 3:, 3:] = state.X[:-1, 3:].reshape(-1, 3, 3), np.eye(3)
    R = blocks[:, column[:, None], column]
    return np.asarray(np.einsum("mfc,fdc->mfd", rows.reshape(len(rows), frames, -1), R).reshape(len(rows), -1))


# Further forces along measures, beside those of the actuators: they deflect a mechanism before it is released.


def add_inputs(problem: Absolute, rows: Sequence[int]) -> Absolute:
    """Return the equations with one more input along the measure of each of these rows, after the actuators."""
    system, numbering = problem.system, problem.rest.numbering
    starts, kinds, values = system.uses_start.copy(), system.uses_i, system.uses_f
    for k, row in enumerate(rows):
        measure = row - numbering.constraints
        use = np.zeros((1, kinds.shape[1]), dtype=np.int64)
        use[0, ROLE], use[0, NUMBER] = ACTUATOR, len(numbering.mechanism.actuators) + k
        at = int(starts[measure + 1])
        kinds = np.insert(kinds, at, use, axis=0)
        values = np.insert(values, at, np.zeros((1, values.shape[1])), axis=0)
        starts[measure + 1 :] += 1
    return problem._replace(system=system._replace(uses_start=starts, uses_i=kinds, uses_f=values))
