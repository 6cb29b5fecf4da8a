"""The rest configuration: the drawing, complete_drawing until every loop closes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.sparse import csr_array

from supple.array_types import Array
from supple.description.consistency import require_consistent
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.source import locate_error
from supple.kinematics.completion import Completion, close_drawing, complete_drawing, displace_bodies
from supple.kinematics.elimination import scaled_rows, workspace
from supple.kinematics.jacobian import measured_values, scaled_jacobian
from supple.kinematics.measures import key_of
from supple.kinematics.numbering import Numbering, numbering, terms
from supple.kinematics.primitives import A
from supple.kinematics.ranked_rows import LARGE, RankedRows, rank_rows, row_groups
from supple.kinematics.row_arrays import FIRST_FREE, PARENT

# Rank of the joint rows: mobility, redundant constraints and the joints involved, singular positions.


_NUDGE = 0.05  # distance of nearby positions: rad, or extents
_TRIES = 3
_INVOLVED = 1e-6  # smallest share of a joint's rows in a dependence that counts


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom and redundant constraints of a mechanism.

    mobility      : n - rank Φ_q in general position (close to rest)
    redundant     : m - rank Φ_q there: constraints that others already impose
    joints        : all joints (and couplings) involved in the redundancy, in the order of the file
    instantaneous : n - rank Φ_q at rest itself; larger than `mobility` where rest is a singular position
    """

    mobility: int
    redundant: int
    joints: tuple[str, ...]
    instantaneous: int

    @property
    def singular(self) -> bool:
        return self.instantaneous > self.mobility


def mobility(found: Numbering, X: Array) -> Mobility:
    """Return mobility and redundancy at the position X and close to it.

    A position where the rows lose rank only there is distinguished from redundant constraints by a small motion along
    the instantaneous motions, after which the loops are closed again. The rank in general position is the largest one
    found.
    """
    m, n = found.constraints, found.columns
    here = best = rank_rows(found, X, coordinates=False)
    if 0 < here.rank < min(m, n):
        for seed in range(_TRIES):
            nearby = _nearby(found, X, here, seed)
            if nearby is not None:
                near = rank_rows(found, nearby, coordinates=False)
                if near.rank > best.rank:
                    best = near
                if n > LARGE:  # one random position suffices; three are costly here
                    break
    return Mobility(n - best.rank, m - best.rank, _find_involved(found, best), n - here.rank)


@dataclass(frozen=True)
class Dependence:
    """Coordinates that do not determine the configuration, and the bodies that still move when they are fixed."""

    coordinates: tuple[str, ...]
    bodies: tuple[str, ...]


def dependence(found: Numbering, X: Array) -> Dependence | None:
    """Return the dependence of the coordinates if [Φ_q; A] lacks rank n close to X, or None."""
    m, n = found.constraints, found.columns
    best = rank_rows(found, X, coordinates=True)
    if best.rank == n:
        return None
    joints = rank_rows(found, X, coordinates=False)
    for seed in range(_TRIES):
        nearby = _nearby(found, X, joints, seed)
        if nearby is None:
            continue
        near = rank_rows(found, nearby, coordinates=True)
        if near.rank == n:  # X is only a dead point of the coordinates
            return None
        if near.rank > best.rank:
            best = near
    share = best.dependent()[m:]
    moving = np.linalg.norm(best.find_motion_shares().reshape(len(found.bodies), -1), axis=1)
    return Dependence(
        tuple(name for name, part in zip(found.coordinates, share, strict=True) if part > _INVOLVED),
        tuple(name for name, part in zip(found.bodies, moving, strict=True) if part > _INVOLVED),
    )


def _nearby(found: Numbering, X: Array, joints: RankedRows, seed: int) -> Array | None:
    direction = joints.motion(seed)
    moved = X.copy()
    displace_bodies(found, moved, _NUDGE * direction / np.abs(direction).max())
    try:
        return close_drawing(found, moved, {})
    except InputError:  # this direction is blocked; others are tried
        return None


def _find_involved(found: Numbering, joints: RankedRows) -> tuple[str, ...]:
    """Return the joints and couplings with a share in any λ ≠ 0 with Φ_qᵀ λ = 0."""
    if joints.rank == found.constraints:
        return ()
    share = joints.dependent()
    names = [name for name in found.mechanism.joints if share[found.joint_rows[name]].max(initial=0.0) > _INVOLVED]
    return (*names, *(name for name, row in found.coupling_rows.items() if share[row] > _INVOLVED))


@dataclass(frozen=True, eq=False)
class Rest:
    """The mechanism in numbers, assembled at rest.

    X          : (bodies + 1, 12) poses
    w          : values of every measure (θ first), angles continuous from the drawing
    selected   : rows of loops and coordinates that are independent at rest, for the sign of the determinant
    completion : how far the drawing was from closed
    """

    numbering: Numbering
    X: Array
    w: Array
    selected: NDArray[np.int64]
    mobility: Mobility
    completion: Completion

    @property
    def theta(self) -> Array:
        return self.w[: len(self.numbering.coordinates)]


def rest(mechanism: Mechanism) -> Rest:
    """Return the rest configuration, computed once for each mechanism (descriptions are frozen).

    θ are the mechanism's `coordinates`, or by default its actuators, if there are as many as its mobility.
    """
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"expected a Mechanism, got a {type(mechanism).__name__}", part="mechanism",
            hint="give a mechanism from supple.load; for a reduced model use its methods linearize, frf, evaluate",
        )  # fmt: skip
    try:
        return mechanism.compute_once("rest", lambda: _assemble_rest(mechanism))
    except InputError as error:
        raise locate_error(error, mechanism) from None


def _assemble_rest(mechanism: Mechanism) -> Rest:
    require_consistent(mechanism)
    found = numbering(mechanism, () if _share_a_measure(mechanism) else mechanism.coordinate_names())
    completion = complete_drawing(found, _rest_targets(found), _branch(found))
    X = completion.X
    freedom = mobility(found, X)
    _require_motion(found, freedom)
    if mechanism.coordinates is None and len(found.coordinates) != freedom.mobility:
        found = numbering(mechanism, ())
    elif len(found.coordinates) != freedom.mobility:
        raise _wrong_count(found, freedom)
    else:
        _require_determined(found, X)
    return Rest(found, X, measured_values(found, X), independent_loop_rows(found, X), freedom, completion)


def _share_a_measure(mechanism: Mechanism) -> bool:
    """Return whether two actuators act on one joint without `coordinates`: they cannot both be coordinates."""
    keys = [key_of(mechanism, actuator) for actuator in mechanism.actuators.values()]
    return mechanism.coordinates is None and len(set(keys)) < len(keys)


def _require_motion(found: Numbering, freedom: Mobility) -> None:
    if freedom.mobility > 0 or found.mechanism.elastic:  # an elastic structure is at rest as drawn
        return
    redundant = f" with {freedom.redundant} redundant constraints" if freedom.redundant else ""
    surplus = "a joint or a coupling" if found.coupling_rows else "a joint"
    raise InputError(
        f"cannot move: mobility 0 ({found.columns} velocities, {found.constraints} constraints{redundant})",
        part=f'mechanism "{found.mechanism.name}"',
        path=("joints",),
        hint=f"remove {surplus}, or correct hinge axes that should be parallel and are not"
        + (f"; check {', '.join(freedom.joints)}" if freedom.joints else ""),
    )


def _wrong_count(found: Numbering, freedom: Mobility) -> InputError:
    given, needed = len(found.coordinates), freedom.mobility
    return InputError(
        f"{given} given ({', '.join(found.coordinates) or 'none'}), but the mobility is {needed}",
        part="coordinates",
        path=("coordinates",),
        hint=f"list {needed} coordinate{'s' * (needed != 1)}"
        + (", or lock the other motions" if given < needed else ""),
    )


def _require_determined(found: Numbering, X: Array) -> None:
    """Require that θ determines the configuration: even in the right number, coordinates may depend on one another."""
    problem = dependence(found, X)
    if problem is None:
        return
    names, bodies = (", ".join(f'"{name}"' for name in group) for group in (problem.coordinates, problem.bodies))
    if len(problem.coordinates) == 1:
        reason = f"{names} cannot change"
    else:
        reason = f"{names} depend on one another"
    verb = "moves" if len(problem.bodies) == 1 else "move"
    listed = found.mechanism.coordinates is not None
    raise InputError(
        f"the coordinates do not determine the configuration: {reason}, and {bodies} still {verb}",
        part="coordinates" if listed else "actuators",
        path=("coordinates",) if listed else ("actuators",),
        hint="replace one of them by a coordinate that moves these bodies"
        if listed
        else "set the key coordinates: and include one that moves these bodies",
    )


def _rest_targets(found: Numbering) -> dict[int, float]:
    """Return the rest values in the file of coordinates θ, by their number."""
    given = found.mechanism.rest.items()
    return {found.coordinates.index(name): value for name, value in given if name in found.coordinates}


def _branch(found: Numbering) -> dict[int, float]:
    """Return the rest values of joints that are not coordinates, which select the branch, by measure number."""
    near = {}
    for name, value in found.mechanism.rest.items():
        joint = found.mechanism.joint_coordinate(name)
        if name not in found.mechanism.coordinate_names() and joint is not None:
            near[found.measures["joint", *joint] - found.constraints] = value
    return near


def independent_loop_rows(found: Numbering, X: Array) -> NDArray[np.int64]:
    """Return as many rows of loops and coordinates as there are free columns, the most independent at rest."""
    nt, free = found.sizes.tree_rows, found.sizes.free
    count = found.constraints + len(found.coordinates) - nt
    if count == 0 or free == 0:
        return np.zeros(free, dtype=np.int64)
    if count == free:
        return np.arange(free)
    if found.columns > LARGE:
        from supple.kinematics.orthogonal_fronts import Fronts

        picked = Fronts(loop_rows(found, X).T.tocsr(), row_groups(found)[nt:]).pivots
        return np.sort(np.resize(picked, free)).astype(np.int64)
    J = scaled_jacobian(found, X)
    tree, others = J[:nt], J[nt:]
    # Project the other rows onto the freedoms of the tree joints, then pick by pivoted QR.
    basis = np.linalg.svd(tree)[2][nt:] if nt else np.eye(J.shape[1])
    picked = qr(basis @ others.T, pivoting=True, mode="r")[1][:free]
    return np.sort(np.resize(picked, free)).astype(np.int64)


_CANCELLED = 1e-11  # remainder of a row at the body that its branches share


def loop_rows(found: Numbering, X: Array) -> csr_array:
    """Return the rows of loops, couplings and coordinates in the freedoms z of the tree: G (rows, free columns).

    Each row of G z = g is formed only from the joints of its path. A body moves with its parent and by the freedoms N
    of its tree joint, whose rows are J_c in its own twist and J_p in that of its parent:

        x_c = -J_c⁺ J_p x_p + N z_c

    A row between two bodies is carried along both of their branches up to the body they share, which moves both alike.
    """
    arrays, sizes = found.arrays, found.sizes
    work = workspace(arrays)
    scaled_rows(arrays, X, work)
    carried, freedoms = [], []
    for body in range(sizes.bodies):
        _, start, count, _, side = arrays.tree[body]
        rows = work.J[start : start + count]
        left, sigma, right = np.linalg.svd(rows[:, side])
        carried.append(-(right[:count].T / sigma) @ (left.T @ rows[:, 1 - side]))
        freedoms.append(right[count:].T)
    place: list[tuple[int, int]] = []
    entries: list[float] = []
    for i in range(sizes.tree_rows, sizes.joint_rows + sizes.coordinates):
        left_over: dict[int, Array] = {}
        for term in terms(arrays, i):
            for side in range(2):
                body = int(arrays.rows_i[term, A + side])
                left_over[body] = left_over.get(body, 0.0) + work.J[term, side]
        left_over.pop(sizes.bodies, None)
        while left_over:
            body = max(left_over)  # children come after their parents
            row = left_over.pop(body)
            if np.abs(row).max() < _CANCELLED:
                continue
            parent, first = int(arrays.tree[body, PARENT]), int(arrays.tree[body, FIRST_FREE])
            for k, entry in enumerate(row @ freedoms[body]):
                place.append((i - sizes.tree_rows, first + k))
                entries.append(float(entry))
            if parent < sizes.bodies:
                left_over[parent] = left_over.get(parent, 0.0) + row @ carried[body]
    shape = (sizes.joint_rows + sizes.coordinates - sizes.tree_rows, sizes.free)
    at = np.array(place, dtype=np.int64).reshape(-1, 2)
    return csr_array((entries, (at[:, 0], at[:, 1])), shape=shape)
