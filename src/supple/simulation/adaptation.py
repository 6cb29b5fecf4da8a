"""How long the steps of a run may be, and why it ends where they do not serve it.

Where nothing is asked for, a step may err by TOLERANCE. That is blind to a stiff spring that moves less than the
tolerance and yet has the energy of the run. The account of energy sees it: a run that does not balance is done again
with a hundredth of the tolerance, 100^(1/3) = 4.6 times the steps and, of order two, a twentieth of the defect.
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

TOLERANCE = 1e-6  # rad, or extents of the mechanism: where neither a step nor a tolerance is asked for
_TIGHTER = 1e-2
_AGAIN = 3  # times at most
_MOST_STEPS = 1_000_000  # that a run may take to be done again: a minute for a machine of ten bodies
_FALLS = 0.5  # of the defect, at most, where shorter steps are what it needs
_GROWN = 0.5
_A_WHILE = 10_000  # steps, before which hardly anything may have been exchanged
_CALMER = "give a smaller spectral radius, or a smaller tolerance"
_SLENDER = 1e-9  # of the largest moment of inertia: less is rounding
LARGEST_RADIUS = 0.99  # with directions that have no inertia


def balanced(run: Callable[[float], Simulation]) -> Simulation:
    """The run at TOLERANCE, or at the first smaller one at which its energy balances, if that is in reach."""
    tolerance = TOLERANCE
    best = run(tolerance)
    for _ in range(_AGAIN):
        if best.balanced or best.steps / _TIGHTER ** (1 / 3) > _MOST_STEPS:
            break
        tolerance *= _TIGHTER
        finer = run(tolerance)
        shorter = finer.steps > 2 * best.steps  # else both were held to the longest step, and that says nothing
        if len(finer.time) < len(best.time) or (shorter and _defect(finer) > _FALLS * _defect(best)):
            break
        best = finer
    return best


def _defect(run: Simulation) -> float:
    return run.energy_defect or 0.0


def energy_diverged(problem: Absolute, energies: Array, steps: int) -> bool:
    """Most of the energy so far, (N, 6), came from nowhere: nothing that follows would mean anything.

    What is lost may be meant: a small spectral radius calms stiff springs.
    """
    if steps < _A_WHILE or len(energies) < 2 or balance_of(energies)[-1] < 0.0:
        return False
    return defect_of(problem, energies) > _GROWN


def stopped(time: float, defect: float) -> str:
    """Why a run was not carried on, in the user's words."""
    return f"by {time:.6g} s, {100.0 * defect:.2g} % of the energy come from the method itself; {_CALMER}"


def stuck(time: float, tried: float, prescribed: bool, tolerance: float | None, defect: float) -> str:
    """Why a run ended early, in the user's words; tried : the shortest step, s; defect : of the energy so far."""
    kept = " or kept the tolerance" if tolerance is not None else ""
    if prescribed:
        likely = "the prescribed motion meets a dead point there"
    elif defect > LARGEST_DEFECT:
        likely = f"the method itself, as the account of energy is off by {100.0 * defect:.2g} %; {_CALMER}"
    else:
        likely = "forces or speeds too large for the step"
    return f"no step from {time:.6g} s on converged{kept}, down to {tried:.2g} s; most likely {likely}"


def overbent(time: float) -> str:
    """Why a run ended where elements bent too far, in the user's words."""
    return (
        f"at {time:.6g} s an element has turned by more than {WIDEST:g} rad against its own chord, beyond what its "
        "strains are right for; most likely it needs more elements, or the loads are not what was meant"
    )


def require_damped(problem: Absolute, radius: float) -> None:
    """Refuse a spectral radius that keeps for ever what directions without inertia need damped.

    Those are all of a body without mass, and in space the turn of a slender rod about its own line.
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
            f'it is {radius:g}, and body "{name}" has {lacks}: forces at its joints would oscillate more and more',
            part="spectral radius", hint=f"give {LARGEST_RADIUS:g} or less, or the body mass and inertia",
        )  # fmt: skip
