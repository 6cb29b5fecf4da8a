"""Joint coordinates q of the spanning tree, and the rows between nodes along them (rigid-link-system, 5-7, 13-15)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.compilation import compile_kernel, kernel
from supple.diagnostics import InputError
from supple.diagnostics.errors import part_name
from supple.formulations.elastic_rest.part_rows import PartRows, terms_of
from supple.geometry.rotation import cross_arrays
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.numbering import Numbering
from supple.kinematics.primitives import A, B, gradient, gradient_slope

# Joint coordinates: the axes that bodies turn about and slide along (rigid-link-system, 5-7).
#
# Every axis is fixed in the body before its joint or in the one behind it. In the world, about its origin, a unit rate
# of q_k is the twist S_k = (o × e + h e, e) of all bodies further out, or (e, 0), and
#
#     V_b = Σ S_k q̇_k,   A_b = Σ S_k q̈_k + Σ V_k × S_k q̇_k,   k on the way from the ground to b                  (6)
#
# V_k is the twist of what the axis is fixed in. These are the operators ∂T/∂q_k and ∂²T/∂q_k∂q_l in twists.


_AXES = dict(zip("xyz", np.eye(3), strict=True))
_ROTATIONS = ("rotation_x", "rotation_y", "rotation_z")


class Freedom(NamedTuple):
    """One of the coordinates q.

    body, parent : numbers of the bodies after and before its joint
    axis, axis_on   : (3,) its direction, and the body in whose axes this is constant
    point, point_on : (3,) its position, and the body in whose axes this is constant
    slides       : translation along the axis; otherwise rotation, with a translation of `pitch` per radian
    floats       : one of the rotations of a ball joint, whose axes rotate with the body after the joint
    """

    joint: str
    coordinate: str
    body: int
    parent: int
    axis: Array
    axis_on: int
    point: Array
    point_on: int
    slides: bool = False
    pitch: float = 0.0
    floats: bool = False


class TreeFreedoms(NamedTuple):
    """All coordinates q, from the ground outwards.

    parent : (nb,) of every body, parents first; moves (nb + 1, n): coordinates that move it
    """

    freedoms: tuple[Freedom, ...]
    labels: tuple[str, ...]
    parent: tuple[int, ...]
    moves: NDArray[np.bool_]

    def number(self, joint: str, coordinate: str) -> int | None:
        """Return the index in q of a joint coordinate, or None if the joint closes a loop."""
        for k, item in enumerate(self.freedoms):
            if (item.joint, item.coordinate) == (joint, coordinate):
                return k
        return None


def tree_freedoms(numbering: Numbering) -> TreeFreedoms:
    """Return the coordinates of the joints of the spanning tree."""
    graph, found = numbering.topology, []
    for name in numbering.bodies:
        base, joint = graph.parent[name]
        found += _of_joint(numbering, joint, numbering.body_index(name), numbering.body_index(base))
    parent = tuple(numbering.body_index(graph.parent[name][0]) for name in numbering.bodies)
    moves = np.zeros((len(numbering.bodies) + 1, len(found)), dtype=np.bool_)
    for b, before in enumerate(parent):
        moves[b] = moves[before] | np.array([item.body == b for item in found], dtype=np.bool_)
    joints = [item.joint for item in found]
    labels = (
        item.joint if joints.count(item.joint) == 1 and not item.floats else f"{item.joint}.{item.coordinate}"
        for item in found
    )
    return TreeFreedoms(tuple(found), tuple(labels), parent, moves)


def _of_joint(numbering: Numbering, joint: str, body: int, parent: int) -> list[Freedom]:
    mechanism = numbering.mechanism
    item, plane = mechanism.joints[joint], mechanism.plane
    steps = item.form(plane).name_steps(plane)
    if steps is None:
        raise InputError(
            f"a rigid link system does not support {item.kind} joints in its tree", part=part_name(("joints", joint)),
            path=("joints", joint), hint="use another formulation, or let the joint close a loop",
        )  # fmt: skip
    frames = joint_frames(numbering.drawing, joint)
    backwards = numbering.body_index(item.bodies[0]) == body
    sides = [(parent, frames.pa, frames.Ea), (body, frames.pb, frames.Eb)]
    if backwards:  # the joint's first body is the one behind it: its steps are taken back, the last one first
        sides = [(parent, frames.pb, frames.Eb), (body, frames.pa, frames.Ea)]
        steps = tuple(reversed(steps))
    before, behind = sides
    sign, found = (-1.0 if backwards else 1.0), []
    values = {"": 1.0, **item.parameters}
    for i, step in enumerate(steps):
        if step.motion == "spherical":
            found += [
                Freedom(joint, name, body, parent, axis, body, behind[1], body, floats=True)
                for name, axis in zip(_ROTATIONS, np.eye(3), strict=True)
            ]
            continue
        # Slides turn nothing: an axis behind them alone is still fixed before the joint, but goes along with the body.
        unturned = all(other.motion == "prismatic" for other in steps[:i])
        axis_on, _, E = before if unturned else behind
        point_on, point, _ = before if i == 0 else behind
        found.append(
            Freedom(
                joint, step.coordinate, body, parent, sign * (E @ _AXES[step.axis]), axis_on, point, point_on,
                step.motion == "prismatic", step.factor * values[step.parameter],
            )
        )  # fmt: skip
    return found


class LinkTwists(NamedTuple):
    """Motion for a unit rate of each coordinate at one position.

    S (n, 6) is in world axes about the world's origin; v and w (nb, 3, n) are those of every body's origin, in its own
    axes.
    """

    S: Array
    v: Array
    w: Array


def link_twists(tree: TreeFreedoms, X: Array) -> LinkTwists:
    """Return the twists for X (nb + 1, 12), the poses with the ground last."""
    x, R = X[:, :3], X[:, 3:].reshape(-1, 3, 3)
    S = np.zeros((len(tree.freedoms), 6))
    for k, item in enumerate(tree.freedoms):
        e = R[item.axis_on] @ item.axis
        if item.slides:
            S[k, :3] = e
        else:
            o = x[item.point_on] + R[item.point_on] @ item.point
            S[k, :3], S[k, 3:] = cross_arrays(o, e) + item.pitch * e, e
    moves = tree.moves[:-1, None, :]
    turns = np.where(moves, S[:, 3:].T[None], 0.0)  # (nb, 3, n), in the world
    slides = np.where(moves, S[:, :3].T[None], 0.0) + np.swapaxes(
        cross_arrays(np.swapaxes(turns, 1, 2), x[:-1, None]), 1, 2
    )
    back = np.swapaxes(R[:-1], 1, 2)
    return LinkTwists(S, back @ slides, back @ turns)


class LinkBias(NamedTuple):
    """Accelerations of bodies due to q̇ with q̈ = 0, in their own axes.

    They are those of the origin a and angular alpha, with the angular velocity w and the velocity of the origin v: (nb,
    3) each.
    """

    a: Array
    alpha: Array
    w: Array
    v: Array


def link_bias(tree: TreeFreedoms, X: Array, twists: LinkTwists, rates: Array) -> LinkBias:
    """Return the second sum of (6), as the acceleration of the point at the body's origin."""
    own = twists.S * rates[:, None]
    V, A = np.zeros((len(X), 6)), np.zeros((len(X), 6))
    number = {b: [k for k, item in enumerate(tree.freedoms) if item.body == b] for b in range(len(tree.parent))}
    for b, base in enumerate(tree.parent):
        V[b], A[b] = V[base], A[base]
        ball = [k for k in number[b] if tree.freedoms[k].floats]
        for k in number[b]:
            # What the axis is fixed in moves as far as the joint goes before it; a ball's axes go with the body.
            held = V[b] + own[[i for i in ball if i >= k]].sum(axis=0) if k in ball else V[b]
            A[b] += _bracket(held, own[k])
            V[b] = V[b] + own[k]
    x, back = X[:-1, :3], np.swapaxes(X[:-1, 3:].reshape(-1, 3, 3), 1, 2)
    velocity = V[:-1, :3] + cross_arrays(V[:-1, 3:], x)
    a = A[:-1, :3] + cross_arrays(A[:-1, 3:], x) + cross_arrays(V[:-1, 3:], velocity)
    turned = [np.einsum("bij,bj->bi", back, item) for item in (a, A[:-1, 3:], V[:-1, 3:], velocity)]
    return LinkBias(*turned)


def _bracket(V: Array, S: Array) -> Array:
    """Return V × S of twists (v, ω): (ω × s_v + v × s_ω, ω × s_ω)."""
    return np.concatenate([cross_arrays(V[3:], S[:3]) + cross_arrays(V[:3], S[3:]), cross_arrays(V[3:], S[3:])])


# Rows of joints, θ and measures between nodes, and how they change along q (rigid-link-system, 13-15).
#
# A row is a sum of terms between two parts, each a node (or a rigid body's only one). Over the displacements û of the
# nodes in body axes, and along q,
#
#     C û = Σ g_a·û_a + g_b·û_b,   ∂(C A u)/∂q_k = Σ (∂_k g - (ω_k ×)ᵀ g)·û,   ∂φ/∂q_k = Σ g·(v_k + ω_k × x, ω_k)   (13)


@kernel(purpose="rows between nodes")
def term_gradients(rows_i, rows_f, poses, twists, g, dg):
    """Return for every term g (terms, 13), value and gradient, and dg (terms, n, 13), their changes along n motions.

    poses : (parts + 1, 12), the ground last; twists : (parts + 1, n, 6) of the parts in world axes
    """
    for term in range(g.shape[0]):
        gradient(rows_i, rows_f, term, poses, g[term])
        a, b = rows_i[term, A], rows_i[term, B]
        for k in range(twists.shape[1]):
            gradient_slope(rows_i, rows_f, term, poses, twists[a, k], twists[b, k], dg[term, k])


class LinkRows(NamedTuple):
    """Terms of all rows between parts, constants.

    part_body, part_node : (parts,) of each part; place (parts, 3) on its body
    rows_i, rows_f : terms as in kernels; row (terms,): row of each term; total : number of rows
    """

    part_body: Integers
    part_node: Integers
    place: Array
    rows_i: Integers
    rows_f: Array
    row: Integers
    total: int


def link_rows(rows: PartRows, first_node: Integers, count: int) -> LinkRows:
    """Return the first `count` rows with all their terms."""
    terms = [(row, term) for row in range(count) for term in terms_of(rows.rows_i, row)]
    chosen = np.array([term for _, term in terms], dtype=np.int64)
    keys = list(rows.parts)
    return LinkRows(
        np.array([body for body, _, _ in keys], dtype=np.int64),
        np.array([first_node[body] + node for body, node, _ in keys], dtype=np.int64),
        np.array(list(rows.parts.values())).reshape(-1, 3),
        np.ascontiguousarray(rows.rows_i[chosen]),
        np.ascontiguousarray(rows.rows_f[chosen]),
        np.array([row for row, _ in terms], dtype=np.int64),
        count,
    )


class TermGradients(NamedTuple):
    """Gradients g (terms, 2, 6) and ∂_k g (terms, n, 2, 6) of all terms at one position, for both ends of each."""

    g: Array
    slopes: Array


def gradients_at(rows: LinkRows, X: Array, v: Array, w: Array) -> TermGradients:
    """Return the gradients for X (nb + 1, 12); v, w (nb, 3, n) twists of the bodies for each of q, body axes."""
    n = v.shape[2]
    parts = len(rows.part_body)
    R = X[rows.part_body, 3:].reshape(-1, 3, 3)
    poses = np.vstack([np.hstack([X[rows.part_body, :3] + np.einsum("pij,pj->pi", R, rows.place),
                                  X[rows.part_body, 3:]]), X[-1:]])  # fmt: skip
    twists = np.zeros((parts + 1, n, 6))
    own_v, own_w = link_part_twists(rows, v, w)
    twists[:-1, :, :3] = np.einsum("pij,pjk->pki", R, own_v)
    twists[:-1, :, 3:] = np.einsum("pij,pjk->pki", R, own_w)
    terms = len(rows.row)
    g, dg = np.empty((terms, 13)), np.empty((terms, n, 13))
    compile_kernel(term_gradients, count=terms * (n + 1))(rows.rows_i, rows.rows_f, poses, twists, g, dg)
    return TermGradients(g[:, 1:].reshape(terms, 2, 6), dg[:, :, 1:].reshape(terms, n, 2, 6))


def link_part_twists(rows: LinkRows, v: Array, w: Array) -> tuple[Array, Array]:
    """Return the twists of the parts at their positions, (parts, 3, n) each, in the axes of their bodies."""
    about = w[rows.part_body]
    return v[rows.part_body] + np.swapaxes(cross_arrays(np.swapaxes(about, 1, 2), rows.place[:, None]), 1, 2), about


def over_nodes(rows: LinkRows, found: TermGradients, nodes: int) -> Array:
    """Return C (rows, nodes, 2, 3) over û."""
    ends = rows.rows_i[:, [A, B]]
    term, side = np.nonzero(ends < len(rows.part_body))
    C = np.zeros((rows.total, nodes, 6))
    np.add.at(C, (rows.row[term], rows.part_node[ends[term, side]]), found.g[term, side])
    return C.reshape(rows.total, nodes, 2, 3)


def along_tree(rows: LinkRows, found: TermGradients, v: Array, w: Array) -> Array:
    """Return ∂φ/∂q (rows, n) of the rigid links."""
    own = np.concatenate([*link_part_twists(rows, v, w)], axis=1)  # (parts, 6, n)
    moved = np.concatenate([own, np.zeros((1, 6, own.shape[2]))])[rows.rows_i[:, [A, B]]]
    return _sum_terms(rows, np.einsum("tsc,tscn->tn", found.g, moved))


def row_derivatives(rows: LinkRows, found: TermGradients, w: Array, hat: Array) -> Array:
    """Return ∂(C A u)/∂q (rows, n); hat (nodes, 2, 3): û, w (nb, 3, n)."""
    ends = rows.rows_i[:, [A, B]]
    shown = np.concatenate([hat[rows.part_node].reshape(-1, 6), np.zeros((1, 6))])[ends]  # (terms, 2, 6)
    turns = np.concatenate([w[rows.part_body], np.zeros((1, 3, w.shape[2]))])[ends]  # (terms, 2, 3, n)
    halves, g = shown.reshape(*shown.shape[:2], 2, 3), found.g.reshape(*shown.shape[:2], 2, 3)
    about = cross_arrays(halves, g).sum(axis=2)  # g·(ω × û) = ω·(û × g)
    total = np.einsum("tnsc,tsc->tn", found.slopes, shown) - np.einsum("tsi,tsin->tn", about, turns)
    return _sum_terms(rows, total)


def second_rates(rows: LinkRows, found: TermGradients, bias: LinkBias, rates: Array) -> Array:
    """Return φ̈ (rows,) of the rigid links for q̈ = 0: Σ g·V̇ + ġ·V, with V of the parts in body axes."""
    b, r = rows.part_body, rows.place
    v, w, alpha = bias.v[b] + cross_arrays(bias.w[b], r), bias.w[b], bias.alpha[b]
    a = (
        bias.a[b] + cross_arrays(alpha, r) + cross_arrays(w, cross_arrays(w, r)) - cross_arrays(w, v)
    )  # change of components
    still, ends = np.zeros((1, 6)), rows.rows_i[:, [A, B]]
    V = np.concatenate([np.hstack([v, w]), still])[ends]
    dV = np.concatenate([np.hstack([a, alpha]), still])[ends]
    total = np.einsum("tsc,tsc->t", found.g, dV) + np.einsum("tnsc,n,tsc->t", found.slopes, rates, V)
    return _sum_terms(rows, total[:, None])[:, 0]


def _sum_terms(rows: LinkRows, of_terms: Array) -> Array:
    total = np.zeros((rows.total, of_terms.shape[1]))
    np.add.at(total, rows.row, of_terms)
    return total
