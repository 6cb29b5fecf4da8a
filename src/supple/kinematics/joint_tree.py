"""The mechanism cut open to a tree of joints that stay closed, and its motion.

The drawing decides which joints are cut: those that are drawn closed stay closed. Each body moves with its parent and,
relative to it, by the freedoms of its joint, the null space N of the joint's rows in the twist of the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.geometry.rotation import exponential, tilde
from supple.kinematics.numbering import Numbering, terms
from supple.kinematics.primitives import SCALE, A, gradient, row_value

_CLOSED = 1e-9  # largest residual of a joint that stays closed
_SETTLING = 30  # largest number of corrections of one joint


class TreeLink(NamedTuple):
    """A body (by number), its parent, and its joint with its rows."""

    body: int
    parent: int
    joint: str
    rows: Sequence[int]


@dataclass(frozen=True, eq=False)
class JointTree:
    """Bodies from the ground outwards, and the joints (with their rows) that are cut."""

    links: tuple[TreeLink, ...]
    cut: tuple[str, ...]
    cut_rows: Integers


def joint_tree(found: Numbering, gaps: dict[str, float]) -> JointTree:
    """Return a spanning tree of the joints with the smallest gaps; of equal gaps, those with the fewest freedoms."""
    ends = {
        name: tuple(found.body_index(body) for body in joint.bodies) for name, joint in found.mechanism.joints.items()
    }
    reached = {len(found.bodies)}
    links: list[TreeLink] = []
    while len(links) < len(found.bodies):
        reachable = [name for name, (a, b) in ends.items() if (a in reached) != (b in reached)]
        best = min(reachable, key=lambda name: (gaps[name] > _CLOSED, gaps[name], -len(_rows(found, name))))
        a, b = ends[best]
        body, parent = (b, a) if a in reached else (a, b)
        links.append(TreeLink(body, parent, best, _rows(found, best)))
        reached.add(body)
    kept = {link.joint for link in links}
    cut = tuple(name for name in ends if name not in kept)
    rows = [row for name in cut for row in _rows(found, name)]
    return JointTree(tuple(links), cut, np.array(rows, dtype=np.int64))


def numbered_tree(found: Numbering) -> JointTree:
    """Return the spanning tree by which the mechanism is numbered."""
    links = []
    for number, body in enumerate(found.bodies):
        parent, joint = found.topology.parent[body]
        links.append(TreeLink(number, found.body_index(parent), joint, _rows(found, joint)))
    kept = {link.joint for link in links}
    cut = tuple(name for name in found.mechanism.joints if name not in kept)
    return JointTree(tuple(links), cut, np.array([row for name in cut for row in _rows(found, name)], dtype=np.int64))


def close_tree(found: Numbering, tree: JointTree, X: Array) -> Array:
    """Return the position with every joint of the tree closed, each body moved as little as possible."""
    X = X.copy()
    for link in tree.links:
        for _ in range(_SETTLING):
            values, J = _joint_rows(found, link, X)
            if np.abs(values).max(initial=0.0) < _CLOSED:
                break
            step = np.asarray(np.linalg.lstsq(J, -values, rcond=1e-8)[0], dtype=np.float64)
            longest = float(np.abs(step).max())
            _turn(found, X, link.body, step * min(1.0, 0.5 / longest) if longest > 0.0 else step)
    return X


def tree_at_values(found: Numbering, targets: dict[int, float]) -> Array:
    """Return the drawing with joints of the tree at given values.

    targets : values of measures, by number after the constraints
    """
    tree, X = numbered_tree(found), found.drawn.copy()
    of_joint: dict[str, list[int]] = {}
    for key, row in found.measures.items():
        if key[0] == "joint" and row - found.constraints in targets:
            of_joint.setdefault(key[1], []).append(row)
    for number, link in enumerate(tree.links):
        rows = of_joint.get(link.joint, [])
        scale, turns = found.arrays.rows_f[rows, SCALE], found.angles()[rows]
        target = np.array([targets[row - found.constraints] for row in rows])
        for _ in range(_SETTLING if rows else 0):
            values, J = _joint_rows(found, link._replace(rows=rows), X)
            gap = target / scale - values
            gap = np.where(turns, (gap + np.pi) % (2.0 * np.pi) - np.pi, gap)
            if np.abs(gap).max() < _CLOSED:
                break
            bases = freedoms(found, tree, X)
            own = np.linalg.lstsq(J @ bases[number], gap, rcond=1e-8)[0]
            own *= min(1.0, 1.0 / max(float(np.abs(own).max()), 1e-300))
            z = [np.zeros(basis.shape[1]) if i != number else own for i, basis in enumerate(bases)]
            X = move_tree(found, tree, X, bases, np.concatenate(z))
    return X


def freedoms(found: Numbering, tree: JointTree, X: Array) -> list[Array]:
    """Return N of every joint of the tree: (d, freedoms of the joint), scaled twists of its body in its own axes."""
    bases = []
    for link in tree.links:
        _, J = _joint_rows(found, link, X)
        _, sigma, V = np.linalg.svd(J, full_matrices=True)
        rank = int(np.count_nonzero(sigma > 1e-8 * sigma.max(initial=0.0)))
        bases.append(V[rank:].T)
    return bases


def motions(found: Numbering, tree: JointTree, X: Array, bases: list[Array]) -> Array:
    """Return world twists of all bodies by the freedoms of the tree: (bodies + 1, 6, free), v at each body's origin.

    v_b = v_p + ω_p × (x_b - x_p) + R_b v_N,  ω_b = ω_p + R_b ω_N, lengths in units of the extent.
    """
    free = sum(basis.shape[1] for basis in bases)
    extent, column = found.arrays.extent, found.arrays.column
    twists = np.zeros((len(X), 6, free))
    start = 0
    for link, basis in zip(tree.links, bases, strict=True):
        b, p = link.body, link.parent
        twists[b] = twists[p]
        twists[b, :3] -= tilde((X[b, :3] - X[p, :3]) / extent) @ twists[p, 3:]
        own = np.zeros((6, basis.shape[1]))
        own[column] = basis
        R = X[b, 3:].reshape(3, 3)
        stop = start + basis.shape[1]
        twists[b, :3, start:stop] += R @ own[:3]
        twists[b, 3:, start:stop] += R @ own[3:]
        start = stop
    return twists


def move_tree(found: Numbering, tree: JointTree, X: Array, bases: list[Array], z: Array) -> Array:
    """Return the tree moved by z (free,): each body by exp(N z) relative to its parent.

    Lower pairs stay closed exactly.
    """
    new = X.copy()
    start = 0
    for link, basis in zip(tree.links, bases, strict=True):
        b, p = link.body, link.parent
        turn = new[p, 3:].reshape(3, 3) @ X[p, 3:].reshape(3, 3).T
        new[b, :3] = new[p, :3] + turn @ (X[b, :3] - X[p, :3])
        new[b, 3:] = (turn @ X[b, 3:].reshape(3, 3)).ravel()
        stop = start + basis.shape[1]
        _turn(found, new, b, basis @ z[start:stop])
        start = stop
    return new


def _turn(found: Numbering, X: Array, body: int, step: Array) -> None:
    """Move one body by the exponential of a scaled twist in its own axes, in place.

    R ← R exp(ω̃),  x ← x + R (I + (1 - cos φ)/φ² ω̃ + (φ - sin φ)/φ³ ω̃²) v,  φ = |ω|
    """
    twist = np.zeros(6)
    twist[found.arrays.column] = step
    v, w = twist[:3] * found.arrays.extent, twist[3:]
    R, angle, S = X[body, 3:].reshape(3, 3), float(np.linalg.norm(w)), tilde(w)
    if angle > 1e-4:
        v = v + (1.0 - np.cos(angle)) / angle**2 * (S @ v) + (angle - np.sin(angle)) / angle**3 * (S @ (S @ v))
    else:  # series to rounding
        v = v + 0.5 * (S @ v) + S @ (S @ v) / 6.0
    X[body, :3] += R @ v
    R = R @ exponential(w)
    # One step of Newton's method towards a rotation, against the drift of products of many.
    X[body, 3:] = (0.5 * R @ (3.0 * np.eye(3) - R.T @ R)).ravel()


def _joint_rows(found: Numbering, link: TreeLink, X: Array) -> tuple[Array, Array]:
    """Return scaled values (rows,) and gradients (rows, d) in the twist of the link's body."""
    arrays = found.arrays
    values, J = np.empty(len(link.rows)), np.zeros((len(link.rows), found.sizes.width))
    units = np.where(arrays.column < 3, arrays.extent, 1.0)
    g = np.empty(13)
    for i, row in enumerate(link.rows):
        scale = arrays.rows_f[row, SCALE]
        values[i] = row_value(arrays.rows_i, arrays.rows_f, row, X, found.as_drawn) / scale
        for term in terms(arrays, row):
            gradient(arrays.rows_i, arrays.rows_f, term, X, g)
            at = 1 if arrays.rows_i[term, A] == link.body else 7
            J[i] += g[at + arrays.column] * units / scale
    return values, J


def _rows(found: Numbering, joint: str) -> range:
    rows = found.joint_rows[joint]
    return range(rows.start, rows.stop)
