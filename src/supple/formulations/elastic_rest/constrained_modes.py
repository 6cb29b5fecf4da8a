"""Modes of a mechanism at one configuration or many, with a warning for configurations beyond a stiffness table.

The rows change with θ, the bodies do not.
"""

from __future__ import annotations

import warnings

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import compile_kernel, kernel
from supple.compilation.threads import in_parts, single_blas_thread
from supple.diagnostics import SuppleWarning
from supple.formulations.elastic_rest.block_modes import Search, lowest_modes, make_start
from supple.formulations.elastic_rest.elastic_rest import ElasticRest, HeldRows
from supple.formulations.elastic_rest.joint_stiffness_over_position import coordinate_at, within
from supple.formulations.elastic_rest.response_operator import Structure
from supple.formulations.elastic_rest.rows import chosen_rows, part_poses, rows_batch
from supple.formulations.elastic_rest.yielding_drives import DEFLECTION
from supple.kinematics.primitives import NONE
from supple.kinematics.rest import rest as undeformed

SHAPES = 5e-10  # relative error of mode shapes; that of frequencies is its square
_SHIFT = 1.0  # of the lowest ω² at rest
_SPARE = 4  # vectors beside the wanted ones, at least: they make the last of these converge
_PASSES = 6.0  # of a block: where it is expected to need more, a larger one is looked for


@kernel(purpose="modes of vibration")
def modes_batch(rest, held, search, X, squares, Z, number):
    """Compute ω² (N, count) and Z (N, count, n) at poses X (N, bodies + 1, 12); number (N,) of modes found.

    rest : ElasticArrays; held : Held, the constrained rows
    """
    C = np.empty((held.rows.shape[0], Z.shape[2]))
    for k in range(X.shape[0]):
        chosen_rows(rest, held.rows, X[k], C)
        number[k] = lowest_modes(Structure(rest.stiffness, C, held.compliance), search, squares[k], Z[k])


def rows_over_coordinates(rest: ElasticRest, rows: Integers, X: Array) -> Array:
    """Return rows over z at poses X (N, bodies + 1, 12): (N, rows, n)."""
    warn_beyond_tables(rest, X)
    C = np.empty((len(X), len(rows), rest.size))
    compile_kernel(rows_batch, count=len(X))(rest.arrays, rows, X, C)
    return C


@single_blas_thread()
def constrained_modes(
    rest: ElasticRest, held: HeldRows, X: Array, count: int, tolerance: float = SHAPES
) -> tuple[Array, Array]:
    """Return ω² (N, k) and modes (N, k, n) at poses X (N, ...), k at most `count`."""
    warn_beyond_tables(rest, X)
    search = search_for(rest, held, count)._replace(tolerance=tolerance)
    squares, Z, number = searched_modes(rest, held, search, X, count)
    least = int(number.min(initial=count))
    return squares[:, :least], Z[:, :least]


def searched_modes(
    rest: ElasticRest, held: HeldRows, search: Search, X: Array, count: int
) -> tuple[Array, Array, Integers]:
    """Return the result of `modes_batch`, with the work divided among the cores; callers limit BLAS to one thread."""
    squares, Z = np.empty((len(X), count)), np.zeros((len(X), count, rest.size))
    number = np.zeros(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compile_kernel(modes_batch, count=stop - start)(
            rest.arrays, held, search, X[piece], squares[piece], Z[piece], number[piece]
        )

    if count:
        in_parts(part, len(X))
    return squares, Z, number


def search_for(rest: ElasticRest, held: HeldRows, count: int) -> Search:
    """Return the search for `count` modes from those at rest, computed once."""
    rows = f"{list(rest.displacements)} {held.rows.tobytes()!r} {held.compliance.tobytes()!r}"
    mechanism = rest.numbering.mechanism
    return mechanism.compute_once(
        f"search for modes {rest.band} {rows} {count}",
        lambda: search_from(rest, held, undeformed(mechanism).X, count),
    )


@single_blas_thread()
def search_from(rest: ElasticRest, held: HeldRows, at: Array, count: int) -> Search:
    """Return the search for `count` modes that starts with those at one position (bodies + 1, 12).

    The start has additional modes, up to the end of a cluster. The shift is about the lowest ω².
    """
    size, available = count + _SPARE, rest.size
    shift = first_shift(rest, held, at)
    while True:
        first = Search(shift, 1e3 * shift, compile_kernel(make_start, count=0)(size + _SPARE, rest.size), SHAPES)
        squares, Z, number = searched_modes(rest, held, first, at[None], size)
        lowest = squares[0, : number[0]]
        moving = lowest[lowest > 1e-6 * shift]
        # Much lower, and what stiff rows add to those they depend on as rigid bodies would be rounding, 1e-11 of both.
        below = _SHIFT * float(moving.min(initial=shift / _SHIFT))
        if number[0] < size:  # all modes there are: nothing is outside
            first = first._replace(start=first.start[: count + 2 * _SPARE])
            return first._replace(shift=below, cut=1e3 * float(lowest.max(initial=shift)))
        spare, passes = cheapest_block(lowest + below, count)
        if passes <= _PASSES or size >= available:
            break
        size = min(2 * size, available)
    # The last place is left to a vector without a pattern, for modes that have no part in those at rest.
    return Search(below, float(lowest[spare - 1]), np.vstack([Z[0, : spare - 1], first.start[:1]]), SHAPES)


def cheapest_block(shifted: Array, count: int) -> tuple[int, float]:
    """Return the size p of the block that finds `count` modes with the least work, p times the passes, and the passes.

    shifted : ω² + s, ascending. A pass gains a factor T₃(2 (ω_p² + s)/(ω_k² + s) - 1) on the last requested mode, ω_k.
    """
    sizes = np.arange(min(count + _SPARE, len(shifted)), len(shifted) + 1)
    gain = 3.0 * np.arccosh(np.maximum(2.0 * shifted[sizes - 1] / shifted[count - 1] - 1.0, 1.0 + 1e-12))
    passes = 1.0 - np.log(SHAPES) / gain
    best = 0 if passes[0] <= _PASSES else int(np.argmin(sizes * passes))
    return int(sizes[best]), float(passes[best])


def first_shift(rest: ElasticRest, held: HeldRows, X: Array) -> float:
    """Return a fraction of the lowest stiffness of any body or spring."""
    known = stiffnesses(rest, held, X)
    return 0.01 * float(known[known > 0.0].min(initial=np.inf)) if known.any() else 1.0


def stiffnesses(rest: ElasticRest, held: HeldRows, X: Array) -> Array:
    """Return the individual stiffnesses along z at one position: Λ, and |C_i|²/c_i of the compliant rows."""
    C = np.empty((len(held.rows), rest.size))
    compile_kernel(chosen_rows, count=0)(rest.arrays, held.rows, X, C)
    soft = held.compliance > 0.0
    springs = np.square(C[soft]).sum(axis=1) / held.compliance[soft]
    bodies = rest.arrays.stiffness.copy()
    for drive in rest.drives.values():
        bodies[drive.column] *= DEFLECTION  # as of the body that deflects, not of the deflection by itself
    return np.concatenate([bodies, springs])


# Warnings of tables that are exceeded.


_SAID: dict[str | tuple[str, type[Warning], int], int] = {}  # what `warnings` remembers of this place


def warn_beyond_tables(rest: ElasticRest, X: Array) -> None:
    """Issue a SuppleWarning for each table that some of the poses X (N, bodies + 1, 12) exceed."""
    tables = rest.arrays.tables
    if not len(tables.coordinate):
        return
    inside = np.ones(len(tables.coordinate), dtype=np.bool_)
    compile_kernel(inside_batch, count=len(X))(rest.arrays, X, inside)
    for row in np.flatnonzero(tables.of_row != NONE):
        item = rest.elastic_rows[int(row)]
        if not inside[tables.of_row[row]] and item.table is not None:
            # From one place, since an analysis asks several times, and one note is enough.
            warnings.warn_explicit(
                f'joint "{item.part}": the table of stiffness "{item.direction}" covers {item.table.over} from '
                f"{item.table.at[0]:g} to {item.table.at[-1]:g}; beyond it the end value is used",
                SuppleWarning, __file__, 1, __name__, _SAID,
            )  # fmt: skip


@kernel(purpose="range of stiffness tables")
def inside_batch(rest, X, inside):
    """Set inside (T,) to False for tables that do not cover one of the poses."""
    tables = rest.tables
    poses = np.empty((rest.part_i.shape[0] + 1, 12))
    for n in range(X.shape[0]):
        part_poses(rest, X[n], poses)
        for t in range(inside.shape[0]):
            q = within(tables, t, coordinate_at(rest, tables.coordinate[t], poses))
            least, largest = tables.at[tables.first[t]], tables.at[tables.first[t + 1] - 1]
            slack = 1e-9 * (largest - least)
            inside[t] = inside[t] and least - slack <= q <= largest + slack
