"""Modes of a mechanism at one configuration or many: the rows change with θ, the bodies do not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled, kernel
from supple.compilation.parts import in_parts
from supple.compilation.threads import single_blas_thread
from supple.diagnostics import NumericalError
from supple.formulations.elastic_rest.block_modes import lowest_modes, scattered
from supple.formulations.elastic_rest.drives import DEFLECTION
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, Held
from supple.formulations.elastic_rest.rows import chosen_rows, rows_batch
from supple.kinematics.rest import rest as undeformed

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

SHAPES = 1e-8  # relative error of mode shapes; that of frequencies is its square
_SPARE = 4  # vectors beside the wanted ones: they make the last of these converge


class Reference(NamedTuple):
    """Where the search begins at every configuration: a shift well below the lowest mode at rest, the ω² from which
    modes are outside the block, and the modes at rest."""

    shift: float
    cut: float
    start: Array


@kernel(purpose="modes of vibration")
def modes_batch(rest, chosen, compliance, X, reference, count, tolerance, squares, Z, found):
    """ω² (N, count) and Z (N, count, n) at poses X (N, bodies + 1, 12); found (N,) how many there are, -1 if not."""
    shift, cut, start = reference
    C = np.empty((chosen.shape[0], Z.shape[2]))
    for k in range(X.shape[0]):
        chosen_rows(rest, chosen, X[k], C)
        found[k] = lowest_modes(rest[3], shift, C, compliance, start, cut, count, tolerance, squares[k], Z[k])


def rows_at(rest: ElasticRest, rows: Integers, X: Array) -> Array:
    """Rows over z at poses X (N, bodies + 1, 12): (N, rows, n)."""
    C = np.empty((len(X), len(rows), rest.size))
    compiled(rows_batch, count=len(X))(rest.arrays, rows, X, C)
    return C


@single_blas_thread()
def constrained_modes(
    rest: ElasticRest, held: Held, X: Array, count: int, tolerance: float = SHAPES
) -> tuple[Array, Array]:
    """ω² (N, k) and modes (N, k, n), k the smaller of `count` and the number that exists, at poses X (N, ...)."""
    reference = _reference(rest, held, count)
    squares, Z = np.empty((len(X), count)), np.zeros((len(X), count, rest.size))
    found = np.empty(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compiled(modes_batch, count=stop - start)(
            rest.arrays,
            held.rows,
            held.compliance,
            X[piece],
            reference,
            count,
            tolerance,
            squares[piece],
            Z[piece],
            found[piece],
        )

    in_parts(part, len(X))
    if (found < 0).any():
        raise NumericalError(
            f"its lowest {count} modes did not converge at {int((found < 0).sum())} of {len(X)} configurations",
            part=f'mechanism "{rest.numbering.mechanism.name}"',
            hint="ask for fewer modes, or look for parts whose stiffness differs by more than 1e12",
        )
    least = int(found.min(initial=count))
    return squares[:, :least], Z[:, :least]


def _reference(rest: ElasticRest, held: Held, count: int) -> Reference:
    key = f"reference modes {rest.band} {held.name} {count}"
    mechanism = rest.numbering.mechanism
    return mechanism.remembered(key, lambda: reference_at(rest, held, undeformed(mechanism).X, count))


def reference_at(rest: ElasticRest, held: Held, at: Array, count: int) -> Reference:
    """From the modes at one position (bodies + 1, 12), `count` of them and some to spare."""
    X = at[None]
    size = count + _SPARE
    squares, Z, found = np.empty((1, size)), np.zeros((1, size, rest.size)), np.empty(1, dtype=np.int64)
    shift = first_shift(rest, held, X[0])
    first = Reference(shift, 1e3 * shift, compiled(scattered, count=0)(size + _SPARE, rest.size))
    compiled(modes_batch, count=1)(rest.arrays, held.rows, held.compliance, X, first, size, SHAPES, squares, Z, found)
    if found[0] < 0:
        return first
    lowest = squares[0, : found[0]]
    moving = lowest[lowest > 1e-6 * shift]
    if found[0] < size:  # all modes there are: nothing is outside
        cut = 1e3 * float(lowest.max(initial=shift))
        return Reference(0.05 * float(moving.min(initial=20.0 * shift)), cut, first.start)
    # The last place is left to a vector without a pattern, for modes that have no part in those at rest.
    begin = np.vstack([Z[0, :-1], first.start[:1]])
    return Reference(0.05 * float(moving.min(initial=20.0 * shift)), lowest[-1], begin)


def first_shift(rest: ElasticRest, held: Held, X: Array) -> float:
    """A part of the lowest stiffness that any body or spring has."""
    known = stiffnesses(rest, held, X)
    return 0.01 * float(known[known > 0.0].min(initial=np.inf)) if known.any() else 1.0


def stiffnesses(rest: ElasticRest, held: Held, X: Array) -> Array:
    """What bodies and springs have along z, each by itself, at one position: Λ, and |C_i|²/c_i of the soft rows."""
    C = np.empty((len(held.rows), rest.size))
    compiled(chosen_rows, count=0)(rest.arrays, held.rows, X, C)
    soft = held.compliance > 0.0
    springs = np.square(C[soft]).sum(axis=1) / held.compliance[soft]
    bodies = rest.arrays.stiffness.copy()
    for drive in rest.drives.values():
        bodies[drive.column] *= DEFLECTION  # as of the body that deflects, not of the deflection by itself
    return np.concatenate([bodies, springs])
