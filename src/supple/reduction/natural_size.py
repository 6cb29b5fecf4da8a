"""Natural sizes of the coefficients of a flexible mechanism, as if nothing in them cancelled.

A block may vanish by symmetry (Γ of a planar arm with one link), or nearly so, and then consists of rounding. Its own
size does not show that; the sizes of its constituents do. With m_i = √M_ii, the length of mode ψ_i, and r_j the natural
rate of θ_j (1 for an angle, 1/extent for a length):

    M_ij : m_i m_j      K_ij : √(K_ii K_jj)      Γ_ijk : m m of two of them times r of a third that is in θ
    Γ_abc of δ alone : m_a m_b m_c / (√mass extent)      ∂²M_ij/∂δ_a∂δ_b : m_a m_b r_i r_j
    p_θ : r_j × weight × extent      p_δ : m_a g √mass      B, Ψ_o, J of δ_a : m_a max_j |∂_θj| / m_j
    Ψ_o of an output that θ hardly moves, such as one held by a coupling : as if θ moved it by r_j, or r_j × extent

A change below STILL of that size is no change. A block below SIGNIFICANT of it is not judged. Nothing is known better
than to ROUNDING of it, or to the differences of neighbouring samples (`noise`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.array_types import Array
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.kinematics.rest import rest
from supple.reduced.layout import curvature_places

ROUNDING = 1e-10  # modes are solved to 1e-12, and their derivatives are less accurate
STILL = 1e-9
SIGNIFICANT = 1e-7
CANCELLED = 0.1  # of the derivatives of M that Γ is a sum of: smaller differences of them are not judged
NOISE = 10.0  # over the tolerance: measured rounding noise that is not judged


def natural_sizes(mechanism: Mechanism, parts: Mapping[str, Array], names: tuple[str, ...]) -> dict[str, Array]:
    """Return the natural size of each coefficient at each of some probes, entry by entry: (P, entries).

    parts : name -> (P, ...), as a layout splits rows
    names : names of θ
    """
    numbering = rest(mechanism).numbering
    extent = float(numbering.arrays.extent)
    kinds = dict(zip(numbering.coordinates, numbering.turns, strict=True))
    # The arclength of a path is an angle where all coordinates are.
    angles = np.array([kinds.get(name, all(kinds.values())) for name in names], dtype=bool)
    theta, count, n = len(names), *parts["M"].shape[:2]
    rate = np.where(angles, 1.0, 1.0 / extent)
    rates = np.concatenate([rate, np.zeros(n - theta)])
    m, k, d = (np.sqrt(np.abs(np.einsum("pii->pi", parts[name]))) for name in ("M", "K", "damping"))
    pairs = np.einsum("pi,pj->pij", m, m)
    ways = ("pij,k->pijk", "pik,j->pijk", "pjk,i->pijk")
    mass = sum(item.mass for item in mass_properties(numbering.drawing).values())
    bent = np.zeros((count, n, n, n))
    own = m[:, theta:]
    bent[:, theta:, theta:, theta:] = np.einsum("pa,pb,pc->pabc", own, own, own) / (np.sqrt(mass or 1.0) * extent)
    g = 0.0 if mechanism.gravity is None else float(np.linalg.norm(np.asarray(mechanism.gravity, float)))
    turning = np.broadcast_to(rate * mass * g * extent, (count, theta))
    force = np.concatenate([turning, m[:, theta:] * g * np.sqrt(mass)], axis=1)
    # Motion by a mode relative to the motion by the lightest θ.
    moved = m / np.maximum(m[:, :theta].min(axis=1, keepdims=True), np.finfo(float).tiny)
    # A damper moved by θ alone leaves rounding on the modes, and damping of modes leaves rounding on θ; neither has
    # damping of its own there that would show the rounding.
    by_modes = (d[:, theta:] / np.maximum(m[:, theta:], np.finfo(float).tiny)).max(axis=1, initial=0.0, keepdims=True)
    d = np.maximum.reduce([d, moved * d[:, :theta].max(axis=1, initial=0.0, keepdims=True), m * by_modes])
    outputs, rigid, maps, rubbing = (np.abs(parts[name]) for name in ("outputs", "rigid", "input_map", "friction_map"))
    swept = np.maximum(rigid.max(axis=2), rate.max(initial=0.0) * min(1.0, extent))
    largest = outputs.max(axis=1, initial=0.0, keepdims=True)
    sizes = {
        "M": pairs,
        "K": np.einsum("pi,pj->pij", k, k),
        "christoffel": np.maximum.reduce([bent, *(np.einsum(way, pairs, rates) for way in ways)]),
        "mass_curvature": _scale_curvature(m, rate),
        "damping": np.einsum("pi,pj->pij", d, d),
        "force": np.maximum(force, np.abs(parts["force"])),
        "input_map": np.einsum("pi,pu->piu", moved, maps[:, :theta].max(axis=1)),
        "outputs": np.broadcast_to(largest, outputs.shape),
        "output_modes": np.einsum("po,pa->poa", swept, moved[:, theta:]),
        "friction_map": np.einsum("pf,pi->pfi", rubbing[:, :, :theta].max(axis=2), moved),
    }
    if parts["efforts"].size:  # each kind of entry of a row by the largest of all rows
        sizes["efforts"] = np.broadcast_to(np.abs(parts["efforts"]).max(axis=1, keepdims=True), parts["efforts"].shape)
    return {name: size.reshape(count, -1) for name, size in sizes.items()}


def _scale_curvature(m: Array, rate: Array) -> Array:
    """Return m_a m_b r_i r_j for the kept entries of ∂²M_θθ/∂δ²: (P, k)."""
    s = len(rate)
    i, j, a, b = np.array(curvature_places(m.shape[1], s), dtype=np.int64).reshape(-1, 4).T
    return m[:, s + a] * m[:, s + b] * rate[i] * rate[j]
