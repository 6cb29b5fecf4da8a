"""Pole placement, and the modes that inputs cannot reach.

Poles are placed by scipy [Kautsky, Nichols, Van Dooren 1985; Tits, Yang 1996]; failures and inaccuracies are reported.
With several inputs many gains give the same poles. The gain is chosen whose poles are least sensitive to errors of A
and B.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import matrix_balance
from scipy.optimize import linear_sum_assignment
from scipy.signal import place_poles

from supple.array_types import Array
from supple.control.gains.feedback_gain import FeedbackGain, require_continuous_time
from supple.control.observers.sampled_plant import discretize, require_sample_time
from supple.diagnostics import InputError, NumericalError, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.results.linear_model import LinearModel

# States that the inputs cannot reach.
#
# The reachable subspace is the smallest that contains the columns of B and is mapped into itself by A; Q is an
# orthonormal basis of its complement, QᵀB = 0 and QᵀA = (QᵀA Q) Qᵀ. Built direction by direction, with a decision on
# the rank at each, it keeps its accuracy for repeated eigenvalues; a test of every eigenvalue would not.


@dataclass(frozen=True, eq=False)
class UnreachableModes:
    """Modes that inputs cannot reach.

    modes  : eigenvalues of A that no feedback can move
    states : names of the states that take part, largest first
    """

    modes: NDArray[np.complex128]
    states: tuple[str, ...]

    def __bool__(self) -> bool:
        return len(self.modes) > 0

    def __str__(self) -> str:
        return ", ".join(f'"{name}"' for name in self.states[:6]) + (", ..." if len(self.states) > 6 else "")


def unreachable_modes(A: Array, B: Array, names: tuple[str, ...], *, unstable: bool = False) -> UnreachableModes:
    """Return the modes that no input reaches; with `unstable` only those that do not decay by themselves."""
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    outside = _outside(balanced, B / scale[:, None])
    values, vectors = np.linalg.eig(outside.T @ balanced @ outside) if outside.size else (np.zeros(0), outside)
    if unstable:
        slow = values.real >= -1e-9 * max(1.0, float(np.abs(values).max(initial=0.0)))
        values, vectors = values[slow], vectors[:, slow]
    share = np.abs(outside @ vectors).max(axis=1, initial=0.0) if len(values) else np.zeros(len(A))
    order = [int(i) for i in np.argsort(-share, kind="stable") if share[i] > 0.1 * share.max(initial=0.0)]
    return UnreachableModes(values.astype(complex), tuple(names[i] for i in order))


def _outside(A: Array, B: Array) -> Array:
    """Return an orthonormal basis (n, k) of the complement of the reachable subspace."""
    size = np.linalg.norm(B, axis=0)
    found = np.zeros((len(A), 0))
    new = B[:, size > 0.0] / size[size > 0.0]
    scale = max(float(np.linalg.norm(A, 2)), np.finfo(float).tiny)
    while new.shape[1] and found.shape[1] < len(A):
        for _ in range(2):  # twice, against cancellation in the first subtraction
            new = new - found @ (found.T @ new)
        U, sigma, _ = np.linalg.svd(new, full_matrices=False)
        kept = U[:, sigma > _RANK]
        found = np.hstack([found, kept])
        new = A @ kept / scale
    whole = np.linalg.qr(found, mode="complete")[0] if found.shape[1] else np.eye(len(A))
    return whole[:, found.shape[1] :]


# Pole placement.


Poles = NDArray[np.complex128]

ACHIEVED = 1e-9  # of the largest pole: accuracy without a warning
_FAILED = 1e-3
_SAME = 1e-9
_RANK = 1e-10  # smallest singular value, of the largest, that counts as a direction
_ITERATIONS = 300
_ROBUST = 1e-3


ComplexLike = ArrayLike


def pole_placement(linear: LinearModel, poles: ComplexLike, *, sample_time: float | None = None) -> FeedbackGain:
    """Compute the feedback gain that places the poles of a linear model.

    Parameters
    ----------
    linear : LinearModel
        Linear model in continuous time.
    poles : array_like of complex, shape (states,)
        Poles of A - B K, 1/s, in conjugate pairs. None may occur more often than there are independent inputs.
    sample_time : float, optional
        Sample time, s. Default: none, for continuous feedback.

        With a sample time inputs are held, and the eigenvalues of the sampled loop are e^{pT}.

    Returns
    -------
    FeedbackGain
        Gain; with several inputs the one whose poles are least sensitive to errors of A and B.

    Raises
    ------
    InputError
        If the poles are not conjugate or too often repeated, or inputs do not reach all modes.
    NumericalError
        If no gain is found, or a pole is missed.

    Warns
    -----
    SuppleWarning
        If a pole is met with low accuracy, or the search for the least sensitive gain did not converge.

    See Also
    --------
    decoupled_gains : Gain in closed form with one input per coordinate.
    lqr : Gain of least quadratic cost.

    Notes
    -----
    `scipy.signal.place_poles` [Kautsky, Nichols, Van Dooren 1985; Tits, Yang 1996].

    Examples
    --------
    >>> import supple
    >>> from supple import control
    >>> linear = supple.linearize(supple.load("two-link"), "near")
    >>> gain = control.pole_placement(linear, [-3.0, -4.0, -5.0, -6.0])
    >>> sorted(gain.poles.real.round(3).tolist())
    [-6.0, -5.0, -4.0, -3.0]
    """
    require_arguments(pole_placement, locals())
    require_continuous_time(linear)
    poles = _require_poles(linear, poles)
    require_sample_time(sample_time)
    missed = unreachable_modes(linear.A, linear.B, linear.states)
    if missed:
        modes = ", ".join(f"{mode:.4g}" for mode in missed.modes)
        raise InputError(
            f"the inputs do not reach {len(missed.modes)} modes, at {modes} 1/s, in the states {missed}",
            part="pole placement", hint="add an actuator there, or remove those states from the model",
        )  # fmt: skip
    A, B, targets = linear.A, linear.B, poles
    if sample_time is not None:
        A, B = discretize(A, B, sample_time)
        targets = np.exp(poles * sample_time)
    # Inputs of one size, and no more of them than are independent: scipy decides on ranks without regard to units.
    size = np.where((norm := np.linalg.norm(B, axis=0)) > 0.0, norm, 1.0)
    U, sigma, Vt = np.linalg.svd(B / size, full_matrices=False)
    rank = int((sigma > _RANK * sigma[0]).sum())
    _require_few_repeats(poles, rank)
    gain, settled = _place_poles(A, U[:, :rank] * sigma[:rank], targets, rank)
    K = (Vt[:rank].T @ gain) / size[:, None]
    found = np.linalg.eigvals(A - B @ K)
    order = linear_sum_assignment(np.abs(targets[:, None] - found[None, :]))[1]
    _judge(poles, targets, found[order], settled)
    reached = found[order] if sample_time is None else np.log(found[order].astype(complex)) / sample_time
    return FeedbackGain(linear, K, reached.astype(complex), sample_time)


def _require_poles(linear: LinearModel, poles: ArrayLike) -> Poles:
    try:
        poles = np.asarray(poles, dtype=complex)
    except (TypeError, ValueError):
        raise InputError("not numbers", part="poles", hint="give complex numbers, 1/s") from None
    n = len(linear.states)
    if poles.shape != (n,) or not np.isfinite(poles).all():
        raise InputError(f"the shape is {poles.shape} for {n} states", part="poles", hint=f"give {n} finite poles")
    large = float(np.abs(poles).max())
    apart = np.abs(poles[:, None] - poles.conj()[None, :])
    partner = linear_sum_assignment(apart)
    worst = int(apart[partner].argmax())
    if apart[partner][worst] > _SAME * large:
        alone = poles[worst]
        raise InputError(
            f"{alone:.6g} has no complex conjugate, so that no real gain exists",
            part="poles", hint=f"give {alone.conjugate():.6g} as well",
        )  # fmt: skip
    return poles


def _require_few_repeats(poles: Poles, rank: int) -> None:
    large = max(float(np.abs(poles).max()), np.finfo(float).tiny)
    for pole in poles:
        times = int((np.abs(poles - pole) <= _SAME * large).sum())
        if times > rank:
            raise InputError(
                f"{pole:.6g} is given {times} times, but only {rank} of the inputs are independent",
                part="poles", hint=f"repeat a pole at most {rank} times; separate the others by a few percent",
            )  # fmt: skip


def _place_poles(A: Array, B: Array, targets: Poles, rank: int) -> tuple[Array, bool]:
    """Return the gain, and whether the search for the least sensitive one converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = place_poles(A, B, targets, maxiter=_ITERATIONS, rtol=_ROBUST)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise NumericalError(
                f"no gain was found ({' '.join(str(error).split())})", part="pole placement",
                hint="separate the poles, and choose them near the size of the model's own",
            ) from None  # fmt: skip
    return np.asarray(found.gain_matrix), not any("Convergence" in str(item.message) for item in caught)


def _judge(poles: Poles, targets: Poles, found: Poles, settled: bool) -> None:
    """Raise an error for poles beyond tolerance, and warn of low accuracy or of a search that did not converge."""
    off = np.abs(found - targets) / max(float(np.abs(targets).max()), np.finfo(float).tiny)
    worst = int(off.argmax())
    if off[worst] > _FAILED:
        raise NumericalError(
            f"the pole {poles[worst]:.6g} 1/s was missed by {off[worst]:.2g} of the largest", part="pole placement",
            hint="choose poles closer to the model's own, or use decoupled_gains",
        )  # fmt: skip
    if off[worst] > ACHIEVED:
        warnings.warn(
            f"the pole {poles[worst]:.6g} 1/s has a relative error of {off[worst]:.2g}, above {ACHIEVED:g}; the problem"
            " is badly conditioned: choose poles closer to the model's own",
            SuppleWarning, stacklevel=3,
        )  # fmt: skip
    if not settled:
        warnings.warn(
            f"the poles are placed, but the search for the least sensitive gain did not converge in {_ITERATIONS} "
            "iterations; separate the poles",
            SuppleWarning, stacklevel=3,
        )  # fmt: skip
