"""Which combinations of numbers the data determine, in words.

In units of what is known beforehand (prior deviations of ln p), J̃ = U S Vᵀ: along a column v of V data have s² times
the information of the prior, and leave 1/√(1 + s²) of its deviation. Directions with s > 3 are determined; turned to
simple structure [Kaiser 1958] they name what is known.                                         (updating, eqs. 17-19)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from supple.array_types import Array

DETERMINED = 3.0  # times the information of the prior, as a deviation
ALONE, PARTLY = 1.0 / 3.0, 0.9  # of the prior's deviation: what is left of a number that is found, or learned of
FLAT = np.log(10.0) * 0.3  # deviation of ln p that numbers without prior are measured by in words
_PART = 0.25  # of a direction: smaller parts are not named


@dataclass(frozen=True, eq=False)
class Identifiability:
    """names (k,); strengths (k,) s falling; directions (k, k) rows, in units of prior; left (k,) of its deviations."""

    names: tuple[str, ...]
    strengths: Array
    directions: Array
    left: Array

    @property
    def determined(self) -> int:
        return int(np.count_nonzero(self.strengths > DETERMINED))

    @property
    def combinations(self) -> list[dict[str, float]]:
        """The determined directions, turned so that each names few numbers; weights of a unit vector in ln p.

        Numbers that are found by themselves are directions of their own; the others are those of what is left.
        """
        alone = [i for i, name in enumerate(self.names) if name in self.found]
        rest = self.directions[: self.determined].copy()
        rest[:, alone] = 0.0
        _, _, rest = np.linalg.svd(rest, full_matrices=False)
        shown = [{self.names[i]: 1.0} for i in alone]
        for row in _simple(rest[: max(0, self.determined - len(alone))]):
            row = row * np.sign(row[np.abs(row).argmax()])
            order = np.argsort(-np.abs(row))
            kept = [i for i in order if abs(row[i]) >= _PART]
            shown.append({self.names[i]: float(row[i]) for i in kept})
        return sorted(shown, key=len)

    @property
    def found(self) -> tuple[str, ...]:
        """Numbers that data determine by themselves."""
        return tuple(name for name, rest in zip(self.names, self.left, strict=True) if rest <= ALONE)

    @property
    def at_prior(self) -> tuple[str, ...]:
        """Numbers of which data say next to nothing."""
        return tuple(name for name, rest in zip(self.names, self.left, strict=True) if rest > PARTLY)

    def words(self) -> list[str]:
        """One sentence each: how many combinations, what they are, what stays as it was."""
        k = self.determined
        said = [f"the data determine {_count(k)} of {len(self.names)} numbers or combinations"]
        for item in self.combinations:
            names = list(item)
            if len(item) == 1 and names[0] in self.found:
                left = self.left[self.names.index(names[0])]
                said.append(f"{names[0]} by itself (to {100.0 * left:.2g} % of what was not known before)")
            elif len(item) == 1:
                said.append(f"mostly {names[0]}")
            else:
                formula = " + ".join(f"{weight:.2f} {name}" for name, weight in item.items()).replace("+ -", "- ")
                said.append(f"{and_list(names)} only together: {formula}")
        if self.at_prior:
            said.append(f"{and_list(self.at_prior)} {'stay' if len(self.at_prior) > 1 else 'stays'} at the prior")
        return said


def identifiability(names: tuple[str, ...], slopes: Array, prior: Array) -> Identifiability:
    """slopes : (n, k) of residuals over noise with respect to ln p; prior : (k,) deviations of ln p."""
    k = len(names)
    scaled = np.vstack([slopes * prior, np.zeros((max(0, k - len(slopes)), k))])
    _, s, Vt = np.linalg.svd(scaled, full_matrices=False)
    left = np.sqrt(np.sum(Vt.T**2 / (1.0 + s**2), axis=1))
    return Identifiability(names, s, Vt, left)


def _simple(rows: Array) -> Array:
    """Orthonormal rows turned among themselves so that each has few large entries (varimax)."""
    r = len(rows)
    if r < 2:
        return rows
    turn, _, _ = qr(rows, pivoting=True)  # a start that names few numbers already: turned by 45° it would stay so
    A = rows.T
    last = 0.0
    for _ in range(200):
        L = A @ turn
        U, s, Vt = np.linalg.svd(A.T @ (L**3 - L * np.square(L).mean(axis=0)))
        turn = U @ Vt
        if s.sum() <= last * (1.0 + 1e-9):
            break
        last = s.sum()
    return np.asarray((A @ turn).T)


def _count(k: int) -> str:
    return {0: "none", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}.get(k, str(k))


def and_list(names: tuple[str, ...] | list[str]) -> str:
    """One, two and three."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
