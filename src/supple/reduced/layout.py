"""Layout of a reduced model: columns of the fit and the coefficients they hold; consistency check and summary.

    M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ,   η = (θ, δ)

Symmetric matrices are packed by their upper triangle, row by row; Γ_i likewise for each i, so that Γ has n · n(n + 1)/2
columns. ∂M_ij/∂δ_a is packed by i in θ, j ≥ i in η, and a, since ∂M_δδ/∂δ is left out; with stiffening by all i, and
∂²M_ij/∂δ_a∂δ_b by i in θ, j ≥ i in θ, a and b ≥ a. Coefficients that do not depend on θ are stored once, as constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.diagnostics import InputError
from supple.equations.observation import Observation
from supple.equations.row import effort_places
from supple.results.result import facts_html
from supple.results.text import Text

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


@dataclass(frozen=True)
class CoefficientLayout:
    """Names and columns of the coefficients of a reduced model.

    Parameters
    ----------
    coordinates : tuple of str
        Names of η, θ first.
    theta : int
        Number of coordinates θ.
    inputs : tuple of str
        Names of the inputs.
    outputs : tuple of str
        Names of the outputs.
    columns : dict of str to (int, int)
        Columns (first, stop) of the fitted function for each coefficient; `widths` has their number.

        Coefficients are M, K, christoffel, mass_slope (∂M/∂δ), mass_curvature (∂²M_θθ/∂δ²), damping, potential, force,
        input_map, outputs (ρ_o), output_modes, friction_map and efforts. Matrices that are not symmetric are packed row
        by row.
    constants : dict of str to ndarray, optional
        Coefficients that do not depend on θ, packed likewise.

        A coefficient in neither `columns` nor `constants` is zero, except the potential, which is then unknown.
    dry_forces : dict of str to float, optional
        Friction force of each joint with dry friction.
    christoffel : {"fitted", "from-mass"}, optional
        Origin of Γ: fitted, or from the gradients of the fitted M and from mass_slope.

        Without mass_slope, "from-mass" means Γ_θθθ alone, whatever the columns of Γ hold.
    force : {"fitted", "from-potential"}, optional
        Origin of p_θ: fitted, or minus the gradient of the fitted potential.
    limits : dict of str to (float, float), optional
        Limits of the coordinates, for information.
    internal : int, optional
        Number of δ, the last ones, that are internal modes; the others are displacements.
    observation : Observation, optional
        Composition of the outputs; None if each output is a measure ρ_o + Ψ_o δ.
    """

    coordinates: tuple[str, ...]
    theta: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    columns: dict[str, tuple[int, int]]
    constants: dict[str, Array] = field(default_factory=dict)
    dry_forces: dict[str, float] = field(default_factory=dict)
    christoffel: str = "fitted"
    force: str = "fitted"
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    internal: int = 0
    observation: Observation | None = None

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures that outputs are composed of: those of the columns `outputs` and `output_modes`."""
        return self.outputs if self.observation is None else self.observation.measures

    @property
    def efforts(self) -> tuple[str, ...]:
        """Names of the internal forces that outputs are composed of: those of the columns `efforts`."""
        return () if self.observation is None else self.observation.efforts

    @property
    def size(self) -> int:
        """Number n of coordinates η."""
        return len(self.coordinates)

    @property
    def bent(self) -> bool:
        """Whether M is M₀(θ) + Σ_a M_a(θ) δ_a with its Christoffel symbols; otherwise M(θ) and Γ(θ) are separate."""
        return "mass_slope" in self.columns or "mass_slope" in self.constants

    @property
    def conservative(self) -> bool:
        """Whether M and Γ belong to one kinetic energy, and p to one potential, whatever the error of the fit."""
        from_mass = self.christoffel == "from-mass" or self.vanishes("christoffel")
        inertia = self.bent or (self.size == self.theta and from_mass)
        return inertia and (self.force == "from-potential" or self.vanishes("force"))

    def vanishes(self, name: str) -> bool:
        """Return whether a coefficient is constant and zero."""
        return name in self.constants and not np.any(self.constants[name])

    @property
    def curved(self) -> bool:
        """Whether M_θθ is of second order in δ (stiffening)."""
        return "mass_curvature" in self.columns or "mass_curvature" in self.constants

    @property
    def slope_rows(self) -> int:
        """Number of rows of ∂M/∂δ: those of θ, or all with stiffening."""
        return self.size if self.curved else self.theta

    @property
    def widths(self) -> dict[str, int]:
        """Number of packed columns of each coefficient."""
        n, s = len(self.coordinates), self.theta
        pairs = n * (n + 1) // 2
        return {
            "M": pairs,
            "K": pairs,
            "damping": pairs,
            "christoffel": n * pairs,
            "mass_slope": len(slope_pairs(n, self.slope_rows)) * (n - s),
            "mass_curvature": len(curvature_places(n, s)),
            "potential": 1,
            "force": n,
            "input_map": n * len(self.inputs),
            "outputs": len(self.measures),
            "output_modes": len(self.measures) * (n - s),
            "friction_map": len(self.dry_forces) * n,
            "efforts": len(self.efforts) * effort_places(n, s, len(self.inputs), len(self.dry_forces)).width,
        }

    @property
    def fitted(self) -> int:
        """Number t of fitted columns."""
        return max((stop for _, stop in self.columns.values()), default=0)


def slope_pairs(n: int, sloped: int) -> list[tuple[int, int]]:
    """Return i, j of the stored entries of ∂M/∂δ_a: j ≥ i, with i in the rows that depend on δ."""
    return [(i, j) for i in range(sloped) for j in range(i, n)]


def curvature_places(n: int, s: int) -> list[tuple[int, int, int, int]]:
    """Return i, j, a, b of the stored entries of ∂²M_ij/∂δ_a∂δ_b: i ≤ j in θ, a ≤ b in δ."""
    d = n - s
    return [(i, j, a, b) for i in range(s) for j in range(i, s) for a in range(d) for b in range(a, d)]


def packed_triangles(matrices: Array) -> Array:
    """Pack the upper triangles, row by row: (..., n, n) to (..., n(n + 1)/2)."""
    i, j = np.triu_indices(matrices.shape[-1])
    return matrices[..., i, j]


def unpack_triangles(triangles: Array, n: int) -> Array:
    """Return the symmetric matrices (..., n, n) of packed triangles."""
    i, j = np.triu_indices(n)
    full = np.empty((*triangles.shape[:-1], n, n))
    full[..., i, j] = triangles
    full[..., j, i] = triangles
    return full


def require_consistent_layout(name: str, layout: CoefficientLayout, fitted: Piecewise) -> None:
    """Refuse a reduced model whose parts are inconsistent.

    Every coefficient has its width, columns do not overlap, and the fit has as many columns.
    """

    def wrong(message: str) -> InputError:
        return InputError(message, part=f'model "{name}"', hint="the model is damaged; reduce again")

    widths = layout.widths
    if not 1 <= layout.theta <= layout.size or fitted.dimension != layout.theta:
        raise wrong(f"{fitted.dimension} fitted coordinates, {layout.theta} θ and {layout.size} η are inconsistent")
    if fitted.outputs != layout.fitted:
        raise wrong(f"expected {layout.fitted} fitted columns (got {fitted.outputs})")
    for coefficient, (first, stop) in layout.columns.items():
        if coefficient not in widths:
            raise wrong(f'unknown coefficient "{coefficient}"')
        if stop - first != widths[coefficient] or first < 0:
            raise wrong(f"expected {widths[coefficient]} columns of {coefficient} (got {stop - first})")
    for coefficient, constant in layout.constants.items():
        if coefficient not in widths or coefficient in layout.columns:
            raise wrong(f'"{coefficient}" cannot be constant')
        if np.size(constant) != widths[coefficient]:
            raise wrong(f"expected {widths[coefficient]} constants of {coefficient} (got {np.size(constant)})")
    spans = sorted(layout.columns.values())
    if any(b > c for (_, b), (c, _) in pairwise(spans)):
        raise wrong("the columns of its coefficients overlap")
    if "M" not in layout.columns and "M" not in layout.constants:
        raise wrong("it has no mass matrix")
    if layout.christoffel not in ("fitted", "from-mass") or layout.force not in ("fitted", "from-potential"):
        raise wrong(f'unknown christoffel "{layout.christoffel}" or force "{layout.force}"')
    if layout.bent and (layout.christoffel != "from-mass" or "christoffel" in {**layout.columns, **layout.constants}):
        raise wrong("its Christoffel symbols are given twice")
    if layout.curved and not layout.bent:
        raise wrong("it has ∂²M/∂δ² without ∂M/∂δ")
    if layout.force == "from-potential" and "potential" not in {**layout.columns, **layout.constants}:
        raise wrong("the potential of its force is missing")


# Summary of a reduced model for notebooks, the terminal and JSON: region, names with units, errors, modes, costs.


def model_html(model: ReducedModel) -> str:
    """Return the summary of a model as HTML."""
    layout, units, arrays = model.layout, model.units, model.fitted.arrays
    lows, highs = arrays.roots_f[:, 0].min(axis=0), arrays.roots_f[:, 1].max(axis=0)
    region = [
        f"{name} {a:.4g} to {b:.4g} {units.coordinates.get(name, '')}".rstrip()
        for name, a, b in zip(layout.coordinates, lows, highs, strict=False)
    ]
    facts = [
        ("region", ", ".join(region)),
        ("parameters", "" if model.family is None else str(model.family)),
        ("elastic coordinates", ", ".join(layout.coordinates[layout.theta :]) or "none (rigid)"),
        ("inputs", ", ".join(f"{name} / {units.inputs.get(name) or 'SI'}" for name in layout.inputs)),
        ("outputs", ", ".join(f"{name} / {units.outputs.get(name) or 'SI'}" for name in layout.outputs)),
        ("boxes", str(len(arrays.leaves_i))),
        ("largest errors", ", ".join(f"{name} {worst:.2g}" for name, worst in model.error.items())),
        ("tolerance met", "yes" if model.met else "; ".join(model.provenance.get("missed", ()))),
    ]
    return facts_html("ReducedModel", model.name, facts)


def model_data(model: ReducedModel, seconds: float | None, file: str | Path | None) -> dict[str, Any]:
    """Return the keys and values that `supple reduce --json` prints."""
    made = model.provenance
    return {
        "samples": made["samples"],
        "checks": made["checks"],
        "boxes": made["boxes"],
        "dropped": made["dropped"],
        "held": model.held_coordinates,
        "parameters": {} if model.family is None else model.family.data(),
        "depth": made["depth"],
        "error": model.error,
        "stated": made.get("stated", {}),
        "norms": {
            name: {key: item[key] for key in ("median_norm", "floor", "scale")}
            for name, item in made["error"].items()
            if "scale" in item
        },
        "frequencies": made["error"].get("frequencies", {}).get("each", []),
        "truncation": made.get("truncation", {}),
        "equilibria": made.get("equilibria", {}),
        "exchanges": made.get("exchanges", []),
        "modes": made["options"]["modes"],
        "rigid": model.rigid,
        "stiffening": model.stiffening,
        "operations": made["operations"],
        "kernel_operations": made["kernel_operations"],
        "memory": made["memory"],
        "seconds": seconds,
        "met": model.met,
        "missed": made.get("missed", []),
        "file": None if file is None else str(file),
    }


def model_text(model: ReducedModel, took: str) -> Text:
    """Return the summary of a model: errors, modes and the cost of an evaluation."""
    made = model.provenance
    out = Text(
        f"{model.name}: {made['samples']} samples and {made['checks']} checks, "
        f"{made['boxes']} {'box' if made['boxes'] == 1 else 'boxes'}{took}"
    )
    rows = []
    for name, worst in model.error.items():
        item = made["error"].get(name, {})
        place = ", ".join(f"{key}={value:.4g}" for key, value in item.get("at", {}).items())
        rows.append((name, f"{worst:.2g}", place, _scale_text(item)))
    each = made["error"].get("frequencies", {}).get("each", [])
    rows += [(f"  frequency {k + 1}", f"{worst:.2g}", "", "") for k, worst in enumerate(each)]
    out.table(("coefficients", "stated error", "largest at", "scale"), rows)
    if made.get("stated"):
        out.line(_confidence_text(made["stated"]))
    if "truncation" in made:
        out.line(_truncation_text(made["truncation"]))
    if "equilibria" in made:
        out.line(equilibrium_error_text(made["equilibria"]))
    if model.layout.internal:
        out.line(_tracking_text(made["options"]["modes"], model.layout.internal))
    if model.stiffening:
        out.line("stiffening: second order in δ, with the geometric stiffness of loads and of inertia")
    elif model.layout.size > model.layout.theta and not model.layout.vanishes("force"):
        counted = made["options"].get("modes", {}).get("preload")
        out.line(f"geometric stiffness of the loads at rest is {'in K' if counted else 'not in K (--no-preload)'}")
    if model.family is not None:
        out.line(f"parameters: {model.family}")
    for name, value in model.held_coordinates.items():
        out.line(f"{name} is fixed at {value:.6g} and is not a coordinate of the model")
    if made["dropped"]:
        out.line(f"{made['dropped']} boxes were discarded, because the mechanism cannot be assembled there, or locks")
    out.line(
        f"cost of an evaluation: {made['operations']} operations for M, Γ and p (count of Brüls 2004), "
        f"{made['kernel_operations']} for all coefficients in compiled kernels; {made['memory'] / 1024:.3g} kB, "
        f"{made['depth']} levels of boxes"
    )
    return out


def _confidence_text(stated: dict[str, Any]) -> str:
    """Return the share and confidence of the stated errors as text."""
    text = (
        f"stated errors are exceeded in at most {100.0 * stated['share']:.2g} % of the region, with "
        f"{100.0 * stated['confidence']:g} % confidence for all families at once ({stated['points']} random points)"
    )
    if stated["invalid"]:
        text += f"; at {stated['invalid']} more points the mechanism cannot be assembled, or locks"
    return text


def _scale_text(item: dict[str, Any]) -> str:
    """Return the least norm that the errors of a family are relative to, as text."""
    if "scale" not in item:
        return "norm of the coefficients"
    return f"{item['scale']:.3g} (floor)" if item["floor"] > item["median_norm"] else f"{item['scale']:.3g} (median)"


def _tracking_text(modes: dict[str, Any], count: int) -> str:
    """Return the number and the tracking of the internal modes as text."""
    trackings = {
        "subspace": "as a subspace, by motions",
        "strain": "as a subspace, by strains",
        "modes": "one by one",
    }
    germ = "(" + ", ".join(f"{value:.4g}" for value in modes["germ"] or ()) + ")"
    start = "the rest posture" if modes["germ"] is None else germ
    return f"{count} internal mode{'s' if count > 1 else ''}, tracked from {start} {trackings[modes['tracking']]}"


def _truncation_text(truncation: dict[str, Any]) -> str:
    """Return the error of the modal truncation as text."""
    points = ", ".join(f"{name} {error:.2g}" for name, error in truncation["compliance"].items())
    above = "" if truncation["next_hz"] is None else f"; next discarded mode at {truncation['next_hz']:.4g} Hz"
    return (
        f"error of the modal truncation: frequencies within the band {truncation['frequencies']:.2g}"
        f"{f'; static compliance at {points}' if points else ''}{above}"
    )


def equilibrium_error_text(found: dict[str, Any]) -> str:
    """Return the static error of the model against the full equations as text."""
    if not found["points"]:
        return f"static error against the full equations is unknown: {found['reason']}"
    errors = [f"{error:.2g} of the static deflection at {name}" for name, error in found["deflection"].items()]
    errors += [f"{found['force']:.2g} of the holding forces"] if found["force"] is not None else []
    where = f"{found['points']} configurations"
    where += f" (failed at others: {found['reason']})" if found["reason"] else ""
    return f"static error against the full equations: {', '.join(errors) or 'none at the sensors'}, at {where}"
