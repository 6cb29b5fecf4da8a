"""Where modes cannot be followed one by one: points of two and more coordinates at which two frequencies meet.

On the way around such a point each of the two modes turns into minus itself, so no choice of signs is continuous there;
followed along straight segments from the germ, they tear along the ray behind it.
(docs/theory/parameterization.md, eqs. 23-25)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.array_types import Array
from supple.formulations.elastic_rest.constrained_modes import constrained_modes
from supple.kinematics.closure import assemble
from supple.parameterization.local_model import local
from supple.parameterization.modal_parameterization import ModalParameterization
from supple.parameterization.mode_tracking import continued

_SAME = 0.5  # least product of two modes that count as one
_GRID = 12  # points a side of a triangle, where the search for a meeting begins
_NEWTON, _CLOSE = 20, 1e-10  # iterations, and the last step of θ
_MET = 1e-6  # of ω²: frequencies this close have met
_APART = 1e-6  # of θ: meetings closer than that are one


@dataclass(frozen=True)
class TrackingFault:
    """Two modes that cannot be followed around the point where their frequencies meet.

    theta   : where, or where they come closest; hz : their frequencies there; modes : which two of all, counted from 1
    between : neighbours whose modes, each followed from the germ, do not continue each other
    """

    theta: tuple[float, ...]
    hz: tuple[float, float]
    modes: tuple[int, int]
    between: tuple[tuple[float, ...], tuple[float, ...]]

    def words(self, names: tuple[str, ...]) -> str:
        where = ", ".join(f"{name}={value:.4g}" for name, value in zip(names, self.theta, strict=True))
        met = self.hz[1] - self.hz[0] < _MET * self.hz[1]
        hz = f"{self.hz[0]:.4g} Hz" if met else f"{self.hz[0]:.4g} and {self.hz[1]:.4g} Hz"
        return (
            f"modes {self.modes[0]} and {self.modes[1]} {'meet' if met else 'come close'} at {where} ({hz}): followed "
            "one by one from the germ they do not fit together behind that point; track the subspace"
        )


def tracking_faults(system: ModalParameterization, line: Array) -> list[TrackingFault]:
    """Faults of the modes followed one by one, between neighbouring points of a line (N, s); each meeting told once.

    The modes at a point, followed on to its neighbour, must be those that the germ leads to there. Where they are not,
    the triangle of the germ and the two neighbours holds a point at which two frequencies meet.
    """
    if not system.choice.internal:
        return []
    found: list[TrackingFault] = []
    at = [continued(system, system.germ.theta, system.reference, theta) for theta in line]
    for i in range(len(line) - 1):
        onward = continued(system, line[i], at[i], line[i + 1])
        if (np.einsum("kz,kz->k", onward, at[i + 1]) >= _SAME).all():
            continue
        item = _meeting(system, line[i], line[i + 1])
        if all(np.linalg.norm(np.subtract(item.theta, other.theta)) > _APART for other in found):
            found.append(item)
    return found


def _meeting(system: ModalParameterization, a: Array, b: Array) -> TrackingFault:
    """From the closest frequencies on a grid of the triangle, Newton's method for K_11 = K_22, K_12 = 0 of the two
    modes, which are smooth functions of θ when their subspace is followed."""
    weights = [(i, j, _GRID - i - j) for i in range(_GRID + 1) for j in range(_GRID + 1 - i)]
    points = np.array(weights) / _GRID @ np.array([system.germ.theta, a, b])
    squares = _squares(system, points, system.choice.internal + 1)
    gap = np.diff(squares, axis=1) / squares[:, 1:]
    row, low = (int(i) for i in np.unravel_index(int(np.argmin(gap)), gap.shape))
    start = theta = points[row]
    reach = float(np.linalg.norm(np.ptp(points, axis=0)))
    for _ in range(_NEWTON):
        K, dK = _stiffness(system, theta, start, low)
        off = np.array([K[0, 0] - K[1, 1], 2.0 * K[0, 1]]) / np.trace(K)
        slope = np.array([dK[0, 0] - dK[1, 1], 2.0 * dK[0, 1]]) / np.trace(K)
        step = -np.linalg.lstsq(slope, off, rcond=None)[0]
        if np.linalg.norm(theta + step - start) > reach:
            break
        theta = theta + step
        if np.linalg.norm(step) < _CLOSE:
            break
    one, other = _squares(system, theta[None], low + 2)[0, low : low + 2]
    if abs(other - one) > _MET * other:  # they veer so sharply that steps of the way decide which is which
        theta = start
        one, other = squares[row, low : low + 2]
    hz = np.sqrt([one, other]) / (2.0 * np.pi)
    between = (tuple(a.tolist()), tuple(b.tolist()))
    return TrackingFault(tuple(theta.tolist()), (float(hz[0]), float(hz[1])), (low + 1, low + 2), between)


def _squares(system: ModalParameterization, theta: Array, count: int) -> Array:
    X = np.ascontiguousarray(assemble(system.rest.numbering.mechanism, theta).X)
    return constrained_modes(system.rest, system.rest.held_and_loaded(), X, count)[0]


def _stiffness(system: ModalParameterization, theta: Array, start: Array, low: int) -> tuple[Array, Array]:
    """K (2, 2) and ∂K/∂θ (2, 2, s) of modes `low` and the next, of the subspace of all up to them."""
    mechanism = system.rest.numbering.mechanism
    found = local(
        mechanism,
        theta,
        constraint_modes=system.choice.constraint,
        internal_modes=low + 2,
        tracking="subspace",
        germ=start,
        preload=False,  # as the modes that are followed
    )
    return found.K[-2:, -2:], np.asarray(found.dK)[-2:, -2:]
