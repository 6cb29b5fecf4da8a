"""Linear models of systems with hardware about a state, and their slopes along parameters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from supple.approximation.analytic_slope import stencil
from supple.approximation.piecewise.piecewise import Piecewise
from supple.diagnostics import InputError, NumericalError, SuppleWarning, require_known
from supple.diagnostics.errors import quote
from supple.equations.linearized import OperatingPoint, first_order_form, linear_model, slopes_along
from supple.equations.observation import output_matrices
from supple.hardware.hardware import Hardware
from supple.hardware.linear_hardware import with_hardware, without_drives
from supple.reduced.coefficient_slopes import coefficient_slopes, force_slopes
from supple.reduced.holding import inputs_for_accelerations
from supple.reduced.model import ReducedModel
from supple.reduced.observed import observed_motion
from supple.reduced.repertoire import REST, named_theta, requests_equilibrium
from supple.reduced.state_arguments import Values, in_order, states
from supple.results.linear_model import LinearModel, LinearSlopes, SecondOrder
from supple.systems.protocols import Linearizable, Neighbourhood

# Linear model of any system at a state, with its hardware and its slopes along parameters.


def linear_model_of(system: Linearizable, *, drives: bool, pade: int, along: str | Sequence[str] = ()) -> LinearModel:
    """Return the linear model about a state, with drives and instruments or without.

    Parameters
    ----------
    system
        A mechanism or model at a state.
    drives
        False omits drives and instruments.
    pade
        Order of the approximants of delays.
    along
        Parameters for which slopes are computed.
    """
    found = system.linear_model()
    found = with_hardware(found, system.hardware, pade) if drives else without_drives(found, system.hardware)
    if not along:
        return found
    slopes = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # the system itself has warned already
        for name in (along,) if isinstance(along, str) else tuple(along):
            slopes[name] = _slopes(system, name, found, drives=drives, pade=pade)
    return replace(found, slopes=slopes)


# A linear model contains second derivatives of a mechanism's closure, and third ones in motion; along μ there would be
# one more. Therefore its matrices are computed at values around the parameter's own, and their slopes from the
# interpolating polynomial (docs/theory/parameters.md, eqs. 1 and 2): accurate to about 1e-10 of a matrix. A model that
# is not smooth there is refused.


def _slopes(system: Linearizable, parameter: str, found: LinearModel, *, drives: bool, pade: int) -> LinearSlopes:
    """Return ∂(A, B, C, D)/∂μ with the configuration held."""
    near = system.neighbours(parameter, found)
    members = [linear_model_of(item, drives=drives, pade=pade) for item in near.members]
    if any(each.A.shape != members[0].A.shape for each in members):
        raise near.rough("the linear model has different states on either side of it")
    slopes = slopes_along(near.stencil, members)
    if slopes is None:
        raise near.rough("the matrix A has a kink there")
    return slopes


# First-order behaviour of a reduced model about a state, and along the parameters of its family.
#
#     f̂(θ; μ + t) = f̂(θ; μ) + t ∂f̂/∂μ,    ∂(A, B, C, D)/∂μ = d/dt of the member's at t = 0            (parameters, 12)
#
# ∂f̂/∂μ is the exact slope of the fit. Quantities that depend on it (static deformation and inputs that hold the state,
# M⁻¹, drives and instruments) are computed at Chebyshev points about t = 0 (`approximation.analytic_slope`), accurate
# to about 1e-11.


@dataclass(frozen=True)
class ModelState:
    """A reduced model at a state; arguments as in `ReducedModel.linearize`. Implements `Linearizable`.

    Inputs that are omitted are those (of least norm) that come closest to the given accelerations, zero by default. δ,
    if not given, is then in equilibrium. The accelerations follow from state and inputs. θ "equilibrium" is the
    equilibrium under the inputs, zero by default, close to the mechanism's rest.
    """

    model: ReducedModel
    theta: Values | str
    rates: Values | None
    accelerations: Values | None
    inputs: Values | None
    delta: ArrayLike | None
    friction_speed: float

    @property
    def hardware(self) -> Hardware:
        """Drives of the inputs and instruments of the outputs."""
        return self.model.hardware

    def linear_model(self) -> LinearModel:
        """Return the linear model with states (η, η̇), the model's inputs, and all its outputs."""
        model, theta, inputs, delta, speed = self.model, self.theta, self.inputs, self.delta, self.friction_speed
        layout = model.layout
        if requests_equilibrium(model, theta):
            inputs = np.zeros(len(layout.inputs)) if inputs is None else inputs
            whole = model.equilibrium(REST, inputs)
            theta, delta = whole[: layout.theta], whole[layout.theta :]
        n, s = layout.size, layout.theta
        eta, single = states(model.layout, named_theta(model, theta), delta)
        if not single:
            raise InputError("linearize accepts one state, not several", part="θ", hint="linearize one at a time")
        names = layout.coordinates
        v = in_order("rates", self.rates, names) if self.rates is not None else np.zeros(n)
        a = in_order("accelerations", self.accelerations, names) if self.accelerations is not None else np.zeros(n)
        here = eta[0].copy()
        if inputs is not None:
            u = in_order("inputs", inputs, layout.inputs)
        else:
            held = inputs_for_accelerations(model, here[None], v[None], a[None], free=delta is None, speed=speed)
            u, here = held.inputs[0], held.eta[0]
        a = model.forward(here[:s], v, u, delta=here[s:], friction_speed=speed)
        c = model.evaluate(here[:s], delta=here[s:])
        slopes = coefficient_slopes(model, here[:s], here[s:])
        along_eta = force_slopes(model, c, slopes, here, u, v, a)
        drag, steep = c.dry_friction(v, speed)
        for m in range(s):
            dJ = slopes[m].friction_map
            along_eta[:, m] -= dJ.T @ drag + c.friction_forces(steep * (dJ @ v))
        along_rates = c.rate_slopes(v, speed)
        forces = SecondOrder(c.M, along_eta, along_rates, c.input_map)
        A, B = first_order_form(forces)
        seen = output_matrices(
            model.labels.output_composition, observed_motion(model, here, v, a, u, speed), A[n:], B[n:]
        )
        return linear_model(model.labels, model.basis, OperatingPoint(here, v, a, u), (A, B), forces, seen)

    def neighbours(self, parameter: str, about: LinearModel) -> Neighbourhood:
        """Return the members of the model's family at values of a parameter around its own, each at the same θ."""
        model, family = self.model, self.model.family
        if family is None:
            raise InputError(
                "the model has no parameters",
                part=f'model "{model.name}"',
                hint="reduce the mechanism with them in `vary`",
            )
        require_known("parameter", parameter, family.names, part=f'model "{model.name}"')
        bounds = family.parameters[family.names.index(parameter)]
        here, change = family.slice().arrays, family.slope(parameter).arrays.coefficients
        around = stencil(0.0, bounds.upper - bounds.lower)
        fits = [Piecewise(here._replace(coefficients=here.coefficients + t * change)) for t in around.points]
        members = tuple(replace(self, model=replace(model, fitted=fit, family=None)) for fit in fits)

        def rough(why: str) -> NumericalError:
            return NumericalError(
                f"the linear model is not a smooth function of the parameter at its value: {why}",
                part=f"parameter {quote(parameter)}",
                hint="choose another state, or another value of the parameter",
            )

        return Neighbourhood(around, members, rough)
