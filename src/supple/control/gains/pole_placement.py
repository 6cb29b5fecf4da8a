"""Gains that place poles anywhere, and the states that inputs cannot reach.

Poles are placed by scipy [Kautsky, Nichols, Van Dooren 1985; Tits, Yang 1996], with its traps reported. With several
inputs many gains give the same poles; the one is taken whose poles depend least on errors of A and B.
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
from supple.control.observers.sampled_plant import held, require_sample_time
from supple.diagnostics import InputError, NumericalError, SuppleWarning
from supple.diagnostics.arguments import require_arguments
from supple.results.linear_model import LinearModel

# States that the inputs cannot reach.
#
# The reachable subspace is the smallest that holds the columns of B and is mapped into itself by A; Q is an orthonormal
# basis of what is at right angles to it, QᵀB = 0 and QᵀA = (QᵀA Q) Qᵀ. Built direction by direction, with a decision on
# the rank at each, it does not lose digits to repeated eigenvalues, as a test of every eigenvalue would.


@dataclass(frozen=True, eq=False)
class Unreached:
    """modes : eigenvalues of A that no feedback can move; states : the names that take part, largest first."""

    modes: NDArray[np.complex128]
    states: tuple[str, ...]

    def __bool__(self) -> bool:
        return len(self.modes) > 0

    def __str__(self) -> str:
        return ", ".join(f'"{name}"' for name in self.states[:6]) + (", ..." if len(self.states) > 6 else "")


def unreached(A: Array, B: Array, names: tuple[str, ...], *, unstable: bool = False) -> Unreached:
    """What no input reaches; with `unstable` only modes that do not decay by themselves."""
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    outside = _outside(balanced, B / scale[:, None])
    values, vectors = np.linalg.eig(outside.T @ balanced @ outside) if outside.size else (np.zeros(0), outside)
    if unstable:
        slow = values.real >= -1e-9 * max(1.0, float(np.abs(values).max(initial=0.0)))
        values, vectors = values[slow], vectors[:, slow]
    share = np.abs(outside @ vectors).max(axis=1, initial=0.0) if len(values) else np.zeros(len(A))
    order = [int(i) for i in np.argsort(-share, kind="stable") if share[i] > 0.1 * share.max(initial=0.0)]
    return Unreached(values.astype(complex), tuple(names[i] for i in order))


def _outside(A: Array, B: Array) -> Array:
    """Orthonormal basis (n, k) of what is at right angles to the reachable subspace."""
    size = np.linalg.norm(B, axis=0)
    found = np.zeros((len(A), 0))
    new = B[:, size > 0.0] / size[size > 0.0]
    scale = max(float(np.linalg.norm(A, 2)), np.finfo(float).tiny)
    while new.shape[1] and found.shape[1] < len(A):
        for _ in range(2):  # once more for the digits that the first subtraction lost
            new = new - found @ (found.T @ new)
        U, sigma, _ = np.linalg.svd(new, full_matrices=False)
        kept = U[:, sigma > _RANK]
        found = np.hstack([found, kept])
        new = A @ kept / scale
    whole = np.linalg.qr(found, mode="complete")[0] if found.shape[1] else np.eye(len(A))
    return whole[:, found.shape[1] :]


# Pole placement.


Poles = NDArray[np.complex128]

ACHIEVED = 1e-9  # of the largest pole: as close as poles must come to those asked for
_FAILED = 1e-3
_SAME = 1e-9
_RANK = 1e-10  # a direction that adds less, of the largest, adds nothing
_ITERATIONS = 300
_ROBUST = 1e-3


ComplexLike = ArrayLike


def pole_placement(linear: LinearModel, poles: ComplexLike, *, sample_time: float | None = None) -> FeedbackGain:
    """The gain with which A - B K has the poles.

    poles       : (states,) complex 1/s, in conjugate pairs; none more often than there are independent inputs
    sample_time : s; the inputs are held in between, and the samples of the loop have the poles e^{pT}
    """
    require_arguments(pole_placement, locals())
    require_continuous_time(linear)
    asked = _asked(linear, poles)
    require_sample_time(sample_time)
    missed = unreached(linear.A, linear.B, linear.states)
    if missed:
        modes = ", ".join(f"{mode:.4g}" for mode in missed.modes)
        raise InputError(
            f"{len(missed.modes)} of its modes are beyond the inputs, at {modes} 1/s, in the states {missed}",
            part="pole placement", hint="add an actuator there, or take those states out of the model",
        )  # fmt: skip
    A, B, wanted = linear.A, linear.B, asked
    if sample_time is not None:
        A, B = held(A, B, sample_time)
        wanted = np.exp(asked * sample_time)
    # Inputs of one size, and no more of them than are independent: scipy decides on ranks without regard to units.
    size = np.where((norm := np.linalg.norm(B, axis=0)) > 0.0, norm, 1.0)
    U, sigma, Vt = np.linalg.svd(B / size, full_matrices=False)
    rank = int((sigma > _RANK * sigma[0]).sum())
    _require_few_repeats(asked, rank)
    gain, settled = _placed(A, U[:, :rank] * sigma[:rank], wanted, rank)
    K = (Vt[:rank].T @ gain) / size[:, None]
    found = np.linalg.eigvals(A - B @ K)
    order = linear_sum_assignment(np.abs(wanted[:, None] - found[None, :]))[1]
    _judge(asked, wanted, found[order], settled)
    reached = found[order] if sample_time is None else np.log(found[order].astype(complex)) / sample_time
    return FeedbackGain(linear, K, reached.astype(complex), sample_time)


def _asked(linear: LinearModel, poles: ArrayLike) -> Poles:
    try:
        asked = np.asarray(poles, dtype=complex)
    except (TypeError, ValueError):
        raise InputError("they are not numbers", part="poles", hint="give complex numbers, 1/s") from None
    n = len(linear.states)
    if asked.shape != (n,) or not np.isfinite(asked).all():
        raise InputError(f"{asked.shape} are given for {n} states", part="poles", hint=f"give {n} finite poles")
    large = float(np.abs(asked).max())
    apart = np.abs(asked[:, None] - asked.conj()[None, :])
    partner = linear_sum_assignment(apart)
    worst = int(apart[partner].argmax())
    if apart[partner][worst] > _SAME * large:
        alone = asked[worst]
        raise InputError(
            f"{alone:.6g} has no conjugate partner, and a real gain needs one",
            part="poles", hint=f"give {alone.conjugate():.6g} as well",
        )  # fmt: skip
    return asked


def _require_few_repeats(asked: Poles, rank: int) -> None:
    large = max(float(np.abs(asked).max()), np.finfo(float).tiny)
    for pole in asked:
        times = int((np.abs(asked - pole) <= _SAME * large).sum())
        if times > rank:
            raise InputError(
                f"{pole:.6g} is asked for {times} times, and only {rank} of the inputs are independent",
                part="poles", hint=f"repeat a pole at most {rank} times: set some apart by a few percent",
            )  # fmt: skip


def _placed(A: Array, B: Array, wanted: Poles, rank: int) -> tuple[Array, bool]:
    """The gain, and whether the search for the least sensitive one has settled."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = place_poles(A, B, wanted, maxiter=_ITERATIONS, rtol=_ROBUST)
        except (ValueError, np.linalg.LinAlgError) as error:
            raise NumericalError(
                f"no gain was found ({' '.join(str(error).split())})", part="pole placement",
                hint="set the poles apart, and of the size of the model's own",
            ) from None  # fmt: skip
    return np.asarray(found.gain_matrix), not any("Convergence" in str(item.message) for item in said)


def _judge(asked: Poles, wanted: Poles, found: Poles, settled: bool) -> None:
    """Poles beyond tolerance are a failure; a search that has not settled is worth knowing."""
    off = np.abs(found - wanted) / max(float(np.abs(wanted).max()), np.finfo(float).tiny)
    worst = int(off.argmax())
    if off[worst] > _FAILED:
        raise NumericalError(
            f"{asked[worst]:.6g} 1/s was missed by {off[worst]:.2g} of the largest", part="pole placement",
            hint="ask for poles closer to the model's own, or use decoupled gains",
        )  # fmt: skip
    if off[worst] > ACHIEVED:
        warnings.warn(
            f"the pole {asked[worst]:.6g} 1/s was met to {off[worst]:.2g} only: the problem is badly conditioned",
            SuppleWarning, stacklevel=3,
        )  # fmt: skip
    if not settled:
        warnings.warn(
            f"the poles are placed, but the least sensitive gain was not found in {_ITERATIONS} iterations; "
            "poles further apart help",
            SuppleWarning, stacklevel=3,
        )  # fmt: skip
