"""Selection of step lengths, and reasons for ending a run early.

By default a step may have an error of TOLERANCE. That does not detect a stiff spring that moves less than the tolerance
and yet has the energy of the run. The energy balance detects it: a run that does not balance is repeated with a
hundredth of the tolerance, 100^(1/3) = 4.6 times the steps and, for order two, a twentieth of the defect.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.array_types import Array
from supple.diagnostics import InputError
from supple.formulations.absolute.march import WIDEST
from supple.formulations.absolute.system import Absolute
from supple.results.simulation import LARGEST_DEFECT, Simulation
from supple.simulation.body_motion import balance_of, defect_of

TOLERANCE = 1e-6  # rad, or extents of the mechanism: default without a step and a tolerance
_TIGHTER = 1e-2
_AGAIN = 3  # largest number of repetitions
_MOST_STEPS = 1_000_000  # largest number of steps of a repeated run: a minute for a machine of ten bodies
_FALLS = 0.5  # largest ratio of the defects if shorter steps help
_GROWN = 0.5
_A_WHILE = 10_000  # number of steps before which hardly any energy may have been exchanged
_CALMER = "reduce the spectral radius or the tolerance"
_SLENDER = 1e-9  # fraction of the largest moment of inertia below which another is rounding
LARGEST_RADIUS = 0.99  # with directions without inertia


def run_balanced(run: Callable[[float], Simulation]) -> Simulation:
    """Return the run at TOLERANCE, or at the first smaller one at which its energy balances, if affordable."""
    tolerance = TOLERANCE
    best = run(tolerance)
    for _ in range(_AGAIN):
        if best.balanced or best.steps / _TIGHTER ** (1 / 3) > _MOST_STEPS:
            break
        tolerance *= _TIGHTER
        finer = run(tolerance)
        shorter = finer.steps > 2 * best.steps  # otherwise both used the longest step
        if len(finer.time) < len(best.time) or (shorter and _defect(finer) > _FALLS * _defect(best)):
            break
        best = finer
    return best


def _defect(run: Simulation) -> float:
    return run.energy_defect or 0.0


def energy_diverged(problem: Absolute, energies: Array, steps: int) -> bool:
    """Return whether most of the energy so far, (N, 6), came from the method, so that the run is meaningless.

    A loss of energy may be intended: a small spectral radius damps stiff springs.
    """
    if steps < _A_WHILE or len(energies) < 2 or balance_of(energies)[-1] < 0.0:
        return False
    return defect_of(problem, energies) > _GROWN


def energy_error_reason(time: float, defect: float) -> str:
    """Return the reason for ending a run, as a message."""
    return f"by {time:.6g} s, {100.0 * defect:.2g} % of the energy is an error of the integration method; {_CALMER}"


def step_failure_reason(time: float, tried: float, prescribed: bool, tolerance: float | None, defect: float) -> str:
    """Return the reason why a run ended early, as a message.

    tried : shortest step, s; defect : of the energy so far
    """
    kept = " or kept the tolerance" if tolerance is not None else ""
    if prescribed:
        likely = "the prescribed motion meets a dead point"
    elif defect > LARGEST_DEFECT:
        likely = f"the integration method, with an energy balance error of {100.0 * defect:.2g} %; {_CALMER}"
    else:
        likely = "forces or speeds are too large for the step"
    return f"no step from {time:.6g} s on converged{kept}, down to {tried:.2g} s; probable cause: {likely}"


def overbending_reason(time: float) -> str:
    """Return the reason for ending a run with excessive deformation of elements, as a message."""
    return (
        f"at {time:.6g} s an element has rotated by more than {WIDEST:g} rad relative to its chord, beyond the range "
        "of its strains; use more elements, or check the loads"
    )


def require_damped(problem: Absolute, radius: float) -> None:
    """Require a spectral radius that damps directions without inertia.

    Those are all directions of a body without mass, and in space the rotation of a slender rod about its own line.
    """
    if radius <= LARGEST_RADIUS:
        return
    system, numbering, frames = problem.system, problem.rest.numbering, problem.frames
    turns = [c - 3 for c in system.rows.column if c >= 3]
    for number, name in enumerate(numbering.bodies):
        if frames.meshes[number] is not None or frames.floating[number] is not None:
            continue
        b = frames.first[number]
        moments = np.linalg.eigvalsh(system.inertia[b][np.ix_(turns, turns)])
        slender = moments[0] <= _SLENDER * moments[-1] and moments[-1] > 0.0
        if system.mass[b] > 0.0 and not slender:
            continue
        lacks = "no inertia about its own line" if system.mass[b] > 0.0 else "no mass"
        raise InputError(
            f'{radius:g} is too large, since body "{name}" has {lacks}: forces at its joints would oscillate and grow',
            part="spectral radius", hint=f"give {LARGEST_RADIUS:g} or less, or the body mass and inertia",
        )  # fmt: skip
