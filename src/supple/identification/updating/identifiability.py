"""Identifiability: which combinations of parameters the data determine, also in words.

In units of the prior deviations of ln p, J̃ = U S Vᵀ: along a column v of V the data have s² times the information of
the prior, and leave 1/√(1 + s²) of its deviation. Directions with s > 3 are determined. Rotated to simple structure
[Kaiser 1958] they name the determined combinations.                                                     (updating, eqs.
17-19)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from supple.array_types import Array

DETERMINED = 3.0  # least ratio of the prior's deviation to that with data
ALONE, PARTLY = 1.0 / 3.0, 0.9  # of the prior's deviation: largest one of a determined, or partly determined, parameter
FLAT = np.log(10.0) * 0.3  # reference deviation of ln p for parameters without prior
_PART = 0.25  # of a direction: smaller components are not named


@dataclass(frozen=True, eq=False)
class Identifiability:
    """Information that data contain about parameters.

    Attributes
    ----------
    names : tuple of str
        Names of the parameters (k,).
    strengths : ndarray, shape (k,)
        Singular values s, descending.
    directions : ndarray, shape (k, k)
        Directions of the singular values (rows), in units of the prior deviations.
    left : ndarray, shape (k,)
        Remaining fraction of the prior deviation of each parameter.
    """

    names: tuple[str, ...]
    strengths: Array
    directions: Array
    left: Array

    @property
    def determined_count(self) -> int:
        """Number of determined combinations."""
        return int(np.count_nonzero(self.strengths > DETERMINED))

    @property
    def combinations(self) -> list[dict[str, float]]:
        """Determined directions, rotated so that each names few parameters, as weights of a unit vector in ln p.

        Parameters that are determined individually are directions of their own; the others are directions of the rest.
        """
        alone = [i for i, name in enumerate(self.names) if name in self.found]
        rest = self.directions[: self.determined_count].copy()
        rest[:, alone] = 0.0
        _, _, rest = np.linalg.svd(rest, full_matrices=False)
        shown = [{self.names[i]: 1.0} for i in alone]
        for row in _simple(rest[: max(0, self.determined_count - len(alone))]):
            row = row * np.sign(row[np.abs(row).argmax()])
            order = np.argsort(-np.abs(row))
            kept = [i for i in order if abs(row[i]) >= _PART]
            shown.append({self.names[i]: float(row[i]) for i in kept})
        return sorted(shown, key=len)

    @property
    def found(self) -> tuple[str, ...]:
        """Parameters that the data determine individually."""
        return tuple(name for name, rest in zip(self.names, self.left, strict=True) if rest <= ALONE)

    @property
    def at_prior(self) -> tuple[str, ...]:
        """Parameters that the data hardly determine."""
        return tuple(name for name, rest in zip(self.names, self.left, strict=True) if rest > PARTLY)

    def words(self) -> list[str]:
        """Return sentences: how many combinations are determined, which, and what stays at the prior."""
        k = self.determined_count
        sentences = [f"the data determine {_count(k)} of {len(self.names)} parameters or combinations"]
        for item in self.combinations:
            names = list(item)
            if len(item) == 1 and names[0] in self.found:
                left = self.left[self.names.index(names[0])]
                sentences.append(f"{names[0]} individually (to {100.0 * left:.2g} % of the prior uncertainty)")
            elif len(item) == 1:
                sentences.append(f"mostly {names[0]}")
            else:
                formula = " + ".join(f"{weight:.2f} {name}" for name, weight in item.items()).replace("+ -", "- ")
                sentences.append(f"{and_list(names)} only together: {formula}")
        if self.at_prior:
            sentences.append(f"{and_list(self.at_prior)} {'stay' if len(self.at_prior) > 1 else 'stays'} at the prior")
        return sentences


def identifiability(names: tuple[str, ...], slopes: Array, prior: Array) -> Identifiability:
    """Return the identifiability of parameters.

    slopes : (n, k) of residuals over noise with respect to ln p; prior : (k,) deviations of ln p
    """
    k = len(names)
    scaled = np.vstack([slopes * prior, np.zeros((max(0, k - len(slopes)), k))])
    _, s, Vt = np.linalg.svd(scaled, full_matrices=False)
    left = np.sqrt(np.sum(Vt.T**2 / (1.0 + s**2), axis=1))
    return Identifiability(names, s, Vt, left)


def _simple(rows: Array) -> Array:
    """Return orthonormal rows rotated among themselves so that each has few large entries (varimax)."""
    r = len(rows)
    if r < 2:
        return rows
    turn, _, _ = qr(
        rows, pivoting=True
    )  # a start with few large entries: from one rotated by 45° the iteration would not move
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
    """Return names as text: one, two and three."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
