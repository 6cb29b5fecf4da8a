"""View of a reduced model for the C generator: sizes, names, and the source of each coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.diagnostics import InputError
from supple.export.c.columns import StoredColumn, stored_columns
from supple.export.c.family_numbers import CFamily
from supple.export.c.location import BoxGrid, regular_grid
from supple.export.c.monomials import Monomials, monomials
from supple.hardware.hardware import Hardware
from supple.reduced.layout import CoefficientLayout, unpack_triangles
from supple.reduced.row_map import model_row

WELL_CONDITIONED = 20.0  # condition of scaled M; in single precision accelerations have some 1e-7 times this error


class Exportable(Protocol):
    """Attributes of a reduced model that are needed to generate code."""

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

    source  : C expression of its first number, in terms of `F` (the fitted columns) or of a table
    columns : range of fitted columns, None for a constant
    width   : number of numbers
    """

    name: str
    source: str
    columns: tuple[int, int] | None
    width: int


@dataclass(frozen=True, eq=False)
class CModel:
    """Reduced model with its C names."""

    prefix: str
    rom: Exportable
    precision: str = "double"

    @property
    def layout(self) -> CoefficientLayout:
        return self.rom.layout

    @cached_property
    def family(self) -> CFamily | None:
        """Family whose parameters are set at run time; None for a single model."""
        family = getattr(self.rom, "family", None)
        return None if family is None else CFamily(family, self.layout.theta)

    @cached_property
    def grid(self) -> BoxGrid | None:
        """Boxes as a regular grid; None if they are not one."""
        return regular_grid(self.rom.fitted) if self.family is None else self.family.grid

    @property
    def fitted(self) -> Piecewise:
        """Fitted function with leaves in the order of the grid; that over (θ, μ) for a family."""
        if self.family is not None:
            return self.family.whole
        return self.rom.fitted if self.grid is None else self.grid.fitted

    @cached_property
    def stored(self) -> tuple[StoredColumn, ...]:
        """Columns of the tables, in their order."""
        return stored_columns(self)

    @cached_property
    def polynomials(self) -> Monomials:
        """Polynomials of the boxes in θ; those of a family have no coefficients before its parameters are set."""
        columns = np.array([column.column for column in self.stored], dtype=np.int64)
        return monomials(self.fitted, columns) if self.family is None else self.family.slices(columns)

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """Numbers of coordinates n, of θ, of inputs, of measures, and of joints with dry friction."""
        layout = self.layout
        return layout.size, layout.theta, len(layout.inputs), len(layout.measures), len(layout.dry_forces)

    @property
    def elastic(self) -> int:
        """Number of elastic coordinates δ."""
        return self.layout.size - self.layout.theta

    @property
    def upper(self) -> str:
        return self.prefix.upper()

    @property
    def state(self) -> str:
        """C name of the coordinates: theta alone, or eta = (theta, delta)."""
        return "eta" if self.elastic else "theta"

    @cached_property
    def coefficients(self) -> dict[str, Coefficient]:
        """All fitted and constant coefficients, in a fixed order."""
        found = {}
        for name, width in self.layout.widths.items():
            if name in self.layout.columns:
                first, stop = self.layout.columns[name]
                item = Coefficient(name, f"F + {first}" if first else "F", (first, stop), stop - first)
            elif name in self.layout.constants:
                item = Coefficient(name, f"constant_{name}", None, int(np.size(self.layout.constants[name])))
            else:
                continue
            if item.width != width:
                raise self._make_error(f'coefficient "{name}" must have {width} numbers (got {item.width})')
            if width:
                found[name] = item
        return found

    def require_complete(self) -> None:
        """Raise InputError if the model cannot be exported; called before anything is written."""
        arrays, layout = self.rom.fitted.arrays, self.layout
        if "M" not in self.coefficients:
            raise self._make_error("the model has no mass matrix")
        if not len(arrays.leaves_i):
            raise self._make_error("the model has no boxes")
        if arrays.coefficients.shape[1] < layout.fitted:
            raise self._make_error(
                f"the model needs {layout.fitted} fitted columns (got {arrays.coefficients.shape[1]})"
            )
        tables = [arrays.roots_f, arrays.nodes_f, arrays.leaves_f, arrays.coefficients, *layout.constants.values()]
        tables += [np.array(list(layout.dry_forces.values()), dtype=float)]
        if self.family is not None:
            whole = self.family.whole.arrays
            tables += [whole.roots_f, whole.nodes_f, whole.leaves_f, whole.coefficients]
        if not all(np.isfinite(values).all() for values in tables):
            raise self._make_error("coefficients of the model are not finite")

    def _make_error(self, what: str) -> InputError:
        return InputError(what, part=f'model "{self.rom.name}"', hint="reduce the mechanism again")

    # ------------------------------------------------------------------ need for gradients

    @property
    def mass_gives_christoffel(self) -> bool:
        """True if Γ_θθθ is computed from ∂M/∂θ; a constant M has no Γ."""
        known = self.layout.christoffel == "from-mass" and self.coefficients["M"].columns is not None
        return known and not self.bent

    @property
    def bent(self) -> bool:
        """True if M depends on θ and δ; ∂M/∂θ and ∂M/∂δ are then fitted in place of Γ."""
        return "mass_slope" in self.coefficients

    @cached_property
    def condition(self) -> float:
        """Largest condition number of M at the centers of boxes, scaled to ones on the diagonal."""
        columns = self.coefficients["M"].columns
        if columns is None or self.layout.size == 1:
            return 1.0
        fitted = self.rom.fitted if self.family is None else self.family.family.fitted
        centers = np.ascontiguousarray(fitted.arrays.leaves_f[:, 0])
        M = unpack_triangles(fitted.evaluate(centers)[:, slice(*columns)], self.layout.size)
        scale = 1.0 / np.sqrt(np.maximum(np.einsum("kii->ki", M), np.finfo(float).tiny))
        return float(np.linalg.cond(M * scale[:, :, None] * scale[:, None]).max())

    @property
    def exact(self) -> bool:
        """True if single-precision code computes M, p and M x = f in double, since M is ill-conditioned."""
        fitted = self.coefficients["M"].columns is not None and not self.rom.fitted.arrays.indices[0].any()
        return self.precision == "single" and fitted and self.condition > WELL_CONDITIONED

    @property
    def real(self) -> str:
        """C type in which forces are summed and M x = f is solved."""
        return "exact" if self.exact else "double"

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
    def instant(self) -> bool:
        """True if outputs depend on accelerations or forces."""
        return self.layout.observation is not None and self.layout.observation.instant

    def members(self) -> list[tuple[str, tuple[int, ...], str]]:
        """Return the members of the C structure: name, shape, meaning.

        Shapes are those of a row of coefficients, except for gradients.
        """
        known, row = self.coefficients, model_row(self.layout).shapes
        n, s = self.layout.size, self.layout.theta
        shapes = row | {"potential": (), "output_modes": row["modes"]}
        shapes |= {"force_gradient": (n - s, s), "stiffness_gradient": (s, n, n)}
        measures = "y" if self.layout.observation is None else "measures"
        rows = [
            (True, "M", "mass matrix at theta and delta" if self.bent else "mass matrix"),
            (self.has_christoffel, "christoffel", "Christoffel symbols of the first kind"),
            (self.bent, "mass_gradient", "dM / dtheta; the first index is that of theta"),
            (self.bent, "mass_slope", "dM / ddelta, rows of theta; the last index is that of delta"),
            ("damping" in known, "damping", "viscous damping matrix"),
            ("K" in known, "K", "stiffness matrix; rows of theta are zero"),
            ("potential" in known, "potential", "potential energy"),
            (self.has_force, "force", "p at delta = 0" if self.elastic else "p"),
            (self.elastic_force_columns is not None, "force_gradient", "dp_delta / dtheta"),
            (self.stiffness_columns is not None, "stiffness_gradient", "dK / dtheta"),
            ("input_map" in known, "input_map", "input matrix B"),
            ("outputs" in known, "outputs", f"{measures} at delta = 0" if self.elastic else measures),
            ("output_modes" in known, "output_modes", f"d{measures} / ddelta"),
            ("friction_map" in known, "friction_map", "Jacobian of the rates of joints with dry friction"),
        ]
        return [(name, shapes[name], meaning) for present, name, meaning in rows if present]
