"""The reduced model of a mechanism over a region of θ.

M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ,   η = (θ, δ)

M(θ, δ) = M₀(θ) + Σ_a M_a(θ) δ_a and Γ its Christoffel symbols, so that energy is kept; of the papers' fits both at
δ = 0 (docs/theory/reduction.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.approximation.piecewise.packing import NOWHERE
from supple.approximation.piecewise.piecewise import Piecewise
from supple.array_types import Array
from supple.compilation import compiled
from supple.compilation.bundle import native_array
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.equations.equations_of_motion import Coefficients, Labels
from supple.equations.forces import FRICTION_SPEED
from supple.equations.row import RowLayout
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.hardware.linear_hardware import PADE
from supple.reduced.arrays import ModelArrays, model_arrays, one_array
from supple.reduced.dynamics_kernel import INDEFINITE, deform_batch, forward_batch, inverse_batch, observe_batch
from supple.reduced.family import Family, at_values, slope_model
from supple.reduced.kernels import OUTSIDE, coefficients_batch, row_in_place, single_scratch
from supple.reduced.layout import CoefficientLayout, require_consistent_layout
from supple.reduced.ode import Ode
from supple.reduced.repertoire import Repertoire, named_theta
from supple.reduced.row_map import model_row, row_map
from supple.reduced.single_calls import SingleCalls
from supple.reduced.state_arguments import Values, batched_values, is_one, matching_batches, states, theta_points
from supple.reduced.time.simulation import simulate_model
from supple.results.basis import CoordinateBasis
from supple.results.frequency_response import FrequencyResponse, Kind
from supple.results.linear_family import LinearFamily
from supple.results.linear_model import LinearModel
from supple.results.result import brief, picture
from supple.results.simulation import Simulation
from supple.results.text import listed
from supple.results.units import UNKNOWN, Units

if TYPE_CHECKING:
    from supple.results.text import Text
    from supple.time_functions.function_of_time import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class ReducedModel:
    """Explicit equations of motion, valid over a region.

    fitted     : t columns as `layout.columns` says
    error      : stated error of each coefficient family
    provenance : description (text), options, versions, samples, boxes and the like; JSON
    repertoire : configurations, motions and scenarios that it knows by name; None if it carries none
    basis      : what δ is counted in; None of a rigid model, or if it does not say
    units      : of coordinates, inputs and outputs, as far as it knows them
    hardware   : drives of its inputs and instruments of its outputs
    family     : of which it is the model at some values of parameters; None where none were varied

    Throughout, θ is (s,) in the order of the coordinates or {name: value}, the name of a configuration in its
    repertoire, or a batch (N, s); rates and accelerations are those of η, (n,) or (N, n). δ is zero if left out; a
    rigid model has none. Outside the region: InputError.
    """

    name: str
    layout: CoefficientLayout
    fitted: Piecewise
    error: dict[str, float] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    repertoire: Repertoire | None = None
    basis: CoordinateBasis | None = None
    units: Units = UNKNOWN
    hardware: Hardware = NO_HARDWARE
    family: Family | None = None

    def __post_init__(self) -> None:
        require_consistent_layout(self.name, self.layout, self.fitted)

    def __repr__(self) -> str:
        layout, boxes = self.layout, len(self.fitted.arrays.leaves_i)
        varied = "" if self.family is None else f", at {self.family}"
        return brief("ReducedModel", f'"{self.name}" in {listed(layout.coordinates)} ({layout.theta} of them θ), '
                     f"{len(layout.inputs)} inputs, {len(layout.outputs)} outputs, {boxes} boxes{varied}")  # fmt: skip

    def _repr_html_(self) -> str:
        from supple.reduced.layout import model_html

        return model_html(self)

    def data(self, seconds: float | None = None, file: str | Path | None = None) -> dict[str, Any]:
        """The keys and values that `supple reduce --json` prints.

        seconds : that the reduction took; file : where the model was written
        """
        from supple.reduced.layout import model_data

        return model_data(self, seconds, file)

    def text(self, took: str = "") -> Text:
        """Errors, modes, and what an evaluation costs; took : how long the reduction took, in words."""
        from supple.reduced.layout import model_text

        return model_text(self, took)

    @property
    def stiffening(self) -> bool:
        """Whether it has second order in δ, with the geometric stiffness of loads and of inertia."""
        return self.layout.curved

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic parts of the mechanism that it takes as rigid."""
        return tuple(self.provenance.get("rigid", ()))

    @cached_property
    def row(self) -> RowLayout:
        """Where the coefficients stand in a row of results."""
        return model_row(self.layout)

    @cached_property
    def labels(self) -> Labels:
        """Names and units of what the coefficients belong to."""
        layout = self.layout
        names = (layout.coordinates, layout.inputs, layout.outputs)
        return Labels(*names, layout.dry_forces, layout.internal, self.units, layout.observation)

    @cached_property
    def arrays(self) -> ModelArrays:
        """What kernels take."""
        return model_arrays(self.layout, self.fitted, row_map(self.layout, self.row))

    @cached_property
    def memory(self) -> Array:
        """The same in one array."""
        return one_array(self.arrays)

    @cached_property
    def single(self) -> SingleCalls:
        """Calls for one state, which pass over all that only batches need."""
        return SingleCalls(self.layout, self.labels, self.row, self.memory)

    @property
    def met(self) -> bool:
        """Whether it is what was asked for: every stated error within the tolerance and below one, M and K positive
        where those of the mechanism are. `provenance["missed"]` says in words what is not."""
        return not self.provenance.get("missed")

    @property
    def held(self) -> dict[str, float]:
        """Coordinates of the mechanism that keep one value throughout, and that value, rad or m; they are no
        coordinates of the model."""
        return dict(self.provenance.get("options", {}).get("held", {}))

    # ------------------------------------------------------------------------ parameters

    def at(self, values: Mapping[str, float] | None = None, /, **named: float) -> ReducedModel:
        """The model at other values of the parameters that were varied, exact within the fit; those that are not named
        stay as they are. `at(payload=12)`, or `at({"payload": 12})`; outside the range: InputError."""
        return at_values(self, {**(values or {}), **named})

    def parameter_slopes(self, theta: Values | str, *, delta: ArrayLike | None = None) -> dict[str, Coefficients]:
        """{parameter: ∂/∂μ of all coefficients at θ and δ}, those of the fit, exactly; none of a model without any."""
        at = named_theta(self, theta)
        return {name: model.evaluate(at, delta=delta) for name, model in self.slope_models.items()}

    @cached_property
    def slope_models(self) -> dict[str, ReducedModel]:
        """{parameter: ∂/∂μ of the model}, whose coefficients are slopes."""
        return {} if self.family is None else {name: slope_model(self, name) for name in self.family.names}

    # ------------------------------------------------------------------------ coefficients

    def evaluate(self, theta: Values | str, *, delta: ArrayLike | None = None) -> Coefficients:
        """All coefficients at θ and δ, or at a batch: M and Γ are those there, everything else depends on θ alone."""
        theta = named_theta(self, theta)
        one = self.single.evaluate(theta, delta)
        if one is not None:
            return one
        if delta is None:
            points, single = theta_points(self.layout, theta)
        else:
            eta, single = states(self.layout, theta, delta)
            points = np.ascontiguousarray(eta[:, : self.layout.theta])
        rows = np.empty((len(points), self.row.width))
        status = np.empty(len(points), dtype=np.int64)
        compiled(coefficients_batch, count=len(points))(*self.arrays, points, rows, status)
        self._require(status, points)
        if delta is not None:
            compiled(deform_batch, count=len(points))(self.arrays.integers, eta, rows)
        return Coefficients(points[0] if single else points, self.labels, self.row, rows[0] if single else rows)

    def kernel(self) -> Evaluator:
        """A function of (θ, row) for single calls with the least overhead; see `Evaluator`."""
        return Evaluator(self)

    # ------------------------------------------------------------------------ dynamics

    def forward(
        self,
        theta: Values | str,
        rates: Values | None = None,
        inputs: Values | None = None,
        *,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
    ) -> Array:
        """Accelerations η̈ = M⁻¹(p + B u - Γ[η̇, η̇] - D_d η̇ - K η - dry friction): (n,) or (N, n)."""
        theta = named_theta(self, theta)
        one = self.single.forward(theta, delta, rates, inputs, friction_speed)
        if one is not None:
            return one
        given = ("inputs", inputs, self.layout.inputs)
        return self._each_state(forward_batch, states(self.layout, theta, delta), rates, given, friction_speed)

    def inverse(
        self,
        theta: Values | str,
        rates: Values | None = None,
        accelerations: Values | None = None,
        *,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
    ) -> Array:
        """Generalized forces τ = M η̈ + Γ[η̇, η̇] + D_d η̇ + K η + dry friction - p that the inputs must supply."""
        theta = named_theta(self, theta)
        one = self.single.inverse(theta, delta, rates, accelerations, friction_speed)
        if one is not None:
            return one
        given = ("accelerations", accelerations, self.layout.coordinates)
        return self._each_state(inverse_batch, states(self.layout, theta, delta), rates, given, friction_speed)

    def _each_state(
        self,
        dynamics: Callable,
        at: tuple[Array, bool],
        rates: Values | None,
        given: tuple[str, Values | None, tuple[str, ...]],
        friction_speed: float,
    ) -> Array:
        """What a kernel of (η, η̇, what is given) computes at every state; of a single one (n,)."""
        require_arguments(ReducedModel._each_state, locals())
        (eta, single), (name, values, names) = at, given
        v = batched_values("rates", rates, self.layout.coordinates, len(eta))
        eta, v, x = matching_batches(eta, v, batched_values(name, values, names, len(eta)))
        computed, status = np.empty_like(eta), np.empty(len(eta), dtype=np.int64)
        compiled(dynamics, count=len(eta))(*self.arrays, friction_speed, eta, v, x, computed, status)
        self._require(status, eta)
        return computed[0] if single and len(eta) == 1 and is_one(rates) and is_one(values) else computed

    def actuator_forces(
        self,
        theta: Values | str,
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
        self, theta: Values | str, rates: Values | None = None, *, delta: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Kinetic ½ η̇ᵀ M η̇ and potential V₀ - p_δᵀδ + ½ δᵀ K δ, in J."""
        require_arguments(ReducedModel.energy, locals())
        eta, single = states(self.layout, named_theta(self, theta), delta)
        v = batched_values("rates", rates, self.layout.coordinates, len(eta))
        eta, v = matching_batches(eta, v)
        found = self.observe(eta, v)[1]
        return (found[0, 0], found[0, 1]) if single and len(eta) == 1 and is_one(rates) else (found[:, 0], found[:, 1])

    def observe(self, eta: Array, rates: Array) -> tuple[Array, Array]:
        """Measures (N, k), of which outputs are made, and energies (N, 2), kinetic and potential, of states η and η̇
        (N, n)."""
        outputs, energy = np.empty((len(eta), len(self.layout.measures))), np.empty((len(eta), 2))
        status = np.empty(len(eta), dtype=np.int64)
        given = native_array(eta), native_array(rates)
        compiled(observe_batch, count=len(eta))(*self.arrays, *given, outputs, energy, status)
        self._require(status, eta)
        return outputs, energy

    simulate = simulate_model

    def follow(self, course: Trajectory, *, tolerance: float | None = None) -> Simulation:
        """θ led along a Trajectory, δ free to move; see `supple.simulation.model_simulation.led_motion`."""
        led_motion = import_module(
            "supple.simulation.model_simulation"
        ).led_motion  # above this layer, so found by name
        found: Simulation = led_motion(self, course, tolerance=tolerance)
        return found

    def linearize(
        self,
        theta: Values | str,
        *,
        rates: Values | None = None,
        accelerations: Values | None = None,
        inputs: Values | None = None,
        delta: ArrayLike | None = None,
        friction_speed: float = FRICTION_SPEED,
        drives: bool = True,
        pade: int = PADE,
        along: str | Sequence[str] = (),
    ) -> LinearModel:
        """First-order behaviour about a state: the linear model with states (η, η̇), its inputs and all its outputs.

        With drives it is from commands to what instruments show, their states behind (η, η̇).

        theta  : "equilibrium" is where it rests under the inputs, zero if left out, close to the mechanism's rest
        inputs : about which to linearize. Left out, they hold the state: those (of least norm) that come closest to the
                 given accelerations, zero if left out; δ too, unless it is given, is then where it rests. They are
                 forces, also where an actuator has a drive: the commands follow, in `at["inputs"]`
        drives : False leaves drives and instruments out; pade : order of what stands for their delays
        along  : parameters of its family along which `LinearModel.slopes` and `eigenvalue_slopes` are wanted
        """
        require_arguments(ReducedModel.linearize, locals())
        # Above this layer, so found by name.
        state = import_module("supple.linearization.linear_system").ModelState
        linear_model_of = import_module("supple.linearization.linear_system").linear_model_of
        here = state(self, theta, rates, accelerations, inputs, delta, friction_speed)
        found: LinearModel = linear_model_of(here, drives=drives, pade=pade, along=along)
        return found

    def equilibrium(self, theta: Values | str, inputs: Values | None = None) -> Array:
        """η (n,) at which it rests under constant inputs, close to θ; see `supple.reduced.time.simulation`."""
        require_arguments(ReducedModel.equilibrium, locals())
        from supple.reduced.time.simulation import equilibrium_of

        return equilibrium_of(self, named_theta(self, theta), inputs)

    def frf(
        self,
        theta: Values | str,
        inputs: str | Sequence[str],
        outputs: str | Sequence[str],
        frequencies_hz: ArrayLike,
        *,
        kind: Kind = "receptance",
        free_actuators: bool = False,
        preload: bool = True,
        drives: bool = True,
    ) -> FrequencyResponse:
        """Frequency responses about a configuration: motion of the outputs for a unit of each input.

        inputs  : `lift`, the command of its drive, or without one the force of the actuator (with free actuators);
                  `lift.acceleration`, its motion is led, and the others stay as they are; a loaded displacement, or an
                  output, a force along what it measures
        outputs : the model's outputs, as their instruments show them, or coordinates η
        preload : count what forces at rest change by with θ, where it is free. What they add to the stiffness of the
                  deformation is in the model, or not, as it was reduced
        drives  : False leaves drives and instruments out. A drive that leads holds its coordinate, one that yields
                  holds it with its stiffness; the other coordinates are locked, or free with free actuators
        """
        require_arguments(ReducedModel.frf, locals())
        # Above this layer, so found by name.
        vibrating = import_module("supple.frequency_response.model_response").VibratingModel
        harmonic = import_module("supple.frequency_response.driving")
        asked = harmonic.harmonics(inputs, outputs, frequencies_hz, kind)
        about = vibrating(self, theta, free_actuators, preload, drives)
        found: FrequencyResponse = harmonic.frequency_response(about, asked)
        return found

    def linear_family(self, **options: Any) -> LinearFamily:
        """Linear models on a grid over its region (LPV); see `supple.reduced.linear_model_grid.linear_family`."""
        from supple.reduced.linear_model_grid import linear_family

        return linear_family(self, **options)

    def to_control(self) -> Any:
        """A NonlinearIOSystem of python-control; see `supple.reduced.control_system.control_system`."""
        from supple.reduced.control_system import control_system

        return control_system(self)

    def ode(self, inputs: Values | Callable[[float, Array], Values] | None = None) -> Ode:
        """f(t, x) of the state x = (η, η̇) with its Jacobian, for scipy's `solve_ivp`; see `supple.reduced.ode.Ode`."""
        return Ode(self, inputs)

    def to_sympy(self, theta: Values | str, coefficients: Sequence[str] = ("M", "force")) -> dict[str, Any]:
        """Its coefficients in the box of θ as expressions; see `supple.reduced.control_system.symbolic`."""
        require_arguments(ReducedModel.to_sympy, locals())
        from supple.reduced.control_system import symbolic

        return symbolic(self, theta, coefficients)

    def view(self, **options: Any) -> Any:
        """Look at it, on the mechanism it was made from: inline at the end of a notebook's cell, in the browser
        elsewhere; `save` keeps the page.

        at : the posture to begin with; runs : simulations to play back; see `view_page`
        """
        return picture("view.view_page.view_page")(self, **options)

    def save(self, path: str | Path) -> Path:
        """Write the model to a file (HDF5, see docs/rom-file.md); `load_model` reads it back bit for bit."""
        require_arguments(ReducedModel.save, locals())
        from supple.reduced.file import save_model

        return save_model(self, path)

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
            hint="reduce with a smaller tolerance"
            if not np.any(points[n, self.layout.theta :])
            else "reduce with a smaller tolerance, or deform it less: M is linear in the deformation",
        )


# Single evaluations of a reduced model in place, with the least overhead a call from Python can have.


class Evaluator:
    """`evaluator.call(θ, row)` fills a row in place and returns 0, or 1 outside the region (the row is then nan).

    θ is (s,), contiguous, or η = (θ, δ), (n,): M and Γ are then those there; `row` comes from `new_row()`. Its first
    `width` numbers are the coefficients, in the order of `places`; workspace follows, so that threads only need rows of
    their own. Nothing is checked and nothing allocated.
    `split(θ, row)` gives views of the row by name, which follow it.
    """

    def __init__(self, model: ReducedModel):
        self.labels, self.places = model.labels, model.row
        self.width = self.places.width
        self._length = self.width + 1 + int(single_scratch(model.arrays.integers))
        self.call = partial(compiled(row_in_place), model.memory)

    def new_row(self) -> Array:
        """A row for results."""
        row = np.zeros(self._length)
        row[: self.width], row[self.width] = np.nan, NOWHERE
        return row

    def split(self, theta: Array, row: Array) -> Coefficients:
        """Views of a row by name."""
        return Coefficients(theta, self.labels, self.places, row[: self.width])

    def __call__(self, theta: Array, row: Array) -> int:
        return int(self.call(theta, row))
