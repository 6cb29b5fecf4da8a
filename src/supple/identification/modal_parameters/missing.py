"""How much of the responses no mode explains, and near which frequencies that looks like a mode."""

from __future__ import annotations

import numpy as np

from supple.array_types import Array, Complex

_SHARE = 0.1  # of the power of the responses about a line: less may be noise, or what is wrong with another mode
_STANDS_OUT = 10.0  # over the power that is left over on the lines about
_ABOUT = 41  # lines, as many as say how much is left over near a mode
_APART = 4  # lines: nearer ones are of one resonance


def powers(H: Complex, fitted: Complex) -> tuple[Array, Array]:
    """(N,) of what is left over and of the responses, Σ_oi |.|² / p_o, p_o the mean square of a response.    [eq. 21]

    A response counts as one, whatever its unit; one of its references that does not move it, as by symmetry, adds
    nothing but its noise to either.
    """
    p = np.maximum((np.abs(H) ** 2).sum(axis=2, keepdims=True).mean(axis=0, keepdims=True), np.finfo(float).tiny)
    left, whole = (np.sum(np.abs(one) ** 2 / p, axis=(1, 2)) for one in (H - fitted, H))
    return np.asarray(left), np.asarray(whole)


def left_over_share(H: Complex, fitted: Complex) -> float:
    """Of the power of all lines, what is left over."""
    left, whole = powers(H, fitted)
    return float(left.sum() / max(float(whole.sum()), np.finfo(float).tiny))


def missing_modes(hertz: Array, H: Complex, fitted: Complex) -> Array:
    """Hz, where what is left over has a peak that no noise has: a mode seems missing there.

    The median of three lines must be a tenth of the responses' power and ten times what is left over about it; one
    line alone is a disturbance.
    """
    left, whole = powers(H, fitted)
    if len(left) < 3:
        return np.zeros(0)
    three = np.median(np.stack([_shifted(left, -1), left, _shifted(left, 1)]), axis=0)
    size = np.median(np.stack([_shifted(whole, -1), whole, _shifted(whole, 1)]), axis=0)
    half = _ABOUT // 2
    about = np.array([np.median(left[max(k - half, 0) : k + half + 1]) for k in range(len(left))])
    found: list[int] = []
    for k in np.argsort(-three, kind="stable").tolist():
        if (
            three[k] > _SHARE * size[k]
            and three[k] > _STANDS_OUT * about[k]
            and all(abs(k - other) > _APART for other in found)
        ):
            near = slice(max(k - 1, 0), k + 2)
            found.append(max(k - 1, 0) + int(left[near].argmax()))
    return np.sort(hertz[found])


def _shifted(values: Array, by: int) -> Array:
    """The same one line on, with the end repeated."""
    return np.asarray(values[np.clip(np.arange(len(values)) + by, 0, len(values) - 1)])
