"""Rows of joints, θ and measures between nodes, and how they change along q (rigid-link-system, 13-15).

A row is a sum of terms between two parts, each a node (or a rigid body's only one). Over the displacements û of the
nodes in body axes, and along q,

    C û = Σ g_a·û_a + g_b·û_b,   ∂(C A u)/∂q_k = Σ (∂_k g - (ω_k ×)ᵀ g)·û,   ∂φ/∂q_k = Σ g·(v_k + ω_k × x, ω_k)    (13)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Integers
from supple.compilation import compiled, kernel
from supple.formulations.elastic_rest.part_rows import PartRows, terms_of
from supple.formulations.rigid_link_system.tree_freedoms import LinkBias
from supple.geometry.rotation import crossed
from supple.kinematics.primitives import A, B, gradient, gradient_slope


@kernel(purpose="rows between nodes")
def term_gradients(rows_i, rows_f, poses, twists, g, dg):
    """Of every term: g (terms, 13) value and gradient, dg (terms, n, 13) their changes along n motions.

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
    rows_i, rows_f : terms, as kernels take them; row (terms,): which row a term belongs to; total : of rows
    """

    part_body: Integers
    part_node: Integers
    place: Array
    rows_i: Integers
    rows_f: Array
    row: Integers
    total: int


def link_rows(rows: PartRows, first_node: Integers, count: int) -> LinkRows:
    """The first `count` rows, and all their terms."""
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
    """g and ∂_k g of all terms, at one position: (terms, 2, 6) and (terms, n, 2, 6), of the two ends of each."""

    g: Array
    slopes: Array


def gradients_at(rows: LinkRows, X: Array, v: Array, w: Array) -> TermGradients:
    """X (nb + 1, 12); v, w (nb, 3, n) twists of the bodies for every one of q, body axes."""
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
    compiled(term_gradients, count=terms * (n + 1))(rows.rows_i, rows.rows_f, poses, twists, g, dg)
    return TermGradients(g[:, 1:].reshape(terms, 2, 6), dg[:, :, 1:].reshape(terms, n, 2, 6))


def link_part_twists(rows: LinkRows, v: Array, w: Array) -> tuple[Array, Array]:
    """Twists of the parts where they stand: (parts, 3, n) each, in the axes of their bodies."""
    about = w[rows.part_body]
    return v[rows.part_body] + np.swapaxes(crossed(np.swapaxes(about, 1, 2), rows.place[:, None]), 1, 2), about


def over_nodes(rows: LinkRows, found: TermGradients, nodes: int) -> Array:
    """C (rows, nodes, 2, 3) over û."""
    ends = rows.rows_i[:, [A, B]]
    term, side = np.nonzero(ends < len(rows.part_body))
    C = np.zeros((rows.total, nodes, 6))
    np.add.at(C, (rows.row[term], rows.part_node[ends[term, side]]), found.g[term, side])
    return C.reshape(rows.total, nodes, 2, 3)


def along_tree(rows: LinkRows, found: TermGradients, v: Array, w: Array) -> Array:
    """∂φ/∂q (rows, n) of the rigid links."""
    own = np.concatenate([*link_part_twists(rows, v, w)], axis=1)  # (parts, 6, n)
    moved = np.concatenate([own, np.zeros((1, 6, own.shape[2]))])[rows.rows_i[:, [A, B]]]
    return _summed(rows, np.einsum("tsc,tscn->tn", found.g, moved))


def row_derivatives(rows: LinkRows, found: TermGradients, w: Array, hat: Array) -> Array:
    """∂(C A u)/∂q (rows, n); hat (nodes, 2, 3): û, w (nb, 3, n)."""
    ends = rows.rows_i[:, [A, B]]
    shown = np.concatenate([hat[rows.part_node].reshape(-1, 6), np.zeros((1, 6))])[ends]  # (terms, 2, 6)
    turns = np.concatenate([w[rows.part_body], np.zeros((1, 3, w.shape[2]))])[ends]  # (terms, 2, 3, n)
    halves, g = shown.reshape(*shown.shape[:2], 2, 3), found.g.reshape(*shown.shape[:2], 2, 3)
    about = crossed(halves, g).sum(axis=2)  # g·(ω × û) = ω·(û × g)
    total = np.einsum("tnsc,tsc->tn", found.slopes, shown) - np.einsum("tsi,tsin->tn", about, turns)
    return _summed(rows, total)


def second_rates(rows: LinkRows, found: TermGradients, bias: LinkBias, rates: Array) -> Array:
    """φ̈ (rows,) of the rigid links for q̈ = 0: Σ g·V̇ + ġ·V, the V of parts in body axes."""
    b, r = rows.part_body, rows.place
    v, w, alpha = bias.v[b] + crossed(bias.w[b], r), bias.w[b], bias.alpha[b]
    a = bias.a[b] + crossed(alpha, r) + crossed(w, crossed(w, r)) - crossed(w, v)  # change of components
    still, ends = np.zeros((1, 6)), rows.rows_i[:, [A, B]]
    V = np.concatenate([np.hstack([v, w]), still])[ends]
    dV = np.concatenate([np.hstack([a, alpha]), still])[ends]
    total = np.einsum("tsc,tsc->t", found.g, dV) + np.einsum("tnsc,n,tsc->t", found.slopes, rates, V)
    return _summed(rows, total[:, None])[:, 0]


def _summed(rows: LinkRows, of_terms: Array) -> Array:
    total = np.zeros((rows.total, of_terms.shape[1]))
    np.add.at(total, rows.row, of_terms)
    return total
