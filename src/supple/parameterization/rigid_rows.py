"""Rows of coefficients of the rigid mechanism at configurations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.compilation import compile_kernel, kernel
from supple.compilation.threads import in_parts
from supple.description.mechanism import GROUND
from supple.equations.equations_of_motion import christoffel_symbols
from supple.equations.row import (
    CHRISTOFFEL,
    DAMPING,
    DDAMPING,
    DFORCE_THETA,
    DM,
    FORCE,
    FRICTION_MAP,
    INPUT_MAP,
    MASS,
    OUTPUTS,
    POTENTIAL,
    RIGID,
    RowLayout,
    local_layout,
)
from supple.formulations.coefficients import (
    ACTUATOR,
    AT_POINT,
    BODY,
    DRY,
    FOLLOWS,
    LAW,
    NUMBER,
    OF_FORCE,
    ROLE,
    SENSOR,
    Carried,
    CoefficientArrays,
    get_coefficients,
)
from supple.formulations.elastic_rest.elastic_rest import rigid_rest
from supple.formulations.force_models import law
from supple.formulations.recursive.batch import POSE, RowsOfTrees, memory_size, tree_coefficients
from supple.formulations.recursive.dynamics import memory, run_in_threads
from supple.formulations.recursive.gather import States
from supple.formulations.recursive.memory import PackedTree
from supple.formulations.recursive.recursive_tree import TreeOrder, recursive_tree
from supple.formulations.recursive.tree_of_mechanism import bare_tree
from supple.geometry.vectors import cross, dot, plus
from supple.kinematics.closing import bulk
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import THEN, A, B, rotate_to_world
from supple.kinematics.rest import Rest
from supple.kinematics.row_arrays import row_sizes
from supple.parameterization.effort_columns import effort_columns
from supple.parameterization.rigid_kernel import measures, move_to, position_workspace, rigid_batch

_STEP = 5e-4


def rigid_rows(configuration: Configuration, *, efforts: bool = True) -> tuple[Array, NDArray[np.int64]]:
    """Return all coefficients at each configuration in one row (N, width), and whether they exist (N,).

    The layout is that of `rigid_layout`. efforts : include internal forces; otherwise they are zero
    """
    position = configuration.rest
    load, here = get_coefficients(position), configuration.batch
    layout = rigid_layout(position.numbering, load)
    tree = tree_of_rows(position)
    if tree is not None:
        out, regular = tree_rows(tree, here, layout), np.ones(len(here.X), dtype=np.int64)
    else:
        out, regular = _general_rows(here, layout)
    for name in ("efforts", "defforts"):
        layout.part(out, name)[:] = 0.0
    regular[~np.isfinite(out).all(axis=1)] = 0  # the ends of a distance coincide: it has no direction
    if efforts and load.efforts and regular.any():
        _add_efforts(layout, here, np.flatnonzero(regular), out)
    return out, regular


def _general_rows(configuration: Configuration, layout: RowLayout) -> tuple[Array, Integers]:
    """Return the rows from rigid modes, for any mechanism, closed chains included, at a batch."""
    position, X, w = configuration.rest, configuration.X, configuration.w
    load = get_coefficients(position)
    out = np.empty((len(X), layout.width))
    regular = np.empty(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compile_kernel(rigid_batch, count=(stop - start) * bulk(position.numbering))(
            position.numbering.arrays,
            position.selected,
            load.arrays,
            X[piece],
            w[piece],
            layout.offsets,
            out[piece],
            regular[piece],
        )

    in_parts(part, len(X))
    return out, regular


def _add_efforts(layout: RowLayout, configuration: Configuration, which: NDArray[np.int64], out: Array) -> None:
    """Add internal forces and their derivatives by θ, by central differences of fourth order."""
    mechanism, s = configuration.mechanism, configuration.theta.shape[1]
    rest = rigid_rest(mechanism)
    values, slopes = layout.part(out, "efforts"), layout.part(out, "defforts")
    values[which] = effort_columns(rest, configuration.part(which))
    size = coordinate_steps(configuration)
    for m in range(s):
        for step, weight in zip((-2.0, -1.0, 1.0, 2.0), (1.0, -8.0, 8.0, -1.0), strict=True):
            moved = configuration.theta[which] + step * size[m] * np.eye(s)[m]
            slopes[which, ..., m] += weight / (12.0 * size[m]) * effort_columns(rest, assemble(mechanism, moved))


def coordinate_steps(configuration: Configuration) -> Array:
    """Return (s,) steps of θ whose fourth power is rounding: rad, or in extents of the mechanism."""
    return _STEP * configuration.rest.numbering.theta_scale


def rigid_layout(numbering: Numbering, load: Carried) -> RowLayout:
    """Return the layout of the coefficients in a row; computed once for each mechanism."""
    s, actuators = len(numbering.coordinates), len(numbering.mechanism.actuators)
    return numbering.mechanism.compute_once(
        "layout",
        lambda: local_layout(s, s, actuators, len(load.measured), len(load.dry_forces), efforts=len(load.efforts)),
    )


# Rows of coefficients of trees of rigid bodies, by recursion (docs/theory/recursive.md, eqs. 6-10, 35-37).
#
# The recursion gives M, ∂M/∂θ and the forces of gravity and loads. Forces along a coordinate of θ have the constant
# slope e_j and add to diagonals; every other measure needs the rigid modes of the bodies that it relates, which are
# the axes S of the tree in the axes of the body:
#
#     Ψ_j = X_b⁻¹ S_j,   ∂_k Ψ_j = Ψ_j × Ψ_k for k after j on the path to the body, zero otherwise


_SIDE = (0,) * 8  # configurations side by side, always as many: a row does not depend on its batch


class TreeTables(NamedTuple):
    """Arguments of the rows of a tree besides the recursion.

    moves : (bodies + 1, s) whether a coordinate moves a body; axis : (s,) the axis of each coordinate
    seen  : (bodies + 1,) whether a measure other than θ involves this body
    """

    moves: Integers
    axis: Integers
    seen: Integers


class TreeOfRows(NamedTuple):
    """Arguments of `tree_rows` for a mechanism.

    of_theta : (s,) the coordinate of θ of each q of the tree; others : forces and sensors along measures other than θ
    """

    packed: PackedTree
    of_theta: Integers
    tables: TreeTables
    others: CoefficientArrays


class TreePositions(NamedTuple):
    """Positions of the bodies of a tree: X (N, bodies + 1, 12), w (N, measures), poses (N, s POSE) of the axes."""

    X: Array
    w: Array
    poses: Array


def tree_of_rows(position: Rest) -> TreeOfRows | None:
    """Return the tree of a mechanism, computed once; None if the recursion does not apply, or couplings tie joints."""
    return position.numbering.mechanism.compute_once("tree of rows", lambda: _make_tree(position))


def _make_tree(position: Rest) -> TreeOfRows | None:
    numbering = position.numbering
    order = recursive_tree(numbering.mechanism)
    if not isinstance(order, TreeOrder):
        return None
    found = bare_tree(numbering.mechanism)
    names = {name: int(at) for name, at in zip(order.coordinates, order.of_theta, strict=True)}
    of_theta = np.array([names[name] for name in found.coordinates], dtype=np.int64)
    s, axis = len(of_theta), np.empty(len(of_theta), dtype=np.int64)
    axis[of_theta[found.at_v]] = np.arange(s)
    moves = np.zeros((len(numbering.bodies) + 1, s), dtype=np.int64)
    for b, body in enumerate((*numbering.bodies, GROUND)):
        for at in found.axes_of[body]:
            moves[b, of_theta[found.at_v[at]]] = 1
    arrays, first = get_coefficients(position).arrays, numbering.constraints
    others = arrays._replace(uses_start=np.maximum(arrays.uses_start, arrays.uses_start[s]))
    seen = np.zeros(len(moves), dtype=np.int64)
    for measure in range(s, len(arrays.uses_start) - 1):
        term = first + measure if arrays.uses_start[measure] < arrays.uses_start[measure + 1] else -1
        while term >= 0:
            seen[numbering.arrays.rows_i[term, [A, B]]] = 1
            term = int(numbering.arrays.rows_i[term, THEN])
    return TreeOfRows(found.packed, of_theta, TreeTables(moves, axis, seen), others)


def tree_rows(tree: TreeOfRows, configuration: Configuration, layout: RowLayout) -> Array:
    """Return all coefficients at each configuration of a batch in one row, (N, width), see `rigid_layout`."""
    position, theta, X, w = configuration.rest, configuration.theta, configuration.X, configuration.w
    load = get_coefficients(position)
    count, s = theta.shape
    q, still = np.ascontiguousarray(theta[:, tree.of_theta]), np.zeros((count, s))
    out, poses = np.zeros((count, layout.width)), np.empty((count, s * POSE))
    size = int(memory_size(tree.packed.integers, len(_SIDE)))

    def part(start: int, stop: int) -> None:
        piece, many = slice(start, stop), stop - start
        none = still[piece].reshape(-1)
        compile_kernel(tree_coefficients, count=many, fused=True)(
            _SIDE, 1, tree.packed, memory(size), many, States(q[piece].reshape(-1), none, none, none[:0]),
            RowsOfTrees(out[piece].reshape(-1), layout.width, layout.offsets, tree.of_theta, poses[piece].reshape(-1)),
        )  # fmt: skip
        compile_kernel(tree_batch, count=many)(
            position.numbering.arrays, load.arrays, tree.others, tree.tables,
            TreePositions(X[piece], w[piece], poses[piece]), layout.offsets, out[piece],
        )  # fmt: skip

    run_in_threads(part, count, None)
    return out


@kernel(purpose="measures of trees")
def tree_batch(rows, coefficients, others, tables, places, at, out):
    """Add the potential, the forces and sensors along measures, and Γ to every row of `tree_coefficients`."""
    if places.X.shape[0] == 0:
        return
    s = row_sizes(rows).coordinates
    here = position_workspace(rows, places.X[0], places.w[0])
    for n in range(places.X.shape[0]):
        here, row = move_to(here, places.X[n], places.w[n]), out[n]
        potential(coefficients, here.X, at, row)
        along_coordinates(coefficients, here.w, s, row_sizes(rows).actuators, at, row)
        if others.uses_start[-1] > others.uses_start[0]:
            modes_of_tree(rows, tables, places.poses[n], here)
            measures(rows, others, here, at, row)
        christoffel_symbols(s, row[at[DM] :], row[at[CHRISTOFFEL] :])


@kernel
def potential(coefficients, X, at, row):
    """Return the potential of forces of constant direction, gravity among them."""
    loads_i, loads_f = coefficients.loads_i, coefficients.loads_f
    for n in range(loads_i.shape[0]):
        b = loads_i[n, BODY]
        if loads_i[n, FOLLOWS] == 0:
            F = (loads_f[n, OF_FORCE], loads_f[n, OF_FORCE + 1], loads_f[n, OF_FORCE + 2])
            row[at[POTENTIAL]] -= dot(F, plus((X[b, 0], X[b, 1], X[b, 2]), rotate_to_world(X, b, loads_f, n, AT_POINT)))


@kernel
def along_coordinates(coefficients, w, s, inputs, at, row):
    """Add force models, actuators, sensors and dry friction along θ_j itself: ∂ℓ/∂θ = e_j, ∂²ℓ/∂θ² = 0."""
    uses_start, uses_i, uses_f = coefficients.uses_start, coefficients.uses_i, coefficients.uses_f
    for j in range(s):
        square, cube = j * s + j, (j * s + j) * s + j
        for use in range(uses_start[j], uses_start[j + 1]):
            role, to = uses_i[use, ROLE], uses_i[use, NUMBER]
            if role == LAW:
                acts = law(to, uses_f[use], w[j])
                row[at[POTENTIAL]] += acts.energy
                row[at[FORCE] + j] += acts.force
                row[at[DFORCE_THETA] + square] += acts.slope
                row[at[DAMPING] + square] += acts.damping
                row[at[DDAMPING] + cube] += acts.damping_slope
                row[at[MASS] + square] += acts.inertia
            elif role == ACTUATOR:
                row[at[INPUT_MAP] + j * inputs + to] = 1.0
            elif role == SENSOR:
                row[at[OUTPUTS] + to] = w[j]
                row[at[RIGID] + to * s + j] = 1.0
            elif role == DRY:
                row[at[FRICTION_MAP] + to * s + j] = 1.0


@kernel
def modes_of_tree(rows, tables, poses, here):
    """Compute Ψ, ∂Ψ and the twists of the bodies that measures involve, from the axes of the tree."""
    column, X, Psi, dPsi, twists = rows.column, here.X, here.Psi, here.dPsi, here.twists
    bodies, d, s = X.shape[0] - 1, column.shape[0], Psi.shape[2]
    local, bracket = np.zeros((s, 6)), np.zeros(6)
    for b in range(bodies):
        if tables.seen[b] == 0:
            continue
        for j in range(s):
            if tables.moves[b, j] == 1:
                S = poses[tables.axis[j] * POSE + 12 :]
                z = (S[3], S[4], S[5])
                v = plus((S[0], S[1], S[2]), cross(z, (X[b, 0], X[b, 1], X[b, 2])))
                for c in range(3):
                    twists[b, j, c], twists[b, j, 3 + c] = v[c], z[c]
                    turn = (X[b, 3 + c], X[b, 6 + c], X[b, 9 + c])
                    local[j, c], local[j, 3 + c] = dot(turn, v), dot(turn, z)
                for c in range(d):
                    Psi[b, c, j] = local[j, column[c]]
        for j in range(s):
            for k in range(s):
                if tables.moves[b, j] == 1 and tables.moves[b, k] == 1 and tables.axis[k] > tables.axis[j]:
                    vj, wj = (local[j, 0], local[j, 1], local[j, 2]), (local[j, 3], local[j, 4], local[j, 5])
                    vk, wk = (local[k, 0], local[k, 1], local[k, 2]), (local[k, 3], local[k, 4], local[k, 5])
                    first, second = plus(cross(wj, vk), cross(vj, wk)), cross(wj, wk)
                    for c in range(3):
                        bracket[c], bracket[3 + c] = first[c], second[c]
                    for c in range(d):
                        dPsi[b, c, j * s + k] = bracket[column[c]]
