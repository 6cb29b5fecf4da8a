"""Coefficients of local models as columns of a fit, symmetric ones packed, and back as families entry by entry."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from supple.array_types import Array
from supple.reduced.layout import curvature_places, packed_triangles, slope_pairs, unpacked

_SLOPES = {"outputs": "rigid", "force": "dforce_theta"}  # names of derivatives of a rigid mechanism; else d...


def packed_values(parts: Mapping[str, Array], name: str) -> Array:
    """A coefficient of local models as columns, packed: (N, k)."""
    if name == "output_modes":
        return parts["modes"].reshape(len(parts["M"]), -1)
    if name == "mass_slope":
        n, s = parts["M"].shape[-1], parts["dforce_theta"].shape[-1]
        return packed_slope(parts["dM"], s, n if parts["mass_curvature"].size else s)
    array = parts[name]
    if name == "mass_curvature":
        places = curvature_places(parts["M"].shape[-1], array.shape[-3])
        return array[(slice(None), *np.array(places).T)]
    if name in ("M", "K", "damping", "christoffel"):
        return packed_triangles(array).reshape(len(array), -1)
    return array.reshape(len(array), -1)


def packed_slope(dM: Array, s: int, sloped: int) -> Array:
    """∂M/∂δ as columns (N, k), its first rows, from dM (N, n, n, n) over η."""
    i, j = np.array(slope_pairs(dM.shape[1], sloped)).T
    return dM[:, i, j, s:].reshape(len(dM), -1)


def unpacked_slope(columns: Array, n: int, s: int, sloped: int) -> Array:
    """The first rows of ∂M/∂δ, (N, sloped, n, n - s), from its columns (N, k)."""
    found = np.zeros((len(columns), sloped, n, n - s))
    kept = columns.reshape(len(columns), -1, n - s)
    for place, (i, j) in enumerate(slope_pairs(n, sloped)):
        found[:, i, j] = kept[:, place]
        if j < sloped:
            found[:, j, i] = kept[:, place]
    return found


def packed_gradient(parts: Mapping[str, Array], name: str) -> Array:
    """Its derivatives with respect to θ, of a rigid mechanism: (N, k, s)."""
    if name == "potential":
        return -parts["force"][:, None, :]
    array = parts[_SLOPES.get(name, f"d{name}")]
    if name in ("M", "damping"):
        return np.swapaxes(packed_triangles(np.moveaxis(array, -1, 1)), 1, 2)
    return array.reshape(len(array), -1, array.shape[-1])


def matrix_entries(columns: Array, name: str, n: int) -> Array:
    """A family entry by entry, so that its norm is that of the matrix: (N, entries)."""
    if name in ("M", "K", "damping"):
        return unpacked(columns, n).reshape(len(columns), -1)
    if name == "christoffel":
        return unpacked(columns.reshape(len(columns), n, -1), n).reshape(len(columns), -1)
    return columns
