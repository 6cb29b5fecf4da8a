"""Reduced model of a mechanism over a region of θ.

M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,   y = ρ_o(θ) + Ψ_o(θ) δ,   η = (θ, δ)

M(θ, δ) = M₀(θ) + Σ_a M_a(θ) δ_a and Γ its Christoffel symbols, so that energy is conserved. The papers' fits have both
at δ = 0 (docs/theory/reduction.md).
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
from supple.compilation import compile_kernel
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
from supple.results.text import list_names
from supple.results.units import UNKNOWN, Units

if TYPE_CHECKING:
    from supple.results.text import Text
    from supple.time_functions.function_of_time import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class ReducedModel:
    """Explicit equations of motion of a mechanism, valid over a region.

    A model is the result of `reduce`, or is read from a file by `load_model`.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    layout : CoefficientLayout
        Names of coordinates, inputs and outputs, and the columns of the fitted function.
    fitted : Piecewise
        Piecewise polynomial of the coefficients, with the columns of `layout.columns`.
    error : dict of str to float, optional
        Stated relative error of each coefficient family.
    provenance : dict, optional
        Origin of the model as JSON data: description, options, versions, samples, boxes and errors.
    repertoire : Repertoire, optional
        Configurations, motions and scenarios that the model has by name. Default: none.
    basis : CoordinateBasis, optional
        Basis of the elastic coordinates δ. Default: None, for a rigid model or an unknown basis.
    units : Units, optional
        Units of coordinates, inputs and outputs. Default: unknown.
    hardware : Hardware, optional
        Drives of the inputs and instruments of the outputs. Default: none.
    family : Family, optional
        Family of models over varied parameters, of which this is one member. Default: none.

    See Also
    --------
    reduce : Reduce a mechanism to a model.
    load_model : Read a saved model.

    Notes
    -----
    θ is given in order, shape (s,), as {name: value}, as the name of a configuration of the repertoire, or as a batch
    (N, s). Rates and accelerations are those of η = (θ, δ), shape (n,) or (N, n). δ is zero by default; a rigid model
    has none. All values are in SI units. InputError is raised outside the region.

    The equations of motion and outputs are [Brüls 2007, eq. 1]

        M(θ, δ) η̈ + Γ(θ, δ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u - Σ_j J_jᵀ f_j tanh(J_j η̇ / v₀)
        y = ρ_o(θ) + Ψ_o(θ) δ

    with the friction forces f_j of joints and the friction speed v₀ (docs/theory/reduced-model.md).

    Examples
    --------
    >>> import supple
    >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
    >>> rom.layout.coordinates, rom.layout.inputs, rom.layout.outputs
    (('crank',), ('crank',), ('E.x', 'E.z'))
    >>> rom.evaluate({"crank": 0.3}).M.round(4)
    array([[0.1005]])
    >>> rom.forward([0.3], rates=[1.0], inputs={"crank": 2.0}).round(2)
    array([1.68])
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
        return brief("ReducedModel", f'"{self.name}" in {list_names(layout.coordinates)} ({layout.theta} of them θ), '
                     f"{len(layout.inputs)} inputs, {len(layout.outputs)} outputs, {boxes} boxes{varied}")  # fmt: skip

    def _repr_html_(self) -> str:
        from supple.reduced.layout import model_html

        return model_html(self)

    def data(self, seconds: float | None = None, file: str | Path | None = None) -> dict[str, Any]:
        """Return the keys and values that `supple reduce --json` prints.

        Parameters
        ----------
        seconds : float, optional
            Duration of the reduction, s.
        file : str or path-like, optional
            File that the model was written to.

        Returns
        -------
        dict
            JSON data: samples, errors, modes, costs and shortfalls.
        """
        from supple.reduced.layout import model_data

        return model_data(self, seconds, file)

    def text(self, took: str = "") -> Text:
        """Return the summary that ``print(model)`` shows: errors, modes and the cost of an evaluation.

        Parameters
        ----------
        took : str, optional
            Duration of the reduction as text, for the first line. Default: empty.

        Returns
        -------
        Text
            The summary.
        """
        from supple.reduced.layout import model_text

        return model_text(self, took)

    @property
    def stiffening(self) -> bool:
        """Whether the model includes the second order in δ, with the geometric stiffness of loads and of inertia."""
        return self.layout.curved

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic bodies of the mechanism that the model treats as rigid."""
        return tuple(self.provenance.get("rigid", ()))

    @cached_property
    def row(self) -> RowLayout:
        """Layout of a row of all coefficients."""
        return model_row(self.layout)

    @cached_property
    def labels(self) -> Labels:
        """Names and units of the coordinates, inputs and outputs of the coefficients."""
        layout = self.layout
        names = (layout.coordinates, layout.inputs, layout.outputs)
        return Labels(*names, layout.dry_forces, layout.internal, self.units, layout.observation)

    @cached_property
    def arrays(self) -> ModelArrays:
        """Model as the two arrays that kernels use."""
        return model_arrays(self.layout, self.fitted, row_map(self.layout, self.row))

    @cached_property
    def memory(self) -> Array:
        """Model as a single array, for kernels of single calls."""
        return one_array(self.arrays)

    @cached_property
    def single(self) -> SingleCalls:
        """Calls for one state, without the overhead of batches."""
        return SingleCalls(self.layout, self.labels, self.row, self.memory)

    @property
    def met(self) -> bool:
        """Whether the model meets its tolerance.

        True if every stated error is within the tolerance and below one, and M and K are positive definite where those
        of the mechanism are. ``provenance["missed"]`` lists the shortfalls.
        """
        return not self.provenance.get("missed")

    @property
    def held_coordinates(self) -> dict[str, float]:
        """Fixed coordinates of the mechanism and their values, in rad or m; they are not coordinates of the model."""
        return dict(self.provenance.get("options", {}).get("held", {}))

    # ------------------------------------------------------------------------ parameters

    def at(self, values: Mapping[str, float] | None = None, /, **named: float) -> ReducedModel:
        """Return the model at other values of its varied parameters.

        The result is exact within the fit. Parameters that are not given keep their values.

        Parameters
        ----------
        values : mapping of str to float, optional
            Parameter values in SI units, {parameter: value}. Default: none.
        **named : float
            Parameter values as keyword arguments.

        Returns
        -------
        ReducedModel
            Model of the same family at these values.

        Raises
        ------
        InputError
            If the model has no such parameter, or if a value is outside its range.

        See Also
        --------
        reduce : Reduce a mechanism with `vary` to keep parameters variable.
        parameter_slopes : Derivatives of the coefficients with respect to the parameters.

        Notes
        -----
        The model at μ is the exact slice of the fit, f̂_μ(θ) = Σ_α d_α(μ) T_α(ξ_θ) with d_α(μ) = Σ_β c_αβ T_β(ξ_μ),
        equation 13 of docs/theory/reduction.md.

        Examples
        --------
        >>> rom = supple.load_model("arm.rom")  # doctest: +SKIP
        >>> rom.at(payload=12.0)  # doctest: +SKIP
        """
        return at_values(self, {**(values or {}), **named})

    def parameter_slopes(self, theta: Values | str, *, delta: ArrayLike | None = None) -> dict[str, Coefficients]:
        """Return the exact derivatives of all fitted coefficients with respect to the varied parameters.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,) or (N, s), by name, or the name of a configuration.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,) or (N, n - s). Default: zero.

        Returns
        -------
        dict of str to Coefficients
            {parameter: ∂/∂μ of all coefficients at θ and δ}; empty for a model without parameters.
        """
        at = named_theta(self, theta)
        return {name: model.evaluate(at, delta=delta) for name, model in self.slope_models.items()}

    @cached_property
    def slope_models(self) -> dict[str, ReducedModel]:
        """Models of ∂/∂μ, {parameter: model}, whose coefficients are derivatives."""
        return {} if self.family is None else {name: slope_model(self, name) for name in self.family.names}

    # ------------------------------------------------------------------------ coefficients

    def evaluate(self, theta: Values | str, *, delta: ArrayLike | None = None) -> Coefficients:
        """Evaluate all coefficients of the equations of motion.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,) or (N, s), by name, or the name of a configuration.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,) or (N, n - s). Default: zero.

        Returns
        -------
        Coefficients
            `M`, `K`, `damping`, `christoffel`, `force`, `input_map`, `outputs` and others, with a leading axis N for a
            batch. M and Γ are those at δ; all others depend on θ alone.

        Raises
        ------
        InputError
            If θ is outside the region of the model.

        See Also
        --------
        kernel : Evaluation of single points with the least overhead.

        Examples
        --------
        >>> import supple
        >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
        >>> here = rom.evaluate([[0.0], [0.3]])
        >>> here.M.shape
        (2, 1, 1)
        >>> here.force.round(2)
        array([[-2.83],
               [-1.98]])
        """
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
        compile_kernel(coefficients_batch, count=len(points))(*self.arrays, points, rows, status)
        self._require(status, points)
        if delta is not None:
            compile_kernel(deform_batch, count=len(points))(self.arrays.integers, eta, rows)
        return Coefficients(points[0] if single else points, self.labels, self.row, rows[0] if single else rows)

    def kernel(self) -> Evaluator:
        """Return a compiled function of (θ, row) for single calls with the least overhead.

        Returns
        -------
        Evaluator
            Function that fills a row of coefficients in place.
        """
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
        """Compute the accelerations of the model (forward dynamics).

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,) or (N, s), by name, or the name of a configuration.
        rates : array_like or mapping, optional
            Rates η̇, shape (n,) or (N, n). Default: zero.
        inputs : array_like or mapping, optional
            Forces of the actuators u, shape (a,) or (N, a), in N or N m. Default: zero.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,) or (N, n - s). Default: zero.
        friction_speed : float, optional
            Speed v₀ over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.

        Returns
        -------
        ndarray, shape (n,) or (N, n)
            Accelerations η̈ = M⁻¹(p + B u - Γ[η̇, η̇] - D_d η̇ - K η - dry friction).

        Raises
        ------
        InputError
            If θ is outside the region of the model.
        NumericalError
            If the fitted mass matrix is not positive definite.

        See Also
        --------
        inverse : Generalized forces for given accelerations.
        simulate : Motion over time.

        Examples
        --------
        >>> import supple
        >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
        >>> rom.forward([0.3], rates=[1.0], inputs={"crank": 2.0}).round(2)
        array([1.68])
        """
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
        """Compute the generalized forces of a motion (inverse dynamics).

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,) or (N, s), by name, or the name of a configuration.
        rates : array_like or mapping, optional
            Rates η̇, shape (n,) or (N, n). Default: zero.
        accelerations : array_like or mapping, optional
            Accelerations η̈, shape (n,) or (N, n). Default: zero.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,) or (N, n - s). Default: zero.
        friction_speed : float, optional
            Speed v₀ over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.

        Returns
        -------
        ndarray, shape (n,) or (N, n)
            Generalized forces τ = M η̈ + Γ[η̇, η̇] + D_d η̇ + K η + dry friction - p that the inputs must supply.

        Raises
        ------
        InputError
            If θ is outside the region of the model.

        See Also
        --------
        actuator_forces : Forces of the actuators for given accelerations.

        Examples
        --------
        >>> import supple
        >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
        >>> rom.inverse([0.3], rates=[1.0], accelerations=[0.0]).round(3)
        array([1.832])
        """
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
        """Apply a kernel of (η, η̇, x) to every state; return (n,) for a single one."""
        require_arguments(ReducedModel._each_state, locals())
        (eta, single), (name, values, names) = at, given
        v = batched_values("rates", rates, self.layout.coordinates, len(eta))
        eta, v, x = matching_batches(eta, v, batched_values(name, values, names, len(eta)))
        computed, status = np.empty_like(eta), np.empty(len(eta), dtype=np.int64)
        compile_kernel(dynamics, count=len(eta))(*self.arrays, friction_speed, eta, v, x, computed, status)
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
        """Compute the forces of the actuators for a motion.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,) or (N, s), by name, or the name of a configuration.
        rates : array_like or mapping, optional
            Rates η̇, shape (n,) or (N, n). Default: zero.
        accelerations : array_like or mapping, optional
            Accelerations η̈, shape (n,) or (N, n). Default: zero.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,) or (N, n - s). Default: zero.
        friction_speed : float, optional
            Speed v₀ over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.

        Returns
        -------
        ndarray, shape (a,) or (N, a)
            Inputs u with B u = τ; the solution of least norm if there are more actuators than coordinates.

        Raises
        ------
        InputError
            If there are fewer actuators than coordinates, or if B is singular.

        See Also
        --------
        inverse : Generalized forces τ.
        """
        n, a = self.layout.size, len(self.layout.inputs)
        if a < n:
            raise InputError(
                f"{a} actuators cannot produce {n} prescribed accelerations",
                part=f'model "{self.name}"',
                hint="use inverse for the generalized forces instead",
            )
        tau = self.inverse(theta, rates, accelerations, delta=delta, friction_speed=friction_speed)
        B = self.evaluate(theta).input_map
        singular = np.linalg.svd(B, compute_uv=False)
        if np.any(singular[..., -1] <= 1e-12 * singular[..., 0]):
            raise InputError(
                "the input matrix B does not have full rank, so the actuators cannot supply every force",
                part=f'model "{self.name}"',
                hint="choose another θ",
            )
        if a == n:
            return np.asarray(np.linalg.solve(B, tau[..., None])[..., 0])
        return np.asarray((np.linalg.pinv(B) @ tau[..., None])[..., 0])

    def energy(
        self, theta: Values | str, rates: Values | None = None, *, delta: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """Compute the kinetic and potential energy of states.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,) or (N, s), by name, or the name of a configuration.
        rates : array_like or mapping, optional
            Rates η̇, shape (n,) or (N, n). Default: zero.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,) or (N, n - s). Default: zero.

        Returns
        -------
        kinetic : float or ndarray, shape (N,)
            Kinetic energy ½ η̇ᵀ M η̇, J.
        potential : float or ndarray, shape (N,)
            Potential energy V₀ - p_δᵀδ + ½ δᵀ K δ, J; nan if the forces have no potential.
        """
        require_arguments(ReducedModel.energy, locals())
        eta, single = states(self.layout, named_theta(self, theta), delta)
        v = batched_values("rates", rates, self.layout.coordinates, len(eta))
        eta, v = matching_batches(eta, v)
        found = self.observe(eta, v)[1]
        return (found[0, 0], found[0, 1]) if single and len(eta) == 1 and is_one(rates) else (found[:, 0], found[:, 1])

    def observe(self, eta: Array, rates: Array) -> tuple[Array, Array]:
        """Compute the measures and energies of states.

        Parameters
        ----------
        eta : ndarray, shape (N, n)
            Coordinates η = (θ, δ).
        rates : ndarray, shape (N, n)
            Rates η̇.

        Returns
        -------
        measures : ndarray, shape (N, k)
            Measures ρ_o + Ψ_o δ that the outputs are combinations of.
        energies : ndarray, shape (N, 2)
            Kinetic and potential energy, J.
        """
        outputs, energy = np.empty((len(eta), len(self.layout.measures))), np.empty((len(eta), 2))
        status = np.empty(len(eta), dtype=np.int64)
        given = native_array(eta), native_array(rates)
        compile_kernel(observe_batch, count=len(eta))(*self.arrays, *given, outputs, energy, status)
        self._require(status, eta)
        return outputs, energy

    simulate = simulate_model

    def follow(self, course: Trajectory, *, tolerance: float | None = None) -> Simulation:
        """Simulate the model with θ prescribed by a trajectory and δ free to move.

        Parameters
        ----------
        course : Trajectory
            Motion of the model's θ.
        tolerance : float, optional
            Error of a step. Default: chosen by the simulation.

        Returns
        -------
        Simulation
            Motion, outputs, and the forces that drive θ (`driving_forces`).

        See Also
        --------
        simulate : Simulation with `motion`, and with inputs, scenarios and drives.
        """
        # Imported by name, because the module is above this layer.
        led_motion = import_module("supple.simulation.model_simulation").led_motion
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
        """Linearize the model about a state.

        The linear model has the states (η, η̇), the model's inputs and all its outputs. With drives it leads from
        commands to the outputs of instruments, with the states of both behind (η, η̇).

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,), by name, the name of a configuration, or "equilibrium".

            "equilibrium" is the equilibrium under the inputs (default: zero) that is close to the mechanism's rest
            posture.
        rates : array_like or mapping, optional
            Rates η̇, shape (n,). Default: zero.
        accelerations : array_like or mapping, optional
            Accelerations η̈, shape (n,). Default: zero.
        inputs : array_like or mapping, optional
            Forces of the actuators u, shape (a,). Default: the inputs of least norm that come closest to the
            accelerations.

            If the inputs are not given, and δ neither, δ is the deformation at equilibrium. Inputs are forces, also
            where an actuator has a drive; the commands that belong to them are in ``at["inputs"]`` of the result.
        delta : array_like, optional
            Elastic coordinates δ, shape (n - s,). Default: at equilibrium if inputs are not given, otherwise zero.
        friction_speed : float, optional
            Speed v₀ over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.
        drives : bool, optional
            Include drives and instruments. Default: True.
        pade : int, optional
            Order of the Padé approximation of delays. Default: that of the hardware.
        along : str or sequence of str, optional
            Varied parameters for `LinearModel.slopes` and `LinearModel.eigenvalue_slopes`. Default: none.

        Returns
        -------
        LinearModel
            Matrices A, B, C and D with names and units.

        Raises
        ------
        InputError
            If θ is outside the region of the model.

        See Also
        --------
        linear_family : Linear models on a grid over the region.
        frf : Frequency responses.

        Notes
        -----
        With a = η̈ at the state and f the right-hand side of M η̈ = f,

            M δη̈ = (∂f/∂η - (∂M/∂η) a) δη + (∂f/∂η̇) δη̇ + B δu

        from exact derivatives of the fit, equation 8 of docs/theory/reduced-model.md.

        Examples
        --------
        >>> import supple
        >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
        >>> rom.linearize([0.3]).A.round(2) + 0.0
        array([[ 0.  ,  1.  ],
               [30.09,  0.  ]])
        """
        require_arguments(ReducedModel.linearize, locals())
        # Imported by name, because the module is above this layer.
        state = import_module("supple.linearization.linear_system").ModelState
        linear_model_of = import_module("supple.linearization.linear_system").linear_model_of
        here = state(self, theta, rates, accelerations, inputs, delta, friction_speed)
        found: LinearModel = linear_model_of(here, drives=drives, pade=pade, along=along)
        return found

    def equilibrium(self, theta: Values | str, inputs: Values | None = None) -> Array:
        """Find the equilibrium of the model under constant inputs, close to θ.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ to start from, shape (s,), by name, or the name of a configuration.
        inputs : array_like or mapping, optional
            Forces of the actuators u, shape (a,), in N or N m. Default: zero.

        Returns
        -------
        ndarray, shape (n,)
            Coordinates η = (θ, δ) at equilibrium.

        Raises
        ------
        NumericalError
            If no equilibrium is found near θ.
        """
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
        """Compute frequency responses about a configuration: motion of the outputs per unit of each input.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ, shape (s,), by name, or the name of a configuration.
        inputs : str or sequence of str
            Input or inputs of the response: an actuator, a prescribed acceleration, a loaded displacement or an output.

            `lift` is the command of its drive, or without a drive the force of the actuator (with free actuators).
            `lift.acceleration` prescribes its motion while the other coordinates keep their state. An output is a force
            along the direction that it measures.
        outputs : str or sequence of str
            Outputs of the model or coordinates η. Outputs include the dynamics of their instruments.
        frequencies_hz : array_like, shape (L,)
            Frequency lines, Hz.
        kind : {"receptance", "mobility", "accelerance"}, optional
            Displacement, velocity or acceleration of the output per unit of input. Default: "receptance".
        free_actuators : bool, optional
            Let the actuators move freely instead of locking them. Default: False.
        preload : bool, optional
            Include the change of the forces at rest with θ, where θ is free. Default: True.

            Their contribution to the elastic stiffness was included, or not, when the model was reduced.
        drives : bool, optional
            Include drives and instruments. Default: True.

            A drive that prescribes motion locks its coordinate, a compliant drive acts on it with its stiffness. The
            remaining coordinates are locked, or free with free actuators.

        Returns
        -------
        FrequencyResponse
            `values` of shape (L, outputs, inputs), complex, with units.

        Raises
        ------
        InputError
            If an input or output is unknown or locked, or if θ is outside the region of the model.

        See Also
        --------
        supple.frf : The same for a mechanism.

        Examples
        --------
        >>> import supple
        >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
        >>> H = rom.frf([0.3], "crank", "E.z", [1.0, 2.0], free_actuators=True)
        >>> abs(H["E.z", "crank"]).round(3)
        array([0.03 , 0.011])
        """
        require_arguments(ReducedModel.frf, locals())
        # Imported by name, because the module is above this layer.
        vibrating = import_module("supple.frequency_response.model_response").VibratingModel
        harmonic = import_module("supple.frequency_response.driving")
        lines = harmonic.harmonics(inputs, outputs, frequencies_hz, kind)
        about = vibrating(self, theta, free_actuators, preload, drives)
        found: FrequencyResponse = harmonic.frequency_response(about, lines)
        return found

    def linear_family(self, **options: Any) -> LinearFamily:
        """Return linear models on a grid over the region (LPV system).

        Parameters
        ----------
        **options : Any
            Options of `supple.reduced.linear_model_grid.linear_family`: `grid`, `tolerance`, `drives`, `seed`,
            `parameters`.

        Returns
        -------
        LinearFamily
            Matrices on the grid, with interpolation between its points.
        """
        from supple.reduced.linear_model_grid import linear_family

        return linear_family(self, **options)

    def to_control(self) -> Any:
        """Return the model as a nonlinear system of python-control.

        Inputs are forces of the actuators; drives and instruments are left out. Needs the extra `control`.

        Returns
        -------
        control.NonlinearIOSystem
            System with the states (η, η̇), the model's inputs and all its outputs.
        """
        from supple.reduced.control_system import control_system

        return control_system(self)

    def ode(self, inputs: Values | Callable[[float, Array], Values] | None = None) -> Ode:
        """Return the right-hand side f(t, x) with its Jacobian, for `scipy.integrate.solve_ivp`.

        The state is x = (η, η̇).

        Parameters
        ----------
        inputs : array_like, mapping or callable, optional
            Forces of the actuators: constant, or a function of (t, x). Default: zero.

        Returns
        -------
        Ode
            Callable f(t, x) with the method ``jacobian(t, x)``.

        Examples
        --------
        >>> import numpy as np, supple
        >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
        >>> rom.ode()(0.0, np.array([0.3, 1.0])).round(2)
        array([  1.  , -18.23])
        """
        return Ode(self, inputs)

    def to_sympy(self, theta: Values | str, coefficients: Sequence[str] = ("M", "force")) -> dict[str, Any]:
        """Return coefficients in the box of θ as symbolic expressions. Needs the package sympy.

        Parameters
        ----------
        theta : array_like, mapping or str
            θ in the box, shape (s,), by name, or the name of a configuration.
        coefficients : sequence of str, optional
            Names of coefficients, as `evaluate` returns them. Default: ("M", "force").

        Returns
        -------
        dict of str to sympy.Array
            Expressions in symbols named like the coordinates, with _ for dots. They are valid in the box of θ, at δ =
            0.
        """
        require_arguments(ReducedModel.to_sympy, locals())
        from supple.reduced.control_system import symbolic

        return symbolic(self, theta, coefficients)

    def compiled_for(
        self,
        *,
        memory: float | str | None = None,
        operations: int | None = None,
        tolerance: float | None = None,
        target: str = "host",
        smooth: bool = False,
    ) -> ReducedModel:
        """Return a cheaper form of the model for run time, within budgets of memory and operations.

        The form is a model like any other, and every export target writes it. `supple.run_time_forms` also returns the
        trade-off.

        Parameters
        ----------
        memory : float or str, optional
            Largest size of the tables that `inverse` and `forward` read, in bytes or as text ("64kB"). Default: no
            limit.
        operations : int, optional
            Largest number of multiply-adds of `inverse`. Default: no limit.
        tolerance : float, optional
            Largest stated relative error against the mechanism. Default: twice the largest stated error of the model.
        target : str, optional
            Processor: "host", "cortex-m4f", "cortex-m7" or "cortex-m33". Default: "host".
        smooth : bool, optional
            Use cubic splines, without jumps of forces between boxes. Default: False.

        Returns
        -------
        ReducedModel
            Form with its stated errors; ``provenance["run_time"]`` has its cost and the errors of this model.

        Raises
        ------
        InputError
            If no form meets the tolerance within the budgets, or if this model leaves nothing of the tolerance.

        See Also
        --------
        supple.run_time_forms : The forms and their trade-off.

        Examples
        --------
        >>> small = rom.compiled_for(memory="64kB", tolerance=5e-3, target="cortex-m7")  # doctest: +SKIP
        """
        require_arguments(ReducedModel.compiled_for, locals())
        # Imported by name, because the module is above this layer.
        forms = import_module("supple.run_time.run_time_forms").run_time_forms
        found: ReducedModel = forms(
            self, memory=memory, operations=operations, tolerance=tolerance, target=target, smooth=smooth
        ).model
        return found

    def view(self, **options: Any) -> Any:
        """Show the model on its mechanism, inline at the end of a notebook cell or in the browser.

        Parameters
        ----------
        **options : Any
            Options of the view: `at` (initial posture), `runs` (simulations to play back), `save` (file for the page).
        """
        return picture("view.view_page.view_page")(self, **options)

    def save(self, path: str | Path) -> Path:
        """Write the model to a file (HDF5, described in docs/rom-file.md).

        Parameters
        ----------
        path : str or path-like
            File to write; written atomically.

        Returns
        -------
        pathlib.Path
            The file.

        Raises
        ------
        InputError
            If the file cannot be written, or if the provenance is not JSON data.

        See Also
        --------
        load_model : Read the file back, bit for bit.
        """
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
                f"{where} lies outside the region of the model",
                part=f'model "{self.name}"',
                hint="stay inside, or reduce over a larger region",
            )
        assert status[n] == INDEFINITE
        raise NumericalError(
            f"the fitted mass matrix at {where} is not positive definite",
            part=f'model "{self.name}"',
            hint="reduce with a smaller tolerance"
            if not np.any(points[n, self.layout.theta :])
            else "reduce with a smaller tolerance, or use a smaller deformation: M is linear in the deformation",
        )


# Single evaluations of a reduced model in place, with the least overhead of a call from Python.


class Evaluator:
    """Evaluator of single points of a reduced model, in place and without allocation.

    ``evaluator.call(theta, row)`` fills a row and returns 0, or 1 outside the region (the row is then nan). Arguments
    are not checked. Threads may share an evaluator if each has its own row.

    Parameters
    ----------
    model : ReducedModel
        Model to evaluate.

    Notes
    -----
    θ is a contiguous array (s,), or η = (θ, δ), (n,), for M and Γ at δ. The row comes from `new_row`. Its first `width`
    numbers are the coefficients, in the order of `places`; workspace follows.

    Examples
    --------
    >>> import numpy as np, supple
    >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
    >>> evaluator = rom.kernel()
    >>> theta, row = np.array([0.3]), evaluator.new_row()
    >>> evaluator.call(theta, row)
    0
    >>> evaluator.split(theta, row).M.round(4)
    array([[0.1005]])
    """

    def __init__(self, model: ReducedModel):
        self.labels, self.places = model.labels, model.row
        self.width = self.places.width
        self._length = self.width + 1 + int(single_scratch(model.arrays.integers))
        self.call = partial(compile_kernel(row_in_place), model.memory)

    def new_row(self) -> Array:
        """Return a row for results, with its workspace.

        Returns
        -------
        ndarray
            Row to pass to `call`.
        """
        row = np.zeros(self._length)
        row[: self.width], row[self.width] = np.nan, NOWHERE
        return row

    def split(self, theta: Array, row: Array) -> Coefficients:
        """Return views of a row by coefficient names; they follow the row.

        Parameters
        ----------
        theta : ndarray, shape (s,)
            θ of the row.
        row : ndarray
            Row filled by `call`.

        Returns
        -------
        Coefficients
            Views of the coefficients.
        """
        return Coefficients(theta, self.labels, self.places, row[: self.width])

    def __call__(self, theta: Array, row: Array) -> int:
        return int(self.call(theta, row))
