"""The reduced model of a mechanism over a region of θ.

M(θ) η̈ + Γ(θ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ,   η = (θ, δ)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.approximation.piecewise import Piecewise
from supple.compilation import compiled
from supple.diagnostics import InputError, NumericalError
from supple.reduced.arrays import ModelArrays, model_arrays
from supple.reduced.coefficients import Coefficients, coefficients_of
from supple.reduced.dynamics_kernel import INDEFINITE, forward_batch, inverse_batch, observe_batch
from supple.reduced.evaluator import Evaluator
from supple.reduced.kernels import OUTSIDE, coefficients_batch
from supple.reduced.layout import CoefficientLayout
from supple.reduced.named_values import in_order
from supple.reduced.row import Row, row_map, row_of
from supple.results.linear_model import LinearModel

if TYPE_CHECKING:
    from supple.reduced.trajectories import Trajectories

Array = NDArray[np.float64]
Values = Mapping[str, float] | ArrayLike

FRICTION_SPEED = 1e-3  # over which dry friction changes its sign, in the unit of the joint's rate


@dataclass(frozen=True, eq=False)
class ReducedModel:
    """Explicit equations of motion, valid over a region.

    fitted     : t columns as `layout.columns` says
    error      : stated error of each coefficient family
    provenance : description (text), options, versions, samples, boxes and the like; JSON

    Throughout, θ is (s,) in the order of the coordinates or {name: value}, or a batch (N, s); rates and accelerations
    are those of η, (n,) or (N, n). δ is zero if left out; a rigid model has none. Outside the region: InputError.
    """

    name: str
    layout: CoefficientLayout
    fitted: Piecewise
    error: dict[str, float] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_consistent(self.name, self.layout, self.fitted)

    @cached_property
    def row(self) -> Row:
        """Where the coefficients stand in a row of results."""
        return row_of(self.layout)

    @cached_property
    def arrays(self) -> ModelArrays:
        """What kernels take."""
        return model_arrays(self.layout, self.fitted, row_map(self.layout, self.row))

    # ------------------------------------------------------------------------ coefficients

    def evaluate(self, theta: Values) -> Coefficients:
        """All coefficients at θ, or at a batch."""
        points, single = self._theta(theta)
        rows = np.empty((len(points), self.row.width))
        status = np.empty(len(points), dtype=np.int64)
        compiled(coefficients_batch)(*self.arrays, points, rows, status)
        self._require(status, points)
        return coefficients_of(self.layout, self.row, points[0] if single else points, rows[0] if single else rows)

    def kernel(self) -> Evaluator:
        """A function of (θ, row) for single calls with the least overhead; see `Evaluator`."""
        return Evaluator(self)

    # ------------------------------------------------------------------------ dynamics

    def forward(
        self,
        theta: Values,
        rates: Values | None = None,
        inputs: Values | None = None,
        *,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
    ) -> Array:
        """Accelerations η̈ = M⁻¹(p + B u - Γ[η̇, η̇] - D_d η̇ - K η - dry friction): (n,) or (N, n)."""
        eta, single = self._states(theta, delta)
        n = self.layout.size
        v = self._batch("rates", rates, self.layout.coordinates, len(eta))
        u = self._batch("inputs", inputs, self.layout.inputs, len(eta))
        count = max(len(eta), len(v), len(u))
        eta, v, u = (np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[1]))) for x in (eta, v, u))
        found, status = np.empty((count, n)), np.empty(count, dtype=np.int64)
        compiled(forward_batch)(*self.arrays, friction_speed, eta, v, u, found, status)
        self._require(status, eta)
        return found[0] if single and count == 1 and _one(rates) and _one(inputs) else found

    def inverse(
        self,
        theta: Values,
        rates: Values | None = None,
        accelerations: Values | None = None,
        *,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
    ) -> Array:
        """Generalized forces τ = M η̈ + Γ[η̇, η̇] + D_d η̇ + K η + dry friction - p that the inputs must supply."""
        eta, single = self._states(theta, delta)
        v = self._batch("rates", rates, self.layout.coordinates, len(eta))
        a = self._batch("accelerations", accelerations, self.layout.coordinates, len(eta))
        count = max(len(eta), len(v), len(a))
        eta, v, a = (np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[1]))) for x in (eta, v, a))
        found, status = np.empty_like(eta), np.empty(count, dtype=np.int64)
        compiled(inverse_batch)(*self.arrays, friction_speed, eta, v, a, found, status)
        self._require(status, eta)
        return found[0] if single and count == 1 and _one(rates) and _one(accelerations) else found

    def actuator_forces(
        self,
        theta: Values,
        rates: Values | None = None,
        accelerations: Values | None = None,
        *,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
    ) -> Array:
        """Inputs u with B u = τ; of many, those of least norm. Needs as many actuators as coordinates at least."""
        n, a = self.layout.size, len(self.layout.inputs)
        if a < n:
            raise InputError(
                f"{a} actuators cannot follow {n} prescribed accelerations",
                part=f'model "{self.name}"',
                hint="ask for the generalized forces (inverse) instead",
            )
        tau = self.inverse(theta, rates, accelerations, delta=delta, friction_speed=friction_speed)
        B = self.evaluate(theta).input_map
        singular = np.linalg.svd(B, compute_uv=False)
        if np.any(singular[..., -1] <= 1e-12 * singular[..., 0]):
            raise InputError(
                "its actuators cannot supply every force here", part=f'model "{self.name}"', hint="choose another θ"
            )
        if a == n:
            return np.asarray(np.linalg.solve(B, tau[..., None])[..., 0])
        return np.asarray((np.linalg.pinv(B) @ tau[..., None])[..., 0])

    def energy(
        self, theta: Values, rates: Values | None = None, *, delta: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Kinetic ½ η̇ᵀ M η̇ and potential V₀ - p_δᵀδ + ½ δᵀ K δ, in J."""
        eta, single = self._states(theta, delta)
        v = self._batch("rates", rates, self.layout.coordinates, len(eta))
        count = max(len(eta), len(v))
        eta, v = (np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[1]))) for x in (eta, v))
        found = self.observe(eta, v)[1]
        return (found[0, 0], found[0, 1]) if single and count == 1 and _one(rates) else (found[:, 0], found[:, 1])

    def observe(self, eta: Array, rates: Array) -> tuple[Array, Array]:
        """Outputs (N, o) and energies (N, 2), kinetic and potential, of states η and η̇ (N, n)."""
        outputs, energy = np.empty((len(eta), len(self.layout.outputs))), np.empty((len(eta), 2))
        status = np.empty(len(eta), dtype=np.int64)
        compiled(observe_batch)(*self.arrays, eta, rates, outputs, energy, status)
        self._require(status, eta)
        return outputs, energy

    def simulate(
        self,
        t: ArrayLike,
        inputs: Mapping[str, float | ArrayLike | Callable[[float], float]] | ArrayLike | None = None,
        start: Values | None = None,
        *,
        rates: Values | None = None,
        step: float | None = None,
        tolerance: float | None = None,
        method: str = "auto",
        spectral_radius: float = 0.9,
        friction_speed: float = FRICTION_SPEED,
    ) -> Trajectories:
        """Motion in time; see `supple.reduced.simulation.simulate_model`."""
        from supple.reduced.simulation import simulate_model

        return simulate_model(
            self,
            t,
            inputs,
            start,
            rates=rates,
            step=step,
            tolerance=tolerance,
            method=method,
            spectral_radius=spectral_radius,
            friction_speed=friction_speed,
        )

    def linearize(
        self,
        theta: Values,
        *,
        rates: Values | None = None,
        accelerations: Values | None = None,
        inputs: Values | None = None,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
    ) -> LinearModel:
        """First-order behaviour about a state; see `supple.reduced.linearization.linearize_model`."""
        from supple.reduced.linearization import linearize_model

        return linearize_model(
            self,
            theta,
            rates=rates,
            accelerations=accelerations,
            inputs=inputs,
            delta=delta,
            friction_speed=friction_speed,
        )

    def save(self, path: str | Path) -> Path:
        """Write the model to a file (HDF5, see docs/rom-file.md); `load_model` reads it back bit for bit."""
        from supple.reduced.file import save_model

        return save_model(self, path)

    # ------------------------------------------------------------------------ arguments

    def _theta(self, theta: Values) -> tuple[Array, bool]:
        """θ as (N, s), and whether it was a single one."""
        names = self.layout.coordinates[: self.layout.theta]
        points = in_order("θ", theta, names, required=True)
        return np.ascontiguousarray(np.atleast_2d(points)), points.ndim == 1

    def _states(self, theta: Values, delta: ArrayLike | None) -> tuple[Array, bool]:
        """η as (N, n), and whether it was a single one."""
        points, single = self._theta(theta)
        names = self.layout.coordinates[self.layout.theta :]
        if delta is None:
            return np.hstack([points, np.zeros((len(points), len(names)))]), single
        given = in_order("δ", delta, names, required=True)
        single = single and given.ndim == 1
        both = np.broadcast_arrays(points[:, :1], np.atleast_2d(given)[:, :1])[0]
        return np.hstack([np.broadcast_to(x, (len(both), x.shape[1])) for x in (points, np.atleast_2d(given))]), single

    def _batch(self, part: str, values: Values | None, names: tuple[str, ...], count: int) -> Array:
        if values is None:
            return np.zeros((count, len(names)))
        return np.atleast_2d(in_order(part, values, names))

    def _require(self, status: NDArray[np.int64], points: Array) -> None:
        if not status.any():
            return
        n = int(np.flatnonzero(status)[0])
        where = ", ".join(
            f"{name}={value:.6g}" for name, value in zip(self.layout.coordinates, points[n], strict=False)
        )
        if status[n] == OUTSIDE:
            raise InputError(
                f"{where} lies outside the region it was made for",
                part=f'model "{self.name}"',
                hint="stay inside, or reduce over a larger region",
            )
        assert status[n] == INDEFINITE
        raise NumericalError(
            f"the fitted mass matrix at {where} is not positive definite",
            part=f'model "{self.name}"',
            hint="reduce with a smaller tolerance",
        )


def _one(values: Values | None) -> bool:
    return values is None or isinstance(values, Mapping) or np.ndim(values) == 1


def _require_consistent(name: str, layout: CoefficientLayout, fitted: Piecewise) -> None:
    """Every coefficient has its width, columns do not overlap, and the fit has as many."""

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
    if layout.force == "from-potential" and "potential" not in {**layout.columns, **layout.constants}:
        raise wrong("its force follows from a potential that is missing")
