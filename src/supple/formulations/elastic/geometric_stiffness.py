"""Geometric stiffness of beams: the work of internal forces along deformations of second order.

An element deforms in axes that follow its chord, by ω = e × (u₂ - u₁)/L + ½ e e·(φ₁ + φ₂). The forces f and moments m
on its two ends at x balance its elastic forces. With the axial force N = ½ e·(f₂ - f₁) and arms a from the nodes,

    V₂ = Σ f·(-ω × u + ½ ω × (ω × x) + ½ φ × (φ × a)) - ½ m·(ω × φ) + ½ ∫ N(x) (v'² - v'²_chord) dx

The inertia load of the element along e, p₁ and p₂ at its ends, gives N(x) = N + p₁(1 - x/L) - p₂ x/L.
(docs/theory/stiffening.md, eqs. 9-11)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from supple.array_types import Array
from supple.description.drawing import Drawing
from supple.formulations.elastic.beam_element import (
    AXIAL,
    BENDING,
    GAUSS,
    beam_matrices,
    bending_shapes,
    in_body_axes,
    shear_parameter,
)
from supple.formulations.elastic.beam_mesh import ElementData, element_data
from supple.formulations.elastic.body_matrices import PLANAR_COLUMNS, ElasticBody
from supple.formulations.elastic.elastic_body import meshed_beams
from supple.geometry.rotation import tilde

_CROSS = np.array([[[tilde(np.eye(3)[i])[k, j] for j in range(3)] for i in range(3)] for k in range(3)])
"""Permutation symbol ε (k, i, j): (a × b)_k = Σ ε_kij a_i b_j."""


class Acceleration(NamedTuple):
    """Acceleration v̇ + A X of the points of a body, v̇ (3,) and A (3, 3)."""

    shift: Array
    turn: Array


def body_load_stiffness(
    drawing: Drawing,
    body: ElasticBody,
    loads: Array,
    accelerations: Sequence[Acceleration],
    moved: Array,
    shapes: Array,
) -> Array:
    """Return K_g (p, n, n) over n shapes of a body of beams, for the internal forces of each of p loads.

    loads  : (size, p) forces on all degrees of freedom. The resultant of a load is balanced by the inertia of the free
             body, so that the effects of loads in equilibrium add up
    accelerations, moved : accelerations whose inertia forces the first loads are; then displacements (size, q) whose
             second derivatives cause the inertia forces of the next q loads
    shapes : (size, n) displacements of all degrees of freedom
    """
    spans, found, _, _ = meshed_beams(drawing, body.name)
    data = element_data(spans, found)
    forces = _end_forces(body, data, free_response(body, loads))
    slopes = _slopes(data)
    G = np.einsum("epc,ecij->epij", forces, _forms(data, found.ends, slopes[0]), optimize=True)
    own = _axial_loads(body, data, found.ends, accelerations, moved)
    G[:, : own.shape[1]] += np.einsum("eps,esij->epij", own, slopes[1])
    K = np.zeros((loads.shape[1], shapes.shape[1], shapes.shape[1]))
    for nodes, one in zip(body.elements, G, strict=True):
        here = _of_element(body, nodes, shapes)
        K += here.T @ one @ here
    return K


def free_response(body: ElasticBody, loads: Array) -> Array:
    """Return displacements (size, p) without rigid motions, under loads (size, p) and the balancing inertia."""
    MT = body.M @ body.rigid_motions()
    MT = sp.csc_array(MT * (abs(body.K).max() / np.abs(MT).max(axis=0)))
    whole = sp.csc_array(sp.block_array([[body.K, MT], [MT.T, None]]))
    padded = np.vstack([loads, np.zeros((MT.shape[1], loads.shape[1]))])
    return np.asarray(splu(whole).solve(padded))[: body.size]


def _of_element(body: ElasticBody, nodes: Array, of_body: Array) -> Array:
    """Return the displacements (12, n) of an element's two nodes from those of all degrees of freedom (size, n)."""
    kept = PLANAR_COLUMNS if body.width == 3 else np.arange(6)
    found = np.zeros((12, of_body.shape[1]))
    for end, node in enumerate(nodes):
        found[6 * end + kept] = of_body[body.columns(int(node))]
    return found


def _on_ends(arms: Array) -> Array:
    """Return A (e, 12, 12): displacements of the ends from those of the nodes, u + φ × a and φ."""
    A = np.broadcast_to(np.eye(12), (len(arms), 12, 12)).copy()
    for e, pair in enumerate(arms):
        for end, arm in enumerate(pair):
            A[e, 6 * end : 6 * end + 3, 6 * end + 3 : 6 * end + 6] = -tilde(arm)
    return A


def _end_forces(body: ElasticBody, data: ElementData, displacements: Array) -> Array:
    """Return forces and moments (e, p, 12) on the ends of the elements, in body axes."""
    K = in_body_axes(beam_matrices(data.length, data.rates, data.shear)[0], data.axes)
    moved = np.array([_of_element(body, nodes, displacements) for nodes in body.elements])
    return np.swapaxes(K @ (_on_ends(data.arms) @ moved), 1, 2)


def _forms(data: ElementData, ends: Array, arch: Array) -> Array:
    """Return twice V₂ as a form over the displacements of the two nodes, per unit end force, (e, 12, 12, 12).

    arch : (e, 12, 12) ∫ v'² - v'²_chord
    """
    count, axis = len(data.length), data.axes[:, :, 0]
    at = _on_ends(data.arms)
    turn = np.zeros((count, 3, 12))
    across = np.array([tilde(e) for e in axis]) / data.length[:, None, None]
    along = 0.5 * axis[:, :, None] * axis[:, None, :]
    turn[:, :, 0:3], turn[:, :, 6:9] = -across, across
    turn[:, :, 3:6] = turn[:, :, 9:12] = along
    turn = turn @ at
    forms = np.zeros((count, 12, 12, 12))
    for end in range(2):
        shift, spin = at[:, 6 * end : 6 * end + 3], at[:, 6 * end + 3 : 6 * end + 6]
        place = ends[:, end] - ends[:, 0]
        for k in range(3):
            half = -np.einsum("ein,ij,ejm->enm", turn, _CROSS[k], shift)
            Q = _arm(k, place)
            found = half + np.swapaxes(half, 1, 2) + np.swapaxes(turn, 1, 2) @ Q @ turn
            found += np.swapaxes(spin, 1, 2) @ _arm(k, data.arms[:, end]) @ spin
            sign = 1.0 if end == 1 else -1.0
            forms[:, 6 * end + k] = found + 0.5 * sign * axis[:, k, None, None] * arch
            half = -0.5 * np.einsum("ein,ij,ejm->enm", turn, _CROSS[k], spin)
            forms[:, 6 * end + 3 + k] = half + np.swapaxes(half, 1, 2)
    return forms


def _arm(k: int, place: Array) -> Array:
    """Return Q (e, 3, 3) with ωᵀQω = e_k·(ω × (ω × x)), x (e, 3)."""
    outer = np.zeros((len(place), 3, 3))
    outer[:, k, :] = 0.5 * place
    return outer + np.swapaxes(outer, 1, 2) - place[:, k, None, None] * np.eye(3)


def _axial_loads(
    body: ElasticBody, data: ElementData, ends: Array, accelerations: Sequence[Acceleration], moved: Array
) -> Array:
    """Return the inertia forces (e, p + q, 2) of the elements along their axes, at both ends."""
    mass = beam_matrices(data.length, data.rates, data.shear)[1][:, AXIAL[:, None], AXIAL]
    axis = data.axes[:, :, 0]
    fields = [np.einsum("esk,ek->es", one.shift + ends @ one.turn.T, axis) for one in accelerations]
    at = _on_ends(data.arms) @ np.array([_of_element(body, nodes, moved) for nodes in body.elements])
    shifted = np.stack([at[:, :3], at[:, 6:9]], axis=1)  # (e, 2, 3, q)
    along = np.concatenate([np.stack(fields, axis=2), np.einsum("eskq,ek->esq", shifted, axis)], axis=2)
    return -np.swapaxes(mass @ along, 1, 2)


def _slopes(data: ElementData) -> tuple[Array, Array]:
    """Return ∫ v'² - v'²_chord dx of both planes of bending over the displacements of the nodes, in body axes.

    The first array is (e, 12, 12); the second has the factors 1 - x/L and -x/L, (e, 2, 12, 12).
    """
    points, weights = np.polynomial.legendre.leggauss(GAUSS)
    xi, L = 0.5 * (points + 1.0), data.length
    weight = 0.5 * weights[None] * L[:, None]
    rates = dict(zip(data.rates._fields, np.moveaxis(data.rates.at(xi), 2, 0), strict=True))
    at = _on_ends(data.arms)
    found = np.zeros((3, len(L), 12, 12))
    for (degrees, sign), EI, GA in zip(BENDING, ("EIz", "EIy"), ("GAy", "GAz"), strict=True):
        _, theta, _, strain = bending_shapes(xi, L, shear_parameter(rates[EI], rates[GA], L, data.shear))
        chord = np.zeros((len(L), 4, 1))
        chord[:, 0, 0], chord[:, 2, 0] = -1.0 / L, 1.0 / L
        for one, factor in zip(found, (np.ones_like(xi), 1.0 - xi, -xi), strict=True):
            for slope, way in ((theta + strain, 1.0), (np.broadcast_to(chord, theta.shape), -1.0)):
                part = way * np.einsum("eip,ep,ejp->eij", slope, factor * weight, slope, optimize=True)
                one[:, degrees[:, None], degrees] += sign[:, None] * part * sign
    inside = [np.swapaxes(at, 1, 2) @ in_body_axes(one, data.axes) @ at for one in found]
    return inside[0], np.stack(inside[1:], axis=1)
