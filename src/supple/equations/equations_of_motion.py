"""Coefficients of the equations of motion at one θ or many, and quantities that follow from them.

M η̈ + Γ[η̇, η̇] + D_d η̇ + K η + friction = p + B u,    y = ρ_o + Ψ_o δ,    η = (θ, δ)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import kernel
from supple.diagnostics import InputError
from supple.equations.deformation import full_mass_slope, whole_gradient
from supple.equations.forces import dry_friction
from supple.equations.observation import Observation, plain_observation
from supple.equations.row import RowLayout
from supple.results.result import Result, arrays_repr
from supple.results.table import Table, matrix_table
from supple.results.text import Text, angle, list_names, number_text
from supple.results.units import MODAL, UNKNOWN, Units, force

# Christoffel symbols of the mass matrix, and the inertia forces that they make.
#
# Γ_ijk = ½(∂M_ij/∂η_k + ∂M_ik/∂η_j - ∂M_jk/∂η_i)                                        [Brüls 2007, eq. 2]
# M η̈ + Γ[η̇, η̇],   Γ[η̇, η̇]_i = Σ_jk Γ_ijk η̇_j η̇_k


@kernel(inline=True)
def symbol(ij_k, ik_j, jk_i):
    """Return Γ_ijk from ∂M_ij/∂η_k, ∂M_ik/∂η_j and ∂M_jk/∂η_i, for numbers or arrays."""
    return 0.5 * (ij_k + ik_j - jk_i)


WEIGHTS = (symbol(1.0, 0.0, 0.0), symbol(0.0, 1.0, 0.0), symbol(0.0, 0.0, 1.0))
"""Weights of the three derivatives, for sums over rows."""


def christoffel(dM: Array) -> Array:
    """Return Γ (..., n, n, n) from dM[..., i, j, k] = ∂M_ij/∂η_k."""
    return np.asarray(symbol(dM, np.swapaxes(dM, -1, -2), np.moveaxis(dM, -1, -3)))


def gradient_from_christoffel(gamma: Array) -> Array:
    """Return ∂M_ij/∂η_k = Γ_ijk + Γ_jik, (..., n, n, n)."""
    return gamma + np.swapaxes(gamma, -3, -2)


@kernel
def christoffel_symbols(n, dM, gamma):
    """Write Γ (n n n,) to gamma from dM (n n n,), both in row-major order."""
    for i in range(n):
        for j in range(n):
            for k in range(n):
                ij_k, ik_j, jk_i = dM[(i * n + j) * n + k], dM[(i * n + k) * n + j], dM[(j * n + k) * n + i]
                gamma[(i * n + j) * n + k] = symbol(ij_k, ik_j, jk_i)


def contracted_christoffel(gamma: Array, rates: Array) -> Array:
    """Return Γ[η̇] (..., n, n)."""
    return np.asarray(np.einsum("...ijk,...k->...ij", gamma, rates))


def inertia_forces(M: Array, gamma: Array, rates: Array, accelerations: Array) -> Array:
    """Return M η̈ + Γ[η̇, η̇], (..., n)."""
    bent = np.einsum("...ij,...j->...i", contracted_christoffel(gamma, rates), rates)
    return np.asarray(np.einsum("...ij,...j->...i", M, accelerations) + bent)


# The equations of motion.


_KEPT = ("theta", "M", "christoffel", "K", "damping", "potential", "force", "input_map", "friction_map", "internal_hz")
_MOST = 6  # coordinates whose Γ still fits a screen


class Output(NamedTuple):
    """An output y = ρ_o(θ) + Ψ_o(θ) δ.

    value : ρ_o; rigid : ∂ρ_o/∂θ (..., s); modes : Ψ_o (..., n - s), none for a rigid mechanism
    """

    value: Array
    rigid: Array
    modes: Array

    def __repr__(self) -> str:
        return arrays_repr(self)


class Labels(NamedTuple):
    """Names of η, inputs and outputs, and further properties of the model.

    They include the forces of joints with dry friction, the number of internal modes (the last of δ), the units, and
    the composition of the outputs, None if every output is a measure.
    """

    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dry_forces: Mapping[str, float]
    internal: int = 0
    units: Units = UNKNOWN
    observation: Observation | None = None

    @property
    def output_composition(self) -> Observation:
        """Composition of the outputs from measures and internal forces."""
        return plain_observation(self.outputs) if self.observation is None else self.observation


@dataclass(frozen=True, eq=False, repr=False)
class EquationsOfMotion(Result):
    """Coefficients with n coordinates η = (θ, δ), s of them θ; in a batch every array has a leading axis (N, ...).

    Coefficients are views of `rows` (..., width) that are created on request, since a single call takes less time than
    creating them.
    """

    theta: Array
    labels: Labels
    row: RowLayout
    rows: Array

    # ------------------------------------------------------------------------ names

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.labels.coordinates

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.labels.inputs

    @property
    def units(self) -> Units:
        """Units of coordinates, inputs and outputs."""
        return self.labels.units

    @property
    def dry_forces(self) -> dict[str, float]:
        return dict(self.labels.dry_forces)

    # ------------------------------------------------------------------------ coefficients

    @cached_property
    def M(self) -> Array:
        """Mass matrix (n, n) (H in the papers)."""
        return self.row.part(self.rows, "M")

    @cached_property
    def K(self) -> Array:
        """Stiffness matrix of the modes (n, n), with zero rows for θ."""
        return self.row.part(self.rows, "K")

    @cached_property
    def christoffel(self) -> Array:
        """Christoffel symbols Γ (n, n, n), symmetric in the last two indices (D in the papers)."""
        return christoffel(self.dM) if self.bent else self.row.part(self.rows, "christoffel")

    @property
    def bent(self) -> bool:
        """Whether M and Γ are given at θ and δ; otherwise at θ and δ = 0."""
        return bool(self.row.shapes["mass_slope"][0])

    @cached_property
    def damping(self) -> Array:
        """Damping matrix D_d (n, n) of dampers, viscous friction and the damping model of the mechanism."""
        return self.row.part(self.rows, "damping")

    @cached_property
    def potential(self) -> Array:
        """Potential V₀ of gravity, springs and conservative forces; nan if only forces are known."""
        return self.row.part(self.rows, "potential")[..., 0]

    @cached_property
    def force(self) -> Array:
        """Generalized force p at δ = 0, (n,), of gravity, springs and applied forces."""
        return self.row.part(self.rows, "force")

    @cached_property
    def force_slope(self) -> Array:
        """Slope ∂p_δ/∂θ, (s, n - s), with p_θ = force + force_slope δ."""
        return self.row.part(self.rows, "force_slope")

    @cached_property
    def stiffness_slope(self) -> Array:
        """Slope ∂K_δδ/∂θ, (s, n - s, n - s); p_θ has the part -½ δᵀ ∂K/∂θ δ."""
        return self.row.part(self.rows, "stiffness_slope")

    @cached_property
    def mass_curvature(self) -> Array:
        """Curvature ∂²M_ij/∂δ_a∂δ_b of θθ, (s, s, n - s, n - s); (0, s, n - s, n - s) without stiffening."""
        return self.row.part(self.rows, "mass_curvature")

    @cached_property
    def input_map(self) -> Array:
        """Input matrix B (n, inputs), the transposed transmission matrix: actuators, then loaded displacements."""
        return self.row.part(self.rows, "input_map")

    @cached_property
    def friction_map(self) -> Array:
        """Matrix J_j (f, n) of joints with dry friction: p_dry = -J_jᵀ f_j sgn(J_j η̇), with f_j in `dry_forces`."""
        return self.row.part(self.rows, "friction_map")

    @property
    @abstractmethod
    def outputs(self) -> Mapping[str, Any]:
        """Outputs by name: value ρ_o, rigid ∂ρ_o/∂θ, modes Ψ_o."""

    def output_parts(self, *blocks: str) -> dict[str, list[Array]]:
        """Return, by name, the part of some blocks of the row for each output that is a measure."""
        parts = [np.moveaxis(self.row.part(self.rows, block), self.theta.ndim - 1, 0) for block in blocks]
        seen = {name: self.labels.output_composition.measure_of(name) for name in self.labels.outputs}
        return {name: [part[o] for part in parts] for name, o in seen.items() if o is not None}

    @property
    def efforts(self) -> dict[str, Array]:
        """Rows of internal forces by name, (..., width); see `supple.equations.row`."""
        rows = np.moveaxis(self.row.part(self.rows, "efforts"), self.theta.ndim - 1, 0)
        return dict(zip(self.labels.output_composition.efforts, rows, strict=True))

    @cached_property
    def dM(self) -> Array:
        """Gradient ∂M_ij/∂η_k, (n, n, n)."""
        if self.bent:
            return whole_gradient(*(self.row.part(self.rows, name) for name in ("mass_gradient", "mass_slope")))
        return (
            self.row.part(self.rows, "dM") if "dM" in self.row.shapes else gradient_from_christoffel(self.christoffel)
        )

    @cached_property
    def internal_hz(self) -> Array:
        """Frequencies of the internal modes, Hz, in ascending order unless they are tracked one by one."""
        first = len(self.coordinates) - self.labels.internal
        squares = self.force[..., :0]
        if "squares" in self.row.shapes:
            squares = self.row.part(self.rows, "squares")
        elif self.labels.internal:
            squares = np.asarray(np.linalg.eigvalsh(self.K[..., first:, first:]), dtype=float)
        return np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi)

    # ------------------------------------------------------------------------ forces

    def inertia_forces(self, rates: Array, accelerations: Array) -> Array:
        """Return M η̈ + Γ[η̇, η̇]."""
        return inertia_forces(self.M, self.christoffel, rates, accelerations)

    def inertia_slope(self, rates: Array, accelerations: Array) -> Array:
        """Return ∂(M η̈ + Γ[η̇, η̇])/∂δ, (..., n, n - s), for M(θ, δ); zero if M is given at δ = 0."""
        s, n = self.theta.shape[-1], self.M.shape[-1]
        if not self.bent:
            return np.zeros((*self.M.shape[:-1], n - s))
        slope = full_mass_slope(self.row.part(self.rows, "mass_slope"))
        along = full_mass_slope(self.row.part(self.rows, "mass_slope_gradient"))  # (..., s, n, n, d), of each ∂θ_k
        found = np.einsum("...ija,...j->...ia", slope, accelerations)
        found += np.einsum("...kija,...k,...j->...ia", along, rates[..., :s], rates)
        found[..., :s, :] -= 0.5 * np.einsum("...kija,...i,...j->...ka", along, rates, rates)
        if self.row.shapes["mass_curvature"][0]:
            Q = self.mass_curvature
            found[..., :s, :] += np.einsum("...ijab,...j,...b->...ia", Q, rates[..., :s], rates[..., s:])
            found[..., s:, :] -= 0.5 * np.einsum("...ijab,...i,...j->...ab", Q, rates[..., :s], rates[..., :s])
        return found

    def potential_force(self, delta: Array | None = None) -> Array:
        """Return p - K η at θ and δ (..., n - s); the default δ is zero."""
        if delta is None or not delta.shape[-1]:
            return self.force
        s = self.theta.shape[-1]
        found = self.force - np.einsum("...ij,...j->...i", self.K[..., s:], delta)
        bent = 0.5 * np.einsum("...ijk,...j->...ik", self.stiffness_slope, delta)
        found[..., :s] += np.einsum("...ik,...k->...i", self.force_slope - bent, delta)
        return found

    def stiffness_force_slope(self, delta: Array) -> Array:
        """Return ∂(p - K η)/∂δ, (..., n, n - s)."""
        s = self.theta.shape[-1]
        found = -self.K[..., s:]
        found[..., :s, :] += self.force_slope - np.einsum("...ijk,...k->...ij", self.stiffness_slope, delta)
        return found

    def required_forces(self, rates: Array, accelerations: Array, delta: Array | None = None) -> Array:
        """Return M η̈ + Γ[η̇, η̇] + D_d η̇ + K η - p, the required input forces without dry friction."""
        lost = np.einsum("...ij,...j->...i", self.damping, rates)
        return self.inertia_forces(rates, accelerations) + lost - self.potential_force(delta)

    def dry_friction(self, rates: Array, speed: float) -> tuple[Array, Array]:
        """Return f_j tanh(J_j η̇ / v₀) of each joint, (..., f), and its slope with respect to J_j η̇."""
        slip = np.einsum("...fi,...i->...f", self.friction_map, rates)
        return dry_friction(np.array(list(self.labels.dry_forces.values()), dtype=float), slip, speed)

    def friction_forces(self, drag: Array) -> Array:
        """Return Σ_j J_jᵀ drag_j, (..., n), for friction forces in the joints (..., f)."""
        return np.asarray(np.einsum("...fi,...f->...i", self.friction_map, drag))

    def rate_slopes(self, rates: Array, speed: float) -> Array:
        """Return ∂f/∂η̇ = -2 Γ[η̇] - D_d - Σ_j J_jᵀ f_j' J_j, (..., n, n)."""
        steep = self.dry_friction(rates, speed)[1]
        J = self.friction_map
        return (
            -2.0 * contracted_christoffel(self.christoffel, rates)
            - self.damping
            - np.swapaxes(J, -1, -2) @ (steep[..., None] * J)
        )

    def dynamic_stiffness(self, omega: Array) -> NDArray[np.complex128]:
        """Return κ(ω) = K + iω D_d - ω² M at one θ, (L, n, n) for ω (L,), about an undeformed rest."""
        w = omega[:, None, None]
        return np.asarray(self.K + 1j * w * self.damping - w**2 * self.M, dtype=np.complex128)

    # ------------------------------------------------------------------------ as a result

    def named(self) -> str:
        """Return the names of coordinates, inputs and outputs."""
        inputs, outputs = list_names(self.inputs), list_names(self.labels.outputs)
        return f"in {list_names(self.coordinates)}; inputs {inputs}; outputs {outputs}"

    def table(self) -> Table:
        """Return the table [M D K p B] with one row per coordinate, for one configuration."""
        if self.M.ndim > 2:
            raise InputError(
                f"the coefficients of {len(self.M)} configurations do not fit into one table",
                part="save",
                hint="write a .npz or .mat file",
            )
        blocks = {"M": self.coordinates, "D": self.coordinates, "K": self.coordinates, "p": ("",), "B": self.inputs}
        columns = [f"{block} {name}".strip() for block, names in blocks.items() for name in names]
        values = np.hstack([self.M, self.damping, self.K, self.force[:, None], self.input_map])
        return matrix_table("coordinate", self.coordinates, columns, values)

    def data(self) -> dict[str, Any]:
        """Return all coefficients of one configuration by name, for `--json`."""
        return {
            "coordinates": self.coordinates, "inputs": self.inputs,
            "at": dict(zip(self.coordinates, self.theta, strict=False)),
            "M": self.M, "K": self.K, "damping": self.damping, "christoffel": self.christoffel, "dM": self.dM,
            "force": self.force, "input_map": self.input_map,
            "outputs": {
                name: {"value": output.value, "rigid": output.rigid, "modes": output.modes}
                for name, output in self.outputs.items()
            },
            **({"efforts": self.efforts} if self.efforts else {}),
            "internal_hz": self.internal_hz, "potential": self.potential,
        }  # fmt: skip

    def text(self, title: str = "", units: Units | None = None, delta: Sequence[float] | None = None) -> Text:
        """Return all terms of the equations at one configuration as text; one line for a batch.

        title : heading; units : known units of coordinates and outputs; delta : δ, default zero
        """
        if self.M.ndim > 2:
            return super().text()
        known = self.labels.units if units is None else units
        names = self.coordinates
        s, n, internal = len(self.theta), len(names), len(self.internal_hz)
        measured = [known.coordinates.get(name, "") for name in names[:s]] + ["m"] * (n - s - internal)
        measured += [MODAL] * internal
        equation = f"M η̈ + Γ[η̇,η̇] + D η̇{' + K η' if n > s else ''} = p + B u"
        out = Text(f"{title or self.summary()}: {equation}, potential {float(self.potential):.6g} J")
        values = [angle(x) if measured[i] == "rad" else number_text(x, measured[i]) for i, x in enumerate(self.theta)]
        bent = [0.0] * (n - s) if delta is None else list(delta)
        values += [number_text(x, "m") for x in bent[: n - s - internal]]
        values += [f"{x:.6g} ({hz:.6g} Hz)" for x, hz in zip(bent[n - s - internal :], self.internal_hz, strict=True)]
        rows = [(name, values[i], number_text(self.force[i], force(measured[i]))) for i, name in enumerate(names)]
        out.table(("coordinate", "value", "force p"), rows)
        labels = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, measured, strict=True)]
        out.matrix("M [kg, m, rad]", labels, names, self.M)
        if n > s:
            out.matrix("K [N, m, kg]", labels[s:], names[s:], self.K[s:, s:])
        if self.damping.any():
            out.matrix("D [N, m, s, rad]", labels, names, self.damping)
        if self.inputs:
            out.matrix("B [N, m, kg]", labels, self.inputs, self.input_map)
        _christoffel_text(out, self.christoffel, names, labels)
        if self.outputs:
            lines = []
            for name, output in self.outputs.items():
                value = number_text(output.value, known.outputs.get(name, ""))
                lines.append((name, value, *(number_text(x) for x in [*output.rigid, *output.modes])))
            out.table(("output", "value", *(f"∂/∂{name}" for name in names)), lines)
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all coefficients by name; outputs as values, slopes and shapes, one row each."""
        found: dict[str, NDArray[Any]] = {name: np.asarray(getattr(self, name)) for name in _KEPT}
        if self.labels.outputs:
            blocks = {"value": "outputs", "rigid": "rigid", "modes": "modes"}
            found |= {f"output_{part}": self.row.part(self.rows, block) for part, block in blocks.items()}
        texts = {"coordinates": self.coordinates, "inputs": self.inputs, "outputs": self.labels.outputs}
        return found | {name: np.array(list(names), dtype=str) for name, names in texts.items()}


def _christoffel_text(out: Text, symbols: Array, names: Sequence[str], labels: Sequence[str]) -> None:
    """Write Γ as coefficients of products of rates, one line per product, without zeros."""
    n = len(names)
    if n > _MOST:
        out.line(f"Γ has {n * n * (n + 1) // 2} entries: --json gives them")
        return
    pairs = [(j, k) for j in range(n) for k in range(j, n)]
    factors = np.array([[(1 + (j < k)) * symbols[i, j, k] for i in range(n)] for j, k in pairs])
    kept = [row for row in range(len(pairs)) if np.abs(factors[row]).max() > 1e-13 * np.abs(factors).max()]
    if not kept:
        out.line("Γ is zero")
        return
    products = [f"{names[j]}'·{names[k]}'" for j, k in (pairs[row] for row in kept)]
    out.matrix("Γ, factors of", products, labels, factors[kept])


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients(EquationsOfMotion):
    """Coefficients that a reduced model evaluates."""

    @cached_property
    def outputs(self) -> dict[str, Output]:
        """Outputs by name."""
        return {name: Output(*parts) for name, parts in self.output_parts("outputs", "rigid", "modes").items()}

    def summary(self) -> str:
        many = "" if self.theta.ndim == 1 else f"{len(self.theta)} configurations, "
        return f"of the reduced equations, {many}{self.named()}"
