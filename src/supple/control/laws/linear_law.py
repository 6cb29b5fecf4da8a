"""Control law at one σ as a linear model from measurements to commands, and the poles of its loop with a plant.

    x⁺ = A x + B_y y + B_c u₋,   u = C x + D_y y + D_c u₋

The commands u₋ of the previous sample are states if the law depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.control.laws.affine_law import AffineLaw
from supple.control.margins.open_loop import open_loop
from supple.diagnostics.arguments import require_arguments
from supple.results.linear_model import LinearModel

_DEAD = 1e-12  # smallest eigenvalue of a sample; a smaller one is that of a delay


def linear_law(law: AffineLaw, sigma: ArrayLike | Mapping[str, float] | None = None) -> LinearModel:
    """Return a control law at σ as a linear model in discrete time.

    Parameters
    ----------
    law : AffineLaw
        Control law.
    sigma : array_like of shape (s,), or mapping of str to float, optional
        Scheduling variables σ, in order or by name. Not needed for a constant law.

    Returns
    -------
    LinearModel
        Model with the measurements of the law as inputs and its actuators as outputs. Drives are assumed to apply the
        commands as computed.

    See Also
    --------
    closed_poles : Poles of a plant with laws.
    margins : Stability margins of a plant with a law.
    """
    require_arguments(linear_law, locals())
    m, ports, n = law.at(sigma), law.ports, law.states
    B, D, by_applied, at_once = (
        m.B[:, ports.y],
        m.D[:, ports.y],
        m.B[:, ports.applied_commands],
        m.D[:, ports.applied_commands],
    )
    names = tuple(f"x{i + 1}" for i in range(n))
    if not by_applied.any() and not at_once.any():
        return LinearModel(m.A, B, m.C, D, names, ports.measured, ports.actuators, {}, step=ports.sample_time)
    A = np.block([[m.A, by_applied], [m.C, at_once]])
    return LinearModel(
        A, np.vstack([B, D]), np.hstack([m.C, at_once]), D,
        (*names, *(f"{name}.before" for name in ports.actuators)), ports.measured, ports.actuators, {},
        step=ports.sample_time,
    )  # fmt: skip


def sum_laws(laws: Sequence[LinearModel]) -> LinearModel:
    """Return the sum of laws in parallel, all of one sample time."""
    measured = tuple(dict.fromkeys(name for law in laws for name in law.inputs))
    actuators = tuple(dict.fromkeys(name for law in laws for name in law.outputs))
    sizes = np.cumsum([0, *(len(law.states) for law in laws)])
    n = int(sizes[-1])
    A, B = np.zeros((n, n)), np.zeros((n, len(measured)))
    C, D = np.zeros((len(actuators), n)), np.zeros((len(actuators), len(measured)))
    names: list[str] = []
    for k, law in enumerate(laws):
        own = slice(int(sizes[k]), int(sizes[k + 1]))
        read, driven = [measured.index(item) for item in law.inputs], [actuators.index(item) for item in law.outputs]
        A[own, own] = law.A
        B[own, read] = law.B
        C[driven, own] = law.C
        D[np.ix_(driven, read)] += law.D
        names += [f"{k + 1}.{item}" for item in law.states]
    return LinearModel(A, B, C, D, tuple(names), measured, actuators, {}, step=laws[0].step)


def closed_poles(plant: LinearModel, laws: Sequence[LinearModel]) -> NDArray[np.complex128]:
    """Return the poles of a linear plant in closed loop with sampled laws.

    Parameters
    ----------
    plant : LinearModel
        Plant in continuous time.
    laws : sequence of LinearModel
        Laws in discrete time, as of `linear_law`; their commands add up.

    Returns
    -------
    ndarray of complex
        Poles (1/T) log μ of the eigenvalues μ of the sampled loop, 1/s.

    See Also
    --------
    margins : Gain, phase and delay margins of the loop.
    """
    require_arguments(closed_poles, locals())
    return loop_poles(open_loop(plant, sum_laws(laws)))


def loop_poles(loop: LinearModel) -> NDArray[np.complex128]:
    """Return the poles of a loop closed by u = -L u, 1/s; for a sampled loop, those of its samples."""
    found = np.linalg.eigvals(loop.A - loop.B @ np.linalg.solve(np.eye(len(loop.D)) + loop.D, loop.C)).astype(complex)
    return found if loop.step is None else continuous_poles(found, loop.step)


def continuous_poles(values: NDArray[np.complex128], step: float) -> NDArray[np.complex128]:
    """Return (1/T) log μ of eigenvalues μ of a sampled loop, 1/s; μ = 0 of a delay gives a very fast pole."""
    known = np.where(np.abs(values) < _DEAD, _DEAD, values).astype(complex)
    return np.asarray(np.log(known) / step)
