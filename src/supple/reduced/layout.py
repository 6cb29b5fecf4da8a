"""Columns of a reduced model's fit and the coefficients they hold, the consistency of its parts, and its summary.

    M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ,   η = (θ, δ)

Symmetric matrices are packed by their upper triangle, row by row; Γ_i likewise for each i, so that Γ has n · n(n + 1)/2
columns; ∂M_ij/∂δ_a by i in θ, j ≥ i in η, and a, since ∂M_δδ/∂δ is left out; with stiffening by all i, and
∂²M_ij/∂δ_a∂δ_b by i in θ, j ≥ i in θ, a and b ≥ a. Coefficients that do not depend on θ are kept once, as constants.
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
    """Names and places of the coefficients.

    coordinates : names of η, θ first; theta : how many of them are θ
    inputs, outputs : names; dry_forces : force of each joint with dry friction
    columns     : coefficient -> (first, stop) columns of the fitted function, `widths` says how many. Known
                  coefficients: M, K, christoffel, mass_slope (∂M/∂δ), mass_curvature (∂²M_θθ/∂δ²), damping, potential,
                  force, input_map, outputs (ρ_o), output_modes, friction_map, efforts. Matrices that are not symmetric
                  are kept row by row
    constants   : coefficients that do not depend on θ, packed likewise. What is in neither is zero, but for the
                  potential, which is then unknown
    christoffel : "fitted", or "from-mass": Γ follows from the gradients of the fitted M and from mass_slope. Without
                  mass_slope that is Γ_θθθ alone, whatever the columns of Γ say
    force       : "fitted", or "from-potential": p_θ is minus the gradient of the fitted potential, likewise
    limits      : of coordinates, for those who want to respect them
    internal    : how many of δ, the last ones, are internal modes; the others are displacements
    observation : what outputs are made of; None where each is a measure ρ_o + Ψ_o δ as it stands
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
        """Names of what outputs are made of: those of the columns `outputs` and `output_modes`."""
        return self.outputs if self.observation is None else self.observation.measures

    @property
    def efforts(self) -> tuple[str, ...]:
        """Names of the forces inside that outputs are made of: those of the columns `efforts`."""
        return () if self.observation is None else self.observation.efforts

    @property
    def size(self) -> int:
        """n, the number of coordinates η."""
        return len(self.coordinates)

    @property
    def bent(self) -> bool:
        """Whether M is M₀(θ) + Σ_a M_a(θ) δ_a and Γ its Christoffel symbols; otherwise M(θ) stands beside a Γ(θ)."""
        return "mass_slope" in self.columns or "mass_slope" in self.constants

    @property
    def conservative(self) -> bool:
        """Whether M and Γ belong to one kinetic energy, and all of p to one potential, whatever the fit is off by."""
        from_mass = self.christoffel == "from-mass" or self.vanishes("christoffel")
        inertia = self.bent or (self.size == self.theta and from_mass)
        return inertia and (self.force == "from-potential" or self.vanishes("force"))

    def vanishes(self, name: str) -> bool:
        """Whether a coefficient is constant, and zero."""
        return name in self.constants and not np.any(self.constants[name])

    @property
    def curved(self) -> bool:
        """Whether M_θθ is known to second order in δ (stiffening)."""
        return "mass_curvature" in self.columns or "mass_curvature" in self.constants

    @property
    def sloped(self) -> int:
        """How many rows of ∂M/∂δ there are: those of θ; all with stiffening."""
        return self.size if self.curved else self.theta

    @property
    def widths(self) -> dict[str, int]:
        """How many columns each coefficient has, packed."""
        n, s = len(self.coordinates), self.theta
        pairs = n * (n + 1) // 2
        return {
            "M": pairs,
            "K": pairs,
            "damping": pairs,
            "christoffel": n * pairs,
            "mass_slope": len(slope_pairs(n, self.sloped)) * (n - s),
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
        """t, the number of fitted columns."""
        return max((stop for _, stop in self.columns.values()), default=0)


def slope_pairs(n: int, sloped: int) -> list[tuple[int, int]]:
    """i, j of the entries of ∂M/∂δ_a that are kept: j ≥ i, i in the rows that change."""
    return [(i, j) for i in range(sloped) for j in range(i, n)]


def curvature_places(n: int, s: int) -> list[tuple[int, int, int, int]]:
    """i, j, a, b of the entries of ∂²M_ij/∂δ_a∂δ_b that are kept: i ≤ j in θ, a ≤ b in δ."""
    d = n - s
    return [(i, j, a, b) for i in range(s) for j in range(i, s) for a in range(d) for b in range(a, d)]


def packed_triangles(matrices: Array) -> Array:
    """Upper triangles, row by row: (..., n, n) to (..., n(n + 1)/2)."""
    i, j = np.triu_indices(matrices.shape[-1])
    return matrices[..., i, j]


def unpacked(triangles: Array, n: int) -> Array:
    """Back to symmetric matrices (..., n, n)."""
    i, j = np.triu_indices(n)
    full = np.empty((*triangles.shape[:-1], n, n))
    full[..., i, j] = triangles
    full[..., j, i] = triangles
    return full


def require_consistent_layout(name: str, layout: CoefficientLayout, fitted: Piecewise) -> None:
    """Refuse a reduced model whose parts do not fit together.

    Every coefficient has its width, columns do not overlap, and the fit has as many.
    """

    def wrong(message: str) -> InputError:
        return InputError(message, part=f'model "{name}"', hint="the model is damaged; reduce again")

    widths = layout.widths
    if not 1 <= layout.theta <= layout.size or fitted.dimension != layout.theta:
        raise wrong(f"{fitted.dimension} fitted coordinates, {layout.theta} θ and {layout.size} η do not fit together")
    if fitted.outputs != layout.fitted:
        raise wrong(f"it has {fitted.outputs} fitted columns, not {layout.fitted}")
    for coefficient, (first, stop) in layout.columns.items():
        if coefficient not in widths:
            raise wrong(f'there is no coefficient "{coefficient}"')
        if stop - first != widths[coefficient] or first < 0:
            raise wrong(f"{coefficient} has {stop - first} columns, not {widths[coefficient]}")
    for coefficient, constant in layout.constants.items():
        if coefficient not in widths or coefficient in layout.columns:
            raise wrong(f'"{coefficient}" cannot be constant')
        if np.size(constant) != widths[coefficient]:
            raise wrong(f"{coefficient} has {np.size(constant)} constants, not {widths[coefficient]}")
    spans = sorted(layout.columns.values())
    if any(b > c for (_, b), (c, _) in pairwise(spans)):
        raise wrong("columns of its coefficients overlap")
    if "M" not in layout.columns and "M" not in layout.constants:
        raise wrong("it has no mass matrix")
    if layout.christoffel not in ("fitted", "from-mass") or layout.force not in ("fitted", "from-potential"):
        raise wrong(f'christoffel "{layout.christoffel}", force "{layout.force}" are not known')
    if layout.bent and (layout.christoffel != "from-mass" or "christoffel" in {**layout.columns, **layout.constants}):
        raise wrong("its Christoffel symbols are given twice")
    if layout.curved and not layout.bent:
        raise wrong("its inertia is curved in δ, but not sloped")
    if layout.force == "from-potential" and "potential" not in {**layout.columns, **layout.constants}:
        raise wrong("its force follows from a potential that is missing")


# A reduced model in a notebook, in the terminal and as data: region, names with units, errors, modes, costs.


def model_html(model: ReducedModel) -> str:
    """What it is, and facts about it."""
    layout, units, arrays = model.layout, model.units, model.fitted.arrays
    lows, highs = arrays.roots_f[:, 0].min(axis=0), arrays.roots_f[:, 1].max(axis=0)
    region = [
        f"{name} {a:.4g} to {b:.4g} {units.coordinates.get(name, '')}".rstrip()
        for name, a, b in zip(layout.coordinates, lows, highs, strict=False)
    ]
    facts = [
        ("region", ", ".join(region)),
        ("parameters", "" if model.family is None else str(model.family)),
        ("deformation", ", ".join(layout.coordinates[layout.theta :]) or "none: it is rigid"),
        ("inputs", ", ".join(f"{name} / {units.inputs.get(name) or 'SI'}" for name in layout.inputs)),
        ("outputs", ", ".join(f"{name} / {units.outputs.get(name) or 'SI'}" for name in layout.outputs)),
        ("boxes", str(len(arrays.leaves_i))),
        ("largest errors", ", ".join(f"{name} {worst:.2g}" for name, worst in model.error.items())),
        ("as asked for", "yes" if model.met else "; ".join(model.provenance.get("missed", ()))),
    ]
    return facts_html("ReducedModel", model.name, facts)


def model_data(model: ReducedModel, seconds: float | None, file: str | Path | None) -> dict[str, Any]:
    """The keys and values that `supple reduce --json` prints."""
    made = model.provenance
    return {
        "samples": made["samples"],
        "checks": made["checks"],
        "boxes": made["boxes"],
        "dropped": made["dropped"],
        "held": model.held,
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
    """Errors, modes, and what an evaluation costs."""
    made = model.provenance
    out = Text(
        f"{model.name}: {made['samples']} samples and {made['checks']} checks, "
        f"{made['boxes']} {'box' if made['boxes'] == 1 else 'boxes'}{took}"
    )
    rows = []
    for name, worst in model.error.items():
        item = made["error"].get(name, {})
        place = ", ".join(f"{key}={value:.4g}" for key, value in item.get("at", {}).items())
        rows.append((name, f"{worst:.2g}", place, _norm(item)))
    each = made["error"].get("frequencies", {}).get("each", [])
    rows += [(f"  frequency {k + 1}", f"{worst:.2g}", "", "") for k, worst in enumerate(each)]
    out.table(("coefficients", "stated error", "largest at", "relative to at least"), rows)
    if made.get("stated"):
        out.line(_trusted(made["stated"]))
    if "truncation" in made:
        out.line(_left_out(made["truncation"]))
    if "equilibria" in made:
        out.line(equilibrium_error_text(made["equilibria"]))
    if model.layout.internal:
        out.line(_followed(made["options"]["modes"], model.layout.internal))
    if model.stiffening:
        out.line("stiffening: second order in the deformation, with the stiffness of loads and of inertia")
    elif model.layout.size > model.layout.theta and not model.layout.vanishes("force"):
        counted = made["options"].get("modes", {}).get("preload")
        out.line(f"geometric stiffness of the loads at rest is {'in K' if counted else 'not in K (--no-preload)'}")
    if model.family is not None:
        out.line(f"parameters: {model.family}")
    for name, value in model.held.items():
        out.line(f"{name} is held at {value:.6g}: it is no coordinate of the model")
    if made["dropped"]:
        out.line(f"{made['dropped']} boxes were left out: there the mechanism cannot be assembled, or locks")
    out.line(
        f"an evaluation: {made['operations']} operations for M, Γ and p as the paper counts them, "
        f"{made['kernel_operations']} for all coefficients as the kernels do; {made['memory'] / 1024:.3g} kB, "
        f"{made['depth']} levels of boxes"
    )
    return out


def _trusted(stated: dict[str, Any]) -> str:
    """How far the stated errors hold, in words."""
    words = (
        f"stated errors hold but for {100.0 * stated['share']:.2g} % of the region, with "
        f"{100.0 * stated['confidence']:g} % confidence for all of them at once, from {stated['points']} random points"
    )
    if stated["invalid"]:
        words += f"; at {stated['invalid']} more points the mechanism cannot be assembled, or locks"
    return words


def _norm(item: dict[str, Any]) -> str:
    """What an error is measured against where the family is smaller."""
    if "scale" not in item:
        return "its own size"
    return f"{item['scale']:.3g} (floor)" if item["floor"] > item["median_norm"] else f"{item['scale']:.3g} (median)"


def _followed(modes: dict[str, Any], count: int) -> str:
    """How many internal modes there are, and what they are turned to, in words."""
    ways = {
        "subspace": "as a subspace, by its motion",
        "strain": "as a subspace, by its strains",
        "modes": "one by one",
    }
    germ = "the rest" if modes["germ"] is None else "(" + ", ".join(f"{value:.4g}" for value in modes["germ"]) + ")"
    return f"{count} internal mode{'s' if count > 1 else ''}, followed from {germ} {ways[modes['tracking']]}"


def _left_out(lost: dict[str, Any]) -> str:
    """What the modes leave out of the full elastic model, in words."""
    places = ", ".join(f"{name} {error:.2g}" for name, error in lost["compliance"].items())
    above = "" if lost["next_hz"] is None else f"; the next mode left out is at {lost['next_hz']:.4g} Hz"
    return (
        f"the modes leave out {lost['frequencies']:.2g} of the frequencies within their band"
        f"{f', of the static compliance at {places}' if places else ''}{above}"
    )


def equilibrium_error_text(found: dict[str, Any]) -> str:
    """How far the model rests from the full equations, in words."""
    if not found["points"]:
        return f"at rest not compared with the full equations: {found['reason']}"
    words = [f"{error:.2g} of the static deflection at {name}" for name, error in found["deflection"].items()]
    words += [f"{found['force']:.2g} of the forces that hold it"] if found["force"] is not None else []
    where = f"{found['points']} configurations"
    where += f" (at others: {found['reason']})" if found["reason"] else ""
    return f"at rest the full equations differ by {', '.join(words) or 'nothing that sensors show'}, at {where}"
