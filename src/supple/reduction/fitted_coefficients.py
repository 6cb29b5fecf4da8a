"""Fitted coefficients: their packing into columns, and the coefficients that follow from the fit.

There are two kinds of fit. *Structured*: M and the potential are fitted, to values and gradients; Γ is the Christoffel
symbol of the fitted M, and the force is minus the gradient of the fitted potential, so that the reduced model conserves
energy exactly. *Direct*: every coefficient is fitted separately, to values alone, as in the papers.

A flexible mechanism also has coefficients of δ, which are fitted to values in both cases. In a structured fit ∂M/∂δ is
one of them, and Γ is the Christoffel symbol of M₀ + Σ_a δ_a ∂M/∂δ_a; a direct fit has Γ at δ = 0. Stiffening adds
∂²M_θθ/∂δ².
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.approximation.evaluated import Samples
from supple.array_types import Array
from supple.equations.deformation import whole_gradient
from supple.equations.equations_of_motion import christoffel
from supple.equations.row import RowLayout, effort_places
from supple.reduced.damped import kept_frequencies, locked_frequencies
from supple.reduced.layout import CoefficientLayout, curvature_places, packed_triangles, slope_pairs, unpack_triangles
from supple.reduction import natural_size

# Families of coefficients, each judged by one norm.
#
# A family is a coefficient of the equations. For a flexible mechanism it is divided into blocks by kinds of
# coordinates, θ, γ (constraint modes) and ι (internal modes), which differ in unit and size.


FAMILIES = (
    "M", "K", "christoffel", "mass_curvature", "force", "damping", "input_map", "outputs", "output_modes",
    "friction_map", "efforts",
)  # fmt: skip
FREQUENCIES = "frequencies"
_EFFORTS = ("rest", "δ", "u", "accelerations", "rates", "turning", "friction")  # parts of a row, in their order


def block_places(layout: CoefficientLayout, name: str) -> dict[str, NDArray[np.int64]]:
    """Return the entries of each block of a coefficient, by kinds of coordinates: M_θγ, Γ_θιι, ..."""
    n, s = layout.size, layout.theta
    kinds = ["θ"] * s + ["γ"] * (n - s - layout.internal) + ["ι"] * layout.internal
    blocks: dict[str, list[int]] = {}
    rank = {"θ": 0, "γ": 1, "ι": 2}
    if name in ("M", "K", "damping"):
        for i in range(n):
            for j in range(i, n):
                blocks.setdefault(f"{name}_{kinds[i]}{kinds[j]}", []).extend({i * n + j, j * n + i})
    elif name == "christoffel":
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    pair = "".join(sorted(kinds[j] + kinds[k], key=rank.__getitem__))
                    blocks.setdefault(f"Γ_{kinds[i]}{pair}", []).append((i * n + j) * n + k)
    elif name == "mass_curvature":
        for place, (_, _, a, b) in enumerate(curvature_places(n, s)):
            blocks.setdefault(f"∂²M_θθ{kinds[s + a]}{kinds[s + b]}", []).append(place)
    elif name == "force":
        for i in range(n):
            blocks.setdefault(f"p_{kinds[i]}", []).append(i)
    elif name == "output_modes":
        for o in range(len(layout.measures)):
            for i in range(s, n):
                blocks.setdefault(f"outputs_{kinds[i]}", []).append(o * (n - s) + i - s)
    elif name == "efforts":
        places = effort_places(n, s, len(layout.inputs), len(layout.dry_forces))
        edges = [0, *places[:7]]
        for e in range(len(layout.efforts)):
            for part, first, stop in zip(_EFFORTS, edges[:-1], edges[1:], strict=True):
                blocks.setdefault(f"efforts_{part}", []).extend(
                    range(e * places.width + first, e * places.width + stop)
                )
        blocks = {block: items for block, items in blocks.items() if items}
    else:
        return {name: np.arange(layout.widths[name], dtype=np.int64)}
    return {block: np.array(places, dtype=np.int64) for block, places in blocks.items()}


# Coefficients of local models as columns of a fit, symmetric ones packed, and back as families entry by entry.


_SLOPES = {"outputs": "rigid", "force": "dforce_theta"}  # names of derivatives of a rigid mechanism; others: d...


def packed_values(parts: Mapping[str, Array], name: str) -> Array:
    """Return a coefficient of local models as packed columns (N, k)."""
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
    """Return the kept rows of ∂M/∂δ as columns (N, k), from dM (N, n, n, n) over η."""
    i, j = np.array(slope_pairs(dM.shape[1], sloped)).T
    return dM[:, i, j, s:].reshape(len(dM), -1)


def unpacked_slope(columns: Array, n: int, s: int, sloped: int) -> Array:
    """Return the kept rows of ∂M/∂δ, (N, sloped, n, n - s), from its columns (N, k)."""
    found = np.zeros((len(columns), sloped, n, n - s))
    kept = columns.reshape(len(columns), -1, n - s)
    for place, (i, j) in enumerate(slope_pairs(n, sloped)):
        found[:, i, j] = kept[:, place]
        if j < sloped:
            found[:, j, i] = kept[:, place]
    return found


def packed_gradient(parts: Mapping[str, Array], name: str) -> Array:
    """Return the derivatives of a coefficient of a rigid mechanism with respect to θ: (N, k, s)."""
    if name == "potential":
        return -parts["force"][:, None, :]
    array = parts[_SLOPES.get(name, f"d{name}")]
    if name in ("M", "damping"):
        return np.swapaxes(packed_triangles(np.moveaxis(array, -1, 1)), 1, 2)
    return array.reshape(len(array), -1, array.shape[-1])


def matrix_entries(columns: Array, name: str, n: int) -> Array:
    """Return a family entry by entry (N, entries), so that its norm is that of the matrix."""
    if name in ("M", "K", "damping"):
        return unpack_triangles(columns, n).reshape(len(columns), -1)
    if name == "christoffel":
        return unpack_triangles(columns.reshape(len(columns), n, -1), n).reshape(len(columns), -1)
    return columns


@dataclass(frozen=True)
class Columns:
    """Conversion of rows of local models to samples of the fitted function, and of its values to coefficients.

    layout  : layout of the reduced model
    rows    : layout of the rows of the local model
    drifted : largest relative deviation of each constant in any sample
    ignored : blocks that are zero or constant, to rounding
    natural : norm of each block of a flexible mechanism as if nothing in it cancelled
    summand_norms : norm of the three derivatives of M that a block of Γ is the sum of, where Γ is not fitted itself
    noise   : rounding noise of each family, from differences of neighbouring samples
    """

    layout: CoefficientLayout
    rows: RowLayout
    structured: bool
    ignored: frozenset[str] = frozenset()
    drifted: dict[str, float] = field(default_factory=dict)
    natural: dict[str, float] = field(default_factory=dict)
    summand_norms: dict[str, float] = field(default_factory=dict)
    noise: dict[str, float] = field(default_factory=dict)

    def samples(self, rows: Array, valid: NDArray[np.bool_]) -> Samples:
        """Return values, gradients and families at each row.

        Gradients along parameters are included if all of them are known.
        """
        width = self.rows.width
        parts = self.rows.split(rows[:, :width])
        behind = [rows[:, first : first + width] for first in range(width, rows.shape[1], width)]
        self._watch(parts, valid)
        values = np.hstack([packed_values(parts, name) for name in self.layout.columns])
        gradients = None
        if self.structured and self.layout.size == self.layout.theta:
            gradients = np.concatenate([packed_gradient(parts, name) for name in self.layout.columns], axis=1)
            along = [self.rows.split(block) for block in behind]  # slopes along parameters
            more = [np.hstack([packed_values(item, name) for name in self.layout.columns])[..., None] for item in along]
            if all(np.isfinite(item[valid]).all() for item in more):
                gradients = np.concatenate([gradients, *more], axis=2)
        whole = {name: matrix_entries(packed_values(parts, name), name, self.layout.size) for name in self.families}
        return Samples(values, gradients, self._add_frequencies(whole), valid, frozenset(self.frequencies))

    def derive_families(self, values: Array, gradients: Array) -> dict[str, Array]:
        """Return the families of a fit from its values (N, t) and gradients (N, t, s + p).

        Only the gradients along θ, the first s, are used.
        """
        n, s, columns = self.layout.size, self.layout.theta, self.layout.columns
        families = {}
        for name in self.families:
            if name in columns:
                families[name] = matrix_entries(values[:, slice(*columns[name])], name, n)
            elif name == "christoffel":
                families[name] = np.zeros((len(values), n**3))
            else:
                families[name] = np.zeros((len(values), n))
        if self.layout.christoffel == "from-mass" and "M" in columns:
            along = unpack_triangles(np.swapaxes(gradients[:, slice(*columns["M"]), :s], 1, 2), n)  # (N, s, n, n)
            slope = np.zeros((len(values), s, n, n - s))
            if "mass_slope" in columns:
                slope = unpacked_slope(values[:, slice(*columns["mass_slope"])], n, s, self.layout.slope_rows)
            families["christoffel"] = christoffel(whole_gradient(along, slope)).reshape(len(values), -1)
        if self.layout.force == "from-potential" and "potential" in columns:
            families["force"][:, :s] = -gradients[:, columns["potential"][0], :s]
        return self._add_frequencies(families)

    @property
    def frequencies(self) -> tuple[str, ...]:
        """Families of the frequencies with θ locked, one each, lowest first; none for a rigid mechanism.

        There are as many as internal modes, or one without any: constraint modes add frequencies above the band.
        """
        return tuple(f"{FREQUENCIES}_{k + 1}" for k in range(kept_frequencies(self.layout)))

    def _add_frequencies(self, whole: Mapping[str, Array]) -> dict[str, Array]:
        """Return the blocks of the families, and the frequencies.

        The norm of K_ιι is that of its highest mode; an error that is small beside it may be large beside the lowest.
        So frequencies are families of their own, each judged by its own size.
        """
        blocks = self._blocks(whole)
        if self.frequencies:
            n, s = self.layout.size, self.layout.theta
            K, M = (whole[name].reshape(-1, n, n)[:, s:, s:] for name in ("K", "M"))
            blocks |= dict(zip(self.frequencies, locked_frequencies(K, M).T[:, :, None], strict=False))
        return blocks

    def _blocks(self, families: Mapping[str, Array]) -> dict[str, Array]:
        """Return the families of a rigid mechanism as they are, and those of a flexible one divided into blocks."""
        if self.layout.size == self.layout.theta:
            return dict(families)
        return {
            block: family[:, places]
            for name, family in families.items()
            for block, places in self._places[name].items()
        }

    @cached_property
    def _places(self) -> dict[str, dict[str, NDArray[np.int64]]]:
        """Entries of each judged block of each family."""
        return {
            name: {
                block: places for block, places in block_places(self.layout, name).items() if block not in self.ignored
            }
            for name in self.families
        }

    def floors(self, tolerance: float) -> dict[str, float]:
        """Return the norm of each block below which its error is measured against that norm.

        Γ_θδδ is a small difference of large derivatives of M, which are fitted and which have the errors. Rounding
        noise may take up a tenth of the tolerance.
        """
        least = max(natural_size.SIGNIFICANT, natural_size.ROUNDING / tolerance)
        floors = {
            block: max(least * norm, natural_size.CANCELLED * self.summand_norms.get(block, 0.0))
            for block, norm in self.natural.items()
        }
        noisy = {name: natural_size.NOISE * noise / tolerance for name, noise in self.noise.items()}
        return {name: max(floors.get(name, 0.0), noisy.get(name, 0.0)) for name in {**floors, **noisy}}

    @property
    def families(self) -> tuple[str, ...]:
        """Families whose error is judged; constants are known to rounding."""
        derived = {"christoffel": self.layout.christoffel == "from-mass", "force": self.layout.force != "fitted"}
        return tuple(name for name in FAMILIES if name in self.layout.columns or derived.get(name))

    def _watch(self, parts: Mapping[str, Array], valid: NDArray[np.bool_]) -> None:
        """Record the largest deviation of the assumed constants in these samples."""
        for name, constant in self.layout.constants.items():
            if name in ("K", "christoffel", "mass_slope", "force", "potential") or not constant.size or not valid.any():
                continue
            size = float(np.abs(constant).max()) or 1.0
            deviation = float(np.abs(packed_values(parts, name)[valid] - constant).max()) / size
            self.drifted[name] = max(self.drifted.get(name, 0.0), deviation)
