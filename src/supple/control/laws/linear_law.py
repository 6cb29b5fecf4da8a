"""A law at one σ as a linear model from what is measured to commands, and the poles of its loop with a plant.

x⁺ = A x + B_y y + B_c u₋,   u = C x + D_y y + D_c u₋          u₋ of the sample before is a state where it matters
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.control.laws.affine_law import AffineLaw
from supple.control.margins.open_loop import open_loop
from supple.diagnostics.arguments import require_arguments
from supple.results.linear_model import LinearModel

_DEAD = 1e-12  # what is left of a state after one sample that counts as nothing


def linear_law(law: AffineLaw, sigma: ArrayLike | Mapping[str, float] | None = None) -> LinearModel:
    """The law at σ in discrete time: inputs are what it measures, outputs its actuators. Drives apply what it asks."""
    require_arguments(linear_law, locals())
    m, ports, n = law.at(sigma), law.ports, law.states
    B, D, by_applied, at_once = m.B[:, ports.y], m.D[:, ports.y], m.B[:, ports.applied], m.D[:, ports.applied]
    names = tuple(f"x{i + 1}" for i in range(n))
    if not by_applied.any() and not at_once.any():
        return LinearModel(m.A, B, m.C, D, names, ports.measured, ports.actuators, {}, step=ports.sample_time)
    A = np.block([[m.A, by_applied], [m.C, at_once]])
    return LinearModel(
        A, np.vstack([B, D]), np.hstack([m.C, at_once]), D,
        (*names, *(f"{name}.before" for name in ports.actuators)), ports.measured, ports.actuators, {},
        step=ports.sample_time,
    )  # fmt: skip


def summed(laws: Sequence[LinearModel]) -> LinearModel:
    """Laws side by side, whose commands add up; all of one sample time."""
    measured = tuple(dict.fromkeys(name for law in laws for name in law.inputs))
    actuators = tuple(dict.fromkeys(name for law in laws for name in law.outputs))
    sizes = np.cumsum([0, *(len(law.states) for law in laws)])
    n = int(sizes[-1])
    A, B = np.zeros((n, n)), np.zeros((n, len(measured)))
    C, D = np.zeros((len(actuators), n)), np.zeros((len(actuators), len(measured)))
    names: list[str] = []
    for k, law in enumerate(laws):
        mine = slice(int(sizes[k]), int(sizes[k + 1]))
        told, driven = [measured.index(item) for item in law.inputs], [actuators.index(item) for item in law.outputs]
        A[mine, mine] = law.A
        B[mine, told] = law.B
        C[driven, mine] = law.C
        D[np.ix_(driven, told)] += law.D
        names += [f"{k + 1}.{item}" for item in law.states]
    return LinearModel(A, B, C, D, tuple(names), measured, actuators, {}, step=laws[0].step)


def closed_poles(plant: LinearModel, laws: Sequence[LinearModel]) -> NDArray[np.complex128]:
    """Poles of a linear plant with sampled laws around it, (1/T) log of those of the samples: 1/s."""
    require_arguments(closed_poles, locals())
    return loop_poles(open_loop(plant, summed(laws)))


def loop_poles(loop: LinearModel) -> NDArray[np.complex128]:
    """Poles of a loop that is closed by u = -L u, 1/s; of a sampled one, those that its samples show."""
    found = np.linalg.eigvals(loop.A - loop.B @ np.linalg.solve(np.eye(len(loop.D)) + loop.D, loop.C)).astype(complex)
    return found if loop.step is None else continuous_poles(found, loop.step)


def continuous_poles(values: NDArray[np.complex128], step: float) -> NDArray[np.complex128]:
    """(1/T) log μ of eigenvalues of samples, 1/s; one of a delay, μ = 0, is very fast."""
    known = np.where(np.abs(values) < _DEAD, _DEAD, values).astype(complex)
    return np.asarray(np.log(known) / step)
