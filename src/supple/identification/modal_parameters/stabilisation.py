"""Stabilisation over the orders of an estimator: poles that stay constant as the order increases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from supple.array_types import Array, Complex
from supple.identification.modal_parameters.modal_model import Poles
from supple.modal_analysis.mode_set import mac


class RawPoles(NamedTuple):
    """All poles of an estimator at one order, of the structure and of the noise.

    order, poles s (n,) in rad/s, participation (n, Ni): of each reference in each, of unit length
    """

    order: int
    poles: Complex
    participation: Complex

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies |s| / 2π (n,), Hz."""
        return np.asarray(np.abs(self.poles) / (2.0 * np.pi))

    @property
    def damping(self) -> Array:
        """Damping ratios (n,)."""
        return np.asarray(-self.poles.real / np.abs(self.poles))

    def where(self, kept: NDArray[np.bool_]) -> RawPoles:
        """Return a selection of the poles."""
        return RawPoles(self.order, self.poles[kept], self.participation[kept])


LABELS = ("new", "frequency", "frequency and damping", "all")
"""What of a pole agrees with the previous order: nothing, frequency, also damping, also participation."""


class Criteria(NamedTuple):
    """Criteria by which a pole agrees with one of the previous order.

    Attributes
    ----------
    frequency : float
        Largest relative change of the frequency.
    damping : float
        Largest relative change of the damping ratio.
    participation : float
        Largest 1 - MAC of the participation factors.
    largest_damping : float
        Largest damping ratio of a mode.
    share : float
        Fraction of the orders, since its first pole, at which a cluster must have a pole.
    fewest : int
        Least number of poles of a cluster.
    """

    frequency: float = 0.01  # relative
    damping: float = 0.05  # relative
    participation: float = 0.05  # 1 - MAC
    largest_damping: float = 0.2
    share: float = 0.5
    fewest: int = 4


@dataclass(frozen=True)
class Stabilisation:
    """Poles of all orders that a structure could have, and their clusters.

    Attributes
    ----------
    found : tuple of RawPoles
        Poles of each order with Re s < 0, damping below the limit, and in the band or close to it.
    labels : tuple of ndarray
        For each order (n,), indices into `LABELS`.
    cluster : tuple of ndarray
        For each order (n,), the index of the cluster of each pole, -1 for none.
    clusters : Poles
        Poles and participation of the stable clusters, in order of frequency.
    """

    found: tuple[RawPoles, ...]
    labels: tuple[NDArray[np.int64], ...]
    cluster: tuple[NDArray[np.int64], ...]
    clusters: Poles

    @property
    def orders(self) -> tuple[int, ...]:
        """Orders of the polynomials."""
        return tuple(one.order for one in self.found)


def label_poles(raw: Iterable[RawPoles], omega: Array, criteria: Criteria) -> Stabilisation:
    """Label the poles of every order, chain them into clusters, and keep the stable ones.

    A cluster has at most one pole of an order: each order is matched to the existing clusters by the assignment of
    least total distance (`_distance`), so that two modes closer to each other than the scatter of their poles remain
    two.
    """
    margin = 0.1 * (omega[-1] - omega[0])
    found = [_plausible(one, omega[0] - margin, omega[-1] + margin, criteria) for one in raw]
    labels = [np.zeros(len(found[0].poles), dtype=np.int64)] if found else []
    labels += [_labels(before, now, criteria) for before, now in pairwise(found)]
    chains = _chains(found)
    least = min(criteria.fewest, len(found))
    kept = [chain for chain in chains if _steady(chain, len(found), least, criteria.share)]
    clusters = [_centre(chain, found) for chain in kept]
    order = sorted(range(len(kept)), key=lambda j: abs(clusters[j][0]))
    member = [np.full(len(one.poles), -1, dtype=np.int64) for one in found]
    for number, j in enumerate(order):
        for n, place in kept[j]:
            member[n][place] = number
    inputs = found[0].participation.shape[1] if found else 1
    poles = Poles(
        np.array([clusters[j][0] for j in order], dtype=complex),
        np.array([clusters[j][1] for j in order], dtype=complex).reshape(-1, inputs),
    )
    return Stabilisation(tuple(found), tuple(labels), tuple(member), poles)


def _plausible(one: RawPoles, low: float, high: float, criteria: Criteria) -> RawPoles:
    s = one.poles
    kept = (s.real < 0.0) & (s.imag > max(low, 0.0)) & (s.imag < high) & (one.damping <= criteria.largest_damping)
    kept &= np.isfinite(one.participation).all(axis=1)
    return one.where(kept)


def _labels(before: RawPoles, now: RawPoles, criteria: Criteria) -> NDArray[np.int64]:
    if not len(before.poles) or not len(now.poles):
        return np.zeros(len(now.poles), dtype=np.int64)
    f, g = now.frequencies_hz[:, None], before.frequencies_hz
    same = np.abs(f - g) <= criteria.frequency * g
    damped = same & (np.abs(now.damping[:, None] - before.damping) <= criteria.damping * before.damping)
    alike = damped & (mac(now.participation, before.participation) >= 1.0 - criteria.participation)
    return np.asarray(same.any(axis=1).astype(int) + damped.any(axis=1) + alike.any(axis=1), dtype=np.int64)


def _distance(s: Complex, u: Complex, t: Complex, v: Complex) -> Array:
    """Return the distance of poles and participations.

    It is |s - t| over 1 % of |t| plus half its decay rate, plus 1 - MAC of the participations. The scatter of a pole
    grows with its half bandwidth, and does not vanish without damping.
    """
    scale = 0.01 * np.abs(t) + 0.5 * np.abs(t.real)
    return np.asarray(np.abs(s[:, None] - t) / scale + (1.0 - mac(u, v)))


_FAR = 1.0  # distance at which a pole belongs to another cluster, if participations agree
Chain = list[tuple[int, int]]  # (index of the order, index of the pole)


def _chains(found: Sequence[RawPoles]) -> list[Chain]:
    chains: list[Chain] = []
    for n, now in enumerate(found):
        taken = np.zeros(len(now.poles), dtype=bool)
        if chains and len(now.poles):
            last = [chain[-1] for chain in chains]
            t = np.array([found[k].poles[j] for k, j in last])
            v = np.array([found[k].participation[j] for k, j in last])
            cost = _distance(now.poles, now.participation, t, v)
            for row, column in zip(*linear_sum_assignment(np.minimum(cost, 3.0)), strict=True):
                if cost[row, column] < _FAR:
                    chains[column].append((n, int(row)))
                    taken[row] = True
        chains += [[(n, int(j))] for j in np.flatnonzero(~taken)]
    return chains


def _steady(chain: Chain, orders: int, least: int, share: float) -> bool:
    """Return True if a chain has enough poles, in most orders since its first, and in the last quarter."""
    since = orders - chain[0][0]
    return len(chain) >= least and len(chain) >= share * since and chain[-1][0] >= orders - max(orders // 4, 2)


def _centre(chain: Chain, found: Sequence[RawPoles]) -> tuple[complex, Complex]:
    """Return the median pole of the upper half of a chain, with the participation at its highest order."""
    upper = chain[len(chain) // 2 :]
    poles = np.array([found[n].poles[j] for n, j in upper])
    n, j = chain[-1]
    return complex(np.median(poles.real) + 1j * np.median(poles.imag)), found[n].participation[j]
