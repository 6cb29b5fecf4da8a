"""What the generator knows of a reduced model: sizes, names, and where each coefficient comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.diagnostics import InputError
from supple.export.c.family_numbers import CFamily
from supple.export.c.location import BoxGrid, regular_grid
from supple.hardware.hardware import Hardware
from supple.reduced.layout import CoefficientLayout, unpacked
from supple.reduced.row_map import model_row

WELL_CONDITIONED = 20.0  # of M, scaled: single precision leaves some 1e-7 times this in accelerations


class Exportable(Protocol):
    """The part of a reduced model that becomes code."""

    @property
    def name(self) -> str: ...
    @property
    def layout(self) -> CoefficientLayout: ...
    @property
    def fitted(self) -> Piecewise: ...
    @property
    def error(self) -> Any: ...
    @property
    def hardware(self) -> Hardware: ...


@dataclass(frozen=True)
class Coefficient:
    """One coefficient of the equations.

    source  : where its numbers start: a C expression, in terms of `values` (the fitted columns) or of a table
    columns : the fitted columns it occupies, None for a constant
    width   : how many numbers it has
    """

    name: str
    source: str
    columns: tuple[int, int] | None
    width: int


@dataclass(frozen=True, eq=False)
class CModel:
    """A model with the names it has in C."""

    prefix: str
    rom: Exportable
    precision: str = "double"

    @property
    def layout(self) -> CoefficientLayout:
        return self.rom.layout

    @cached_property
    def family(self) -> CFamily | None:
        """The family it is of, whose parameters are set at run time; None for a model by itself."""
        family = getattr(self.rom, "family", None)
        return None if family is None else CFamily(family, self.layout.theta)

    @cached_property
    def grid(self) -> BoxGrid | None:
        """The boxes as a regular grid, if they are one."""
        return regular_grid(self.rom.fitted) if self.family is None else self.family.grid

    @property
    def fitted(self) -> Piecewise:
        """The fitted function, its leaves in the order of the grid if there is one; of a family its boxes."""
        if self.family is not None:
            return self.family.boxes
        return self.rom.fitted if self.grid is None else self.grid.fitted

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """n, s, inputs, measures that outputs are made of, joints with dry friction."""
        layout = self.layout
        return layout.size, layout.theta, len(layout.inputs), len(layout.measures), len(layout.dry_forces)

    @property
    def elastic(self) -> int:
        """Number of δ."""
        return self.layout.size - self.layout.theta

    @property
    def upper(self) -> str:
        return self.prefix.upper()

    @property
    def state(self) -> str:
        """What the coordinates are called in C: θ alone, or η = (θ, δ)."""
        return "eta" if self.elastic else "theta"

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """All that are fitted or constant, in a fixed order."""
        found = {}
        for name, width in self.layout.widths.items():
            if name in self.layout.columns:
                first, stop = self.layout.columns[name]
                item = Coefficient(name, f"values + {first}" if first else "values", (first, stop), stop - first)
            elif name in self.layout.constants:
                item = Coefficient(name, f"constant_{name}", None, int(np.size(self.layout.constants[name])))
            else:
                continue
            if item.width != width:
                raise self._refused(f'"{name}" has {item.width} numbers, not {width}')
            if width:
                found[name] = item
        return found

    def require_complete(self) -> None:
        """A model that cannot become code is refused before anything is written."""
        arrays, layout = self.rom.fitted.arrays, self.layout
        if "M" not in self.coefficients:
            raise self._refused("it has no mass matrix")
        if not len(arrays.leaves_i):
            raise self._refused("it has no boxes")
        if arrays.coefficients.shape[1] < layout.fitted:
            raise self._refused(f"{layout.fitted} columns are named, {arrays.coefficients.shape[1]} fitted")
        tables = [arrays.roots_f, arrays.nodes_f, arrays.leaves_f, arrays.coefficients, *layout.constants.values()]
        tables += [np.array(list(layout.dry_forces.values()), dtype=float)]
        if self.family is not None:
            whole = self.family.whole.arrays
            tables += [whole.roots_f, whole.nodes_f, whole.leaves_f, whole.coefficients]
        if not all(np.isfinite(values).all() for values in tables):
            raise self._refused("some of its numbers are not finite")

    def _refused(self, what: str) -> InputError:
        return InputError(what, part=f'model "{self.rom.name}"', hint="reduce the mechanism again")

    # ------------------------------------------------------------------ what depends on gradients

    @property
    def mass_gives_christoffel(self) -> bool:
        """Γ_θθθ from ∂M/∂θ; a constant M gives none."""
        known = self.layout.christoffel == "from-mass" and self.coefficients["M"].columns is not None
        return known and not self.bent

    @property
    def bent(self) -> bool:
        """M at θ and δ, and instead of Γ what it follows from: ∂M/∂θ and ∂M/∂δ."""
        return "mass_slope" in self.coefficients

    @cached_property
    def condition(self) -> float:
        """The largest condition, at the centers of boxes, of M scaled to ones on its diagonal."""
        columns = self.coefficients["M"].columns
        if columns is None or self.layout.size == 1:
            return 1.0
        fitted = self.rom.fitted if self.family is None else self.family.family.fitted
        centers = np.ascontiguousarray(fitted.arrays.leaves_f[:, 0])
        M = unpacked(fitted.evaluate(centers)[:, slice(*columns)], self.layout.size)
        scale = 1.0 / np.sqrt(np.maximum(np.einsum("kii->ki", M), np.finfo(float).tiny))
        return float(np.linalg.cond(M * scale[:, :, None] * scale[:, None]).max())

    @property
    def exact(self) -> bool:
        """Whether M, p and M x = f are exact beside the rest: in single precision, where rounding M would matter."""
        fitted = self.coefficients["M"].columns is not None and not self.rom.fitted.arrays.indices[0].any()
        return self.precision == "single" and fitted and self.condition > WELL_CONDITIONED

    @property
    def real(self) -> str:
        """The type that forces are summed in and M x = f is solved in."""
        return "exact" if self.exact else "double"

    @property
    def inertia_columns(self) -> list[tuple[int, int]]:
        """Columns of M and ∂M/∂δ whose gradients enter inertia forces."""
        names = ("M", "mass_slope", "mass_curvature") if self.bent else ("M",) if self.mass_gives_christoffel else ()
        found = [self.coefficients[name].columns for name in names if name in self.coefficients]
        return [item for item in found if item is not None]

    @property
    def has_christoffel(self) -> bool:
        return self.mass_gives_christoffel or "christoffel" in self.coefficients

    @property
    def potential_gives_force(self) -> bool:
        return self.layout.force == "from-potential" and "potential" in self.layout.columns

    @property
    def has_force(self) -> bool:
        return self.potential_gives_force or "force" in self.coefficients

    @property
    def elastic_force_columns(self) -> tuple[int, int] | None:
        """Columns of p_δ, whose gradient enters p_θ = -∂V₀/∂θ + (∂p_δ/∂θ)ᵀδ; None if there are none."""
        force = self.coefficients.get("force")
        if not self.elastic or force is None or force.columns is None:
            return None
        return force.columns[1] - self.elastic, force.columns[1]

    @property
    def stiffness_columns(self) -> tuple[int, int] | None:
        """Columns of K, whose gradient enters p_θ as -½ δᵀ ∂K/∂θ δ; None if there are none."""
        stiffness = self.coefficients.get("K")
        return stiffness.columns if self.elastic and stiffness is not None else None

    @property
    def force_columns(self) -> int:
        """How many of the first columns hold everything that forces are made of, but for what outputs alone need."""
        seen = ("outputs", "output_modes", "efforts")
        return max(
            (item.columns[1] for name, item in self.coefficients.items() if item.columns and name not in seen),
            default=0,
        )

    @property
    def instant(self) -> bool:
        """Whether outputs need accelerations or forces."""
        return self.layout.observation is not None and self.layout.observation.instant

    def members(self) -> list[tuple[str, tuple[int, ...], str]]:
        """Members of the C structure: name, shape (as in a row of coefficients but for gradients), meaning."""
        known, row = self.coefficients, model_row(self.layout).shapes
        n, s = self.layout.size, self.layout.theta
        shapes = row | {"potential": (), "output_modes": row["modes"]}
        shapes |= {"force_gradient": (n - s, s), "stiffness_gradient": (s, n, n)}
        seen = "y" if self.layout.observation is None else "measures"
        rows = [
            (True, "M", "mass matrix at theta and delta" if self.bent else "mass matrix"),
            (self.has_christoffel, "christoffel", "Christoffel symbols, first kind"),
            (self.bent, "mass_gradient", "dM / dtheta, first index of theta"),
            (self.bent, "mass_slope", "dM / ddelta, rows of theta; last index of delta"),
            ("damping" in known, "damping", "viscous damping"),
            ("K" in known, "K", "stiffness, zero rows for theta"),
            ("potential" in known, "potential", "potential energy"),
            (self.has_force, "force", "p at delta = 0" if self.elastic else "p"),
            (self.elastic_force_columns is not None, "force_gradient", "dp_delta / dtheta"),
            (self.stiffness_columns is not None, "stiffness_gradient", "dK / dtheta"),
            ("input_map" in known, "input_map", "B"),
            ("outputs" in known, "outputs", f"{seen} at delta = 0" if self.elastic else seen),
            ("output_modes" in known, "output_modes", f"d{seen} / ddelta"),
            ("friction_map" in known, "friction_map", "rates of joints with dry friction"),
        ]
        return [(name, shapes[name], meaning) for present, name, meaning in rows if present]
