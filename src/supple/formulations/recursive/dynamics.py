"""Dynamics of trees for one state or many.

The arguments q (nq,), rates q̇ (n,), accelerations q̈ (n,) and actuator forces u (m,) may have a leading axis (N, ...);
results have the same axis. Derivatives by q are taken in tangent coordinates: for joints with coordinates these are the
coordinates, for spherical and free ones the twist of the body in its own axes (docs/theory/recursive.md, eq. 30).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.bundle import native_array
from supple.compilation.threads import cores
from supple.diagnostics import InputError, NumericalError
from supple.formulations.recursive.batch import LinearizationResults, Results, batch, memory_size
from supple.formulations.recursive.gather import States
from supple.formulations.recursive.recursion import FORWARD, FORWARD_VARIATION, INVERSE, INVERSE_VARIATION, MASS_MATRIX
from supple.formulations.recursive.tree import TreeArrays

Batch = TypeVar("Batch", States, Results, LinearizationResults)

SIDE_BY_SIDE = 32
"""Number of states that are processed side by side in a batch."""
_LEAST = 256  # states worth a thread: waking one takes as long as fifty of them


class InverseVariation(NamedTuple):
    """Mass matrix M = ∂τ/∂q̈, by_q = ∂τ/∂q and by_rate = ∂τ/∂q̇ of τ(q, q̇, q̈), (n, n) or (N, n, n)."""

    M: Array
    by_q: Array
    by_rate: Array


class ForwardVariation(NamedTuple):
    """Accelerations q̈ (n,) and their derivatives by q, q̇ (n, n) and by the actuator forces (n, m)."""

    accelerations: Array
    by_q: Array
    by_rate: Array
    by_input: Array


class LinearizedMotion(NamedTuple):
    """Linearized motion d(δq, δq̇)/dt = A (δq, δq̇) + B δu: A (2n, 2n), B (2n, m), and q̈ (n,) of the motion itself."""

    A: Array
    B: Array
    accelerations: Array


def inverse_dynamics(
    tree: TreeArrays, q: ArrayLike, rates: ArrayLike, accelerations: ArrayLike, u: ArrayLike | None = None
) -> Array:
    """Return the forces τ (n,) that the motion needs along the coordinates, besides springs, dampers, loads and u."""
    states = _States(tree, q, rates, u, accelerations)
    tau = np.empty((states.count, tree.n))
    states.run(INVERSE, tau)
    return states.shape_result(tau)


def mass_matrix(tree: TreeArrays, q: ArrayLike) -> Array:
    """Return the mass matrix M (n, n)."""
    states = _States(tree, q, None, None)
    M, bias = np.zeros((states.count, tree.n, tree.n)), np.empty((states.count, tree.n))
    states.run(MASS_MATRIX, M, bias)
    return states.shape_result(M)


def forward_dynamics(tree: TreeArrays, q: ArrayLike, rates: ArrayLike, u: ArrayLike | None = None) -> Array:
    """Return the accelerations q̈ (n,)."""
    states = _States(tree, q, rates, u)
    states.run(FORWARD)
    return states.shape_result(_finite(states.accelerations))


def inverse_variation(
    tree: TreeArrays, q: ArrayLike, rates: ArrayLike, accelerations: ArrayLike, u: ArrayLike | None = None
) -> InverseVariation:
    """Return M, ∂τ/∂q and ∂τ/∂q̇ for any motion."""
    states = _States(tree, q, rates, u, accelerations)
    M, by_q, by_rate = (np.zeros((states.count, tree.n, tree.n)) for _ in range(3))
    states.run(INVERSE_VARIATION, M, by_q, by_rate)
    return InverseVariation(*(states.shape_result(item) for item in (M, by_q, by_rate)))


def forward_variation(tree: TreeArrays, q: ArrayLike, rates: ArrayLike, u: ArrayLike | None = None) -> ForwardVariation:
    """Return q̈ and its derivatives; ∂q̈/∂u is M⁻¹ if every coordinate has an actuator."""
    A, B, accelerations = state_space(tree, q, rates, u)
    n = tree.n
    return ForwardVariation(accelerations, A[..., n:, :n], A[..., n:, n:], B[..., n:, :])


def state_space(
    tree: TreeArrays, q: ArrayLike, rates: ArrayLike, u: ArrayLike | None = None, *, threads: int | None = None
) -> LinearizedMotion:
    """Return the exact linearization A and B at every state (docs/theory/recursive.md, eqs. 31-32)."""
    states = _States(tree, q, rates, u, threads=threads)
    A, B = empty_state_space(tree, states.count)
    states.run(FORWARD_VARIATION, A, B)
    return LinearizedMotion(
        states.shape_result(A), states.shape_result(B), states.shape_result(_finite(states.accelerations))
    )


class _States:
    """States as arguments of kernels, and the execution of a kernel over them."""

    def __init__(
        self,
        tree: TreeArrays,
        q: ArrayLike,
        rates: ArrayLike | None,
        u: ArrayLike | None,
        accelerations: ArrayLike | None = None,
        threads: int | None = None,
    ):
        self.tree, self.threads = tree, threads
        given = np.asarray(q, dtype=np.float64)
        self.single = given.ndim == 1
        self.q = _rows("q", given, tree.nq, None)
        self.count = len(self.q)
        self.rates = _rows("rates", rates, tree.n, self.count)
        self.u = _rows("u", u, tree.inputs, self.count)
        self.accelerations = _rows("accelerations", accelerations, tree.n, self.count)

    def run(self, wanted: int, *filled: Array) -> None:
        """Compute the quantities that `batch` defines for every part of the batch, on different cores."""
        work, tree = compile_kernel(batch, count=self.count, fused=True), self.tree
        side = (0,) * (1 if self.count == 1 else SIDE_BY_SIDE)
        size = int(memory_size(tree.packed.integers, len(side)))
        nothing = np.empty((self.count, 0))
        results = Results(*[*filled, nothing, nothing, nothing][:3])
        states = States(self.q, self.rates, self.accelerations, self.u)

        def part(start: int, stop: int) -> None:
            given, taken = pieces_of(states, start, stop), pieces_of(results, start, stop)
            work(side, 1, wanted, tree.packed, memory(size), stop - start, given, taken)

        run_in_threads(part, self.count, self.threads)

    def shape_result(self, values: Array) -> Array:
        return values[0] if self.single else values


def pieces_of(arrays: Batch, start: int, stop: int) -> Batch:
    """Return rows of every array of a NamedTuple, flat."""
    return type(arrays)(*(item[start:stop].reshape(-1) for item in arrays))


def memory(size: int) -> Array:
    """Return a zero array aligned to vector registers, since unaligned loads take twice as long."""
    raw = np.zeros(size + 8)
    start = (-raw.ctypes.data // 8) % 8
    return raw[start : start + size]


def empty_state_space(tree: TreeArrays, count: int) -> tuple[Array, Array]:
    """Return A and B with the entries that are equal for all states, d(δq)/dt = δq̇."""
    n = tree.n
    A, B = np.zeros((count, 2 * n, 2 * n)), np.zeros((count, 2 * n, tree.inputs))
    A[:, np.arange(n), n + np.arange(n)] = 1.0
    return A, B


def run_in_threads(work: Callable[[int, int], None], count: int, threads: int | None) -> None:
    """Call work(start, stop) on parts of a batch in parallel threads (kernels release the GIL)."""
    workers = threads if threads is not None else cores()
    pieces = min(workers, count // _LEAST)
    if pieces < 2:
        work(0, count)
        return
    bounds = (np.linspace(0, count // SIDE_BY_SIDE, pieces + 1).astype(int) * SIDE_BY_SIDE).tolist()
    bounds[-1] = count
    pool = _pool(workers)
    for done in [pool.submit(work, a, b) for a, b in pairwise(bounds)]:
        done.result()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers)


def _rows(label: str, given: ArrayLike | None, width: int, count: int | None) -> Array:
    """Return (N, width) with one state per row; zeros if no values are given."""
    if given is None:
        return np.zeros((count or 1, width))
    values = native_array(given)
    rows = values.reshape(1, -1) if values.ndim == 1 else values
    if rows.ndim != 2 or rows.shape[1] != width or (count is not None and len(rows) != count):
        wanted = f"({width},) or (N, {width})" if count is None or count == 1 else f"({count}, {width})"
        raise InputError(f"must have shape {wanted} (got {values.shape})", part=label, hint="one row per state")
    return rows


def _finite(accelerations: Array) -> Array:
    good = np.isfinite(accelerations).all(axis=1)
    if not good.all():
        at = int(np.flatnonzero(~good)[0])
        raise NumericalError(
            f"the accelerations at state {at} are not finite",
            part="tree",
            hint="check for a joint that moves no mass, a distance of zero length, or a state that is not finite",
        )
    return accelerations
