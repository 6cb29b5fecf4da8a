"""Terms of the equations of motion to first order in u, at one state (docs/theory/rigid-link-system.md, 8-12).

    M_qq q̈ + M_qu ü + F_r + F_u + F_u̇ + F_g + F_e = F   in the rows of q and of u                              (9)

All integrals over the mass are constants in `NodalInertia`, so that a state needs only products with them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array
from supple.formulations.rigid_link_system.link_system import RigidLinkSystem
from supple.formulations.rigid_link_system.node_shapes import LEVI_CIVITA, PAIRS
from supple.formulations.rigid_link_system.tree_freedoms import LinkBias, LinkTwists, link_twists
from supple.geometry.rotation import cross_arrays, tilde

_SKEWS = np.array([tilde(e) for e in np.eye(3)])  # ẽ_m


class LinkState(NamedTuple):
    """Position of the links, and û = A u, the displacements of nodes in body axes: hat (N, 2, 3)."""

    system: RigidLinkSystem
    X: Array
    twists: LinkTwists
    hat: Array

    @property
    def R(self) -> Array:
        """Rotation matrix (N, 3, 3) of the body of every node."""
        return self.X[self.system.node_body, 3:].reshape(-1, 3, 3)


def link_state(system: RigidLinkSystem, X: Array, u: Array | None = None) -> LinkState:
    """Return the state for X (nb + 1, 12); u (n_u,) in world axes, default zero."""
    R = X[system.node_body, 3:].reshape(-1, 3, 3)
    full = np.zeros(6 * system.nodes)
    if u is not None:
        full[system.kept] = u
    hat = np.einsum("nji,nsj->nsi", R, full.reshape(-1, 2, 3))
    return LinkState(system, X, link_twists(system.tree, X), hat)


def rotate_into_bodies(state: LinkState, u: Array) -> Array:
    """Return A u (N, 2, 3) of displacements (n_u,) or of their rates."""
    full = np.zeros(6 * state.system.nodes)
    full[state.system.kept] = u
    return np.asarray(np.einsum("nji,nsj->nsi", state.R, full.reshape(-1, 2, 3)))


def to_world(state: LinkState, hat: Array) -> Array:
    """Apply Aᵀ: forces on û (N, 2, 3) or (6 N,) as forces on u (n_u,)."""
    turned = np.einsum("nij,nsj->nsi", state.R, hat.reshape(-1, 2, 3))
    return np.asarray(turned.reshape(-1)[state.system.kept])


def rotation_matrix(state: LinkState) -> sp.csr_array:
    """Return Aᵀ (n_u, 6 N) as a sparse matrix: û = A u."""
    blocks = np.repeat(state.R, 2, axis=0)
    count = len(blocks)
    turned = sp.bsr_array((blocks, np.arange(count), np.arange(count + 1)), shape=(3 * count, 3 * count)).tocsr()
    return sp.csr_array(turned[state.system.kept])


# ---------------------------------------------------------------------------- mass


class LinkMass(NamedTuple):
    """Mass matrices M_qq (n, n), M_qu (n, n_u) and M_uu (n_u, n_u)."""

    qq: Array
    qu: Array
    uu: sp.csr_array


def link_mass(state: LinkState) -> LinkMass:
    """Return M_qq = Σ JᵀI J + X + Xᵀ, M_qu = Σ JᵀG A + ωᵀ(C û - M W û)ᵀA and M_uu = AᵀM A (10)."""
    system, (_, v, w) = state.system, state.twists
    inertia = system.inertia
    J = np.concatenate([v, w], axis=1)  # (nb, 6, n)
    spatial = _spatial(inertia.mass, inertia.first, inertia.second)
    n1, Q, n1m, Qm = _integrate_shapes(state, state.hat)
    # Rigid motions of a body against what turning it does to û: ẽ_m N û - N W_m û.
    pull = np.einsum("mij,bj->bim", _SKEWS, n1) - n1m
    twist = _vee(np.einsum("bij,mkj->bmik", Q, _SKEWS)) - _vee(np.moveaxis(Qm, 3, 1))  # (nb, m, 3)
    H = np.concatenate([pull, np.swapaxes(twist, 1, 2)], axis=1)  # (nb, 6, 3)
    X = np.einsum("bik,bim,bml->kl", J, H, w)
    qq = np.einsum("bik,bij,bjl->kl", J, spatial, J) + X + X.T
    G = _rigid_moments(state)  # (nb, 6, 6 N), sparse as one
    first = np.asarray(G.T @ J.reshape(-1, J.shape[2]))  # (6 N, n)
    moved = _turned_inertia(state, state.hat)  # (6 N, 3)
    per_node = w[system.node_body]  # (N, 3, n)
    second = np.einsum("nsm,nmk->nsk", moved.reshape(system.nodes, 6, 3), per_node).reshape(6 * system.nodes, -1)
    At = rotation_matrix(state)
    return LinkMass(qq, np.asarray(At @ (first + second)).T, sp.csr_array(At @ inertia.M @ At.T))


def _spatial(mass: Array, first: Array, second: Array) -> Array:
    """Return the inertia (nb, 6, 6) for a twist of the body's origin, in body axes."""
    nb = len(mass)
    s = np.einsum("mij,bm->bij", _SKEWS, first)
    found = np.zeros((nb, 6, 6))
    found[:, :3, :3] = mass[:, None, None] * np.eye(3)
    found[:, :3, 3:], found[:, 3:, :3] = -s, s
    found[:, 3:, 3:] = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    return found


def _integrate_shapes(state: LinkState, hat: Array) -> tuple[Array, Array, Array, Array]:
    """Return n₁ = ∫ Nû, Q_ij = ∫ r_i (Nû)_j of every body, and the same for W_m û, m last."""
    turned = cross_arrays(np.eye(3)[:, None, None], hat[None])  # (3, N, 2, 3)
    both = np.column_stack([hat.ravel(), *(item.ravel() for item in turned)])
    found = np.asarray(state.system.inertia.moments @ both).reshape(-1, 12, 4)
    Q = found[:, 3:].reshape(-1, 3, 3, 4)
    return found[:, :3, 0], Q[..., 0], found[:, :3, 1:], Q[..., 1:]


def _rigid_moments(state: LinkState) -> sp.csr_array:
    """Return G (6 nb, 6 N): ∫ N and ∫ r × N of every body."""
    moments = state.system.inertia.moments
    bodies = moments.shape[0] // 12
    take = np.zeros((6, 12))
    take[:3, :3] = np.eye(3)
    take[3:, 3:] = LEVI_CIVITA.reshape(3, 9)
    return sp.csr_array(sp.kron(sp.eye_array(bodies), take) @ moments)


def _turned_inertia(state: LinkState, hat: Array) -> Array:
    """Return ∫ Nᵀ ẽ_m N û - M W_m û, (6 N, 3)."""
    inertia, flat = state.system.inertia, hat.ravel()
    turned = cross_arrays(np.eye(3)[:, None, None], hat[None]).reshape(3, -1).T
    return np.column_stack([C @ flat for C in inertia.turning]) - np.asarray(inertia.M @ turned)


def _vee(Q: Array) -> Array:
    """Return ε_ijk Q_jk: the moment ∫ r × e of Q = ∫ r eᵀ."""
    return np.einsum("ijk,...jk->...i", LEVI_CIVITA, Q)


# ---------------------------------------------------------------------------- forces


class LinkForces(NamedTuple):
    """Forces in the rows of q (n,) and of u (n_u,)."""

    q: Array
    u: Array

    def __add__(self, other: tuple[object, ...]) -> LinkForces:
        assert isinstance(other, LinkForces)
        return LinkForces(self.q + other.q, self.u + other.u)


def rigid_forces(state: LinkState, bias: LinkBias) -> LinkForces:
    """Return F_r (11) of the rigid links, a + D r with D = α̃ + ω̃ω̃."""
    return _rigid_field(state, bias.a, _acceleration(bias))


def displaced_forces(state: LinkState, bias: LinkBias) -> LinkForces:
    """Return F_u (11), linear in u."""
    system, hat = state.system, state.hat
    D, w, body = _acceleration(bias), bias.w, system.node_body
    turned = cross_arrays(w[body][:, None], hat)  # W û
    twice = cross_arrays(w[body][:, None], turned) - cross_arrays(bias.alpha[body][:, None], hat)  # W²û - W_α û
    spin = np.einsum("mij,bm->bij", _SKEWS, w)
    fields = [(D, _moments(state, hat)), (None, _moments(state, twice)), (-2.0 * spin, _moments(state, turned))]
    q = sum(_on_tree(state, matrix, *shown) for matrix, shown in fields) + _held_field(state, bias.a, D)
    C, flat, M = system.inertia.turning, hat.ravel(), system.inertia.M
    per = [np.repeat(values[body], 6, axis=0) for values in (w, bias.alpha)]
    along = M @ twice.ravel() + sum(per[1][:, m] * (C[m] @ flat) for m in range(3))
    along = along - 2.0 * sum(per[0][:, m] * (C[m] @ turned.ravel()) for m in range(3))
    along = along - (per[0] ** 2).sum(axis=1) * (M @ flat)
    for (i, j), P in zip(PAIRS, system.inertia.squares, strict=True):
        along = along + per[0][:, i] * per[0][:, j] * (P @ flat)
    return LinkForces(np.asarray(q), to_world(state, along))


def gyroscopic_forces(state: LinkState, bias: LinkBias, rate_hat: Array) -> LinkForces:
    """Return F_u̇ (11), linear in u̇; rate_hat (N, 2, 3) : A u̇."""
    system, w = state.system, bias.w
    turned = cross_arrays(w[system.node_body][:, None], rate_hat)
    spin = np.einsum("mij,bm->bij", _SKEWS, w)
    q = 2.0 * _on_tree(state, spin, *_moments(state, rate_hat)) - 2.0 * _on_tree(state, None, *_moments(state, turned))
    per = np.repeat(w[system.node_body], 6, axis=0)
    along = sum(per[:, m] * (system.inertia.turning[m] @ rate_hat.ravel()) for m in range(3))
    return LinkForces(q, to_world(state, 2.0 * (along - system.inertia.M @ turned.ravel())))


def gravity_forces(state: LinkState) -> LinkForces:
    """Return F_g = ∂V/∂(q, u) of V = -∫ gᵀp dm (12): the field -g in body axes."""
    R = state.X[:-1, 3:].reshape(-1, 3, 3)
    a = -np.einsum("bji,j->bi", R, state.system.gravity)
    still = np.zeros((len(a), 3, 3))
    rigid = _rigid_field(state, a, still)
    return LinkForces(rigid.q + _held_field(state, a, still), rigid.u)


def elastic_forces(state: LinkState) -> LinkForces:
    """Return F_e of the bodies, K û on û (12)."""
    return strained_forces(state, np.asarray(state.system.stiffness @ state.hat.ravel()).reshape(state.hat.shape))


def strained_forces(state: LinkState, force: Array) -> LinkForces:
    """Return forces (N, 2, 3) on û as forces on u, and on q_k as -ω_k·Σ û × f, since u is fixed in world axes."""
    system, hat = state.system, state.hat
    about = np.zeros((len(state.X) - 1, 3))
    np.add.at(about, system.node_body, cross_arrays(hat, force).sum(axis=1))
    return LinkForces(-np.einsum("bi,bik->k", about, state.twists.w), to_world(state, force))


def accelerated_forces(state: LinkState, second_hat: Array) -> LinkForces:
    """Return M_qu ü and M_uu ü without forming the matrices; second_hat (N, 2, 3) : A ü."""
    system = state.system
    turned = _turned_inertia(state, state.hat) * second_hat.reshape(-1, 1)
    about = np.zeros((len(state.X) - 1, 3))
    np.add.at(about, np.repeat(system.node_body, 6), turned)
    q = _on_tree(state, None, *_moments(state, second_hat)) + np.einsum("bi,bik->k", about, state.twists.w)
    return LinkForces(q, to_world(state, np.asarray(system.inertia.M @ second_hat.ravel())))


def _acceleration(bias: LinkBias) -> Array:
    """Return D = α̃ + ω̃ω̃ of every body."""
    spin = np.einsum("mij,bm->bij", _SKEWS, bias.w)
    return np.asarray(np.einsum("mij,bm->bij", _SKEWS, bias.alpha) + spin @ spin)


def _moments(state: LinkState, hat: Array) -> tuple[Array, Array]:
    found = np.asarray(state.system.inertia.moments @ hat.ravel()).reshape(-1, 12)
    return found[:, :3], found[:, 3:].reshape(-1, 3, 3)


def _rigid_field(state: LinkState, a: Array, D: Array) -> LinkForces:
    """Return ∫ (v_k + ω_k × r)·(a + D r) and ∫ Nᵀ(a + D r) for accelerations a + D r of all points."""
    inertia, (_, v, w) = state.system.inertia, state.twists
    push = inertia.mass[:, None] * a + np.einsum("bij,bj->bi", D, inertia.first)
    moment = cross_arrays(inertia.first, a) + _vee(inertia.second @ np.swapaxes(D, 1, 2))
    field = np.concatenate([a, np.swapaxes(D, 1, 2).reshape(-1, 9)], axis=1)
    q = np.einsum("bi,bik->k", push, v) + np.einsum("bi,bik->k", moment, w)
    return LinkForces(q, to_world(state, np.asarray(inertia.moments.T @ field.ravel())))


def _on_tree(state: LinkState, D: Array | None, n1: Array, Q: Array) -> Array:
    """Return ∫ (v_k + ω_k × r)·D N û (n,)."""
    _, v, w = state.twists
    pushed = n1 if D is None else np.einsum("bij,bj->bi", D, n1)
    turned = _vee(Q if D is None else Q @ np.swapaxes(D, 1, 2))
    return np.asarray(np.einsum("bi,bik->k", pushed, v) + np.einsum("bi,bik->k", turned, w))


def _held_field(state: LinkState, a: Array, D: Array) -> Array:
    """Return ∫ (ω_k × N û - N W_k û)·(a + D r) (n,)."""
    n1, Q, n1m, Qm = _integrate_shapes(state, state.hat)
    about = cross_arrays(n1, a) + _vee(np.swapaxes(D @ Q, 1, 2))
    left = np.einsum("bim,bi->bm", n1m, a) + np.einsum("bji,bijm->bm", D, Qm)
    return np.asarray(np.einsum("bi,bik->k", about - left, state.twists.w))
