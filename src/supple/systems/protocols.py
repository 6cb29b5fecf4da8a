"""Protocols of systems: names and units, coefficients, responses, linear models, and options that some do not support.

A mechanism, a reduced model and a linear model implement them:

    System       names, units, hardware, coefficients and forces at a state: `system_of` of each of them
    Linearizable linear model at a state: `MechanismState`, `ModelState`
    Vibrating    outputs in harmonic motion: `VibratingMechanism`, `VibratingModel`, `VibratingLinearModel`
    Advancing    to the next event: `MechanismRun`, `LinkRun`, `FreeRun`, `LedRun`, `ModelRun`, `LinearPlant`
    Plant        to the next event under drives, with state and outputs: `MechanismRun`, `ModelRun`, `LinearPlant`
    DrivenStart  start of a run with drives: `mechanism_start`, `model_start`
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, Protocol

from supple.array_types import Array, Complex
from supple.diagnostics import InputError, require_known
from supple.hardware.hardware import NO_HARDWARE, Hardware
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import REST
from supple.reduced.state_arguments import Values
from supple.results.basis import CoordinateBasis
from supple.results.frequency_response import KINDS
from supple.results.linear_model import LinearModel
from supple.results.units import Units

if TYPE_CHECKING:
    from supple.approximation.analytic_slope import Stencil
    from supple.description.mechanism import Mechanism
    from supple.diagnostics import SuppleError
    from supple.equations.equations_of_motion import EquationsOfMotion
    from supple.kinematics.configuration import At, Configuration


class System(NamedTuple):
    """A mechanism, a reduced model or a linear model, with its names and units.

    coordinates     : names, θ first, `theta` of them
    inputs, outputs : names of the actuators and of the outputs
    units           : of all results
    basis           : basis of the elastic coordinates, or None
    hardware        : drives of its inputs and instruments of its outputs
    equations       : θ (s,) or (N, s) -> coefficients and forces there, undeformed; a linear model has those of one
                      state only, and refuses
    """

    coordinates: tuple[str, ...]
    theta: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Units
    basis: CoordinateBasis | None
    hardware: Hardware
    equations: Callable[[Array], EquationsOfMotion]

    @property
    def rigid_coordinates(self) -> tuple[str, ...]:
        """Names of θ."""
        return self.coordinates[: self.theta]


def system_of(described: Mechanism | ReducedModel | LinearModel) -> System:
    """Return a mechanism with rigid bodies, a reduced model or a linear model as a system."""
    if isinstance(described, ReducedModel):
        layout = described.layout
        return System(
            layout.coordinates, layout.theta, layout.inputs, layout.outputs, described.units, described.basis,
            described.hardware, described.evaluate,
        )  # fmt: skip
    if isinstance(described, LinearModel):
        names = described.coordinates
        return System(
            names, len(names), described.inputs, described.outputs, described.units, described.basis, NO_HARDWARE,
            _no_equations,
        )  # fmt: skip
    return described.compute_once("system", lambda: _mechanism_system(described))


def _mechanism_system(described: Mechanism) -> System:
    # Local imports: saved models and linear models need no kinematics.
    from supple.formulations.coefficients import get_coefficients, units_of
    from supple.formulations.described_hardware import hardware_of
    from supple.kinematics.rest import rest
    from supple.parameterization.local_model import local

    position = rest(described)
    names, outputs = position.numbering.coordinates, tuple(get_coefficients(position).observation.names)
    return System(
        names, len(names), tuple(described.actuators), outputs, units_of(position), None, hardware_of(described),
        partial(local, described, rigid=True),
    )  # fmt: skip


def _no_equations(theta: Array) -> NoReturn:
    raise InputError(
        "a linear model has the coefficients of one state only", part="θ", hint="give a mechanism or a reduced model"
    )


class Harmonics(NamedTuple):
    """Inputs, outputs and frequencies of requested frequency responses.

    lines : (L,) Hz; omega : (L,) the same in rad/s; kind : receptance, mobility or accelerance
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    lines: Array
    omega: Array
    kind: Literal["receptance", "mobility", "accelerance"]

    @property
    def order(self) -> int:
        """Order of differentiation of the outputs."""
        return KINDS[self.kind]


class Vibrating(Protocol):
    """A system about one state at rest, with harmonic inputs.

    name     : of the mechanism or model
    hardware : instruments that show its outputs
    """

    @property
    def name(self) -> str: ...

    @property
    def hardware(self) -> Hardware: ...

    def responses(self, request: Harmonics, /) -> Complex:
        """Return the outputs for a unit of each input, without instruments: (L, outputs, inputs).

        Parameters
        ----------
        request
            Inputs, outputs and frequencies. Outputs are differentiated according to its kind.
        """
        ...

    def units_of(self, request: Harmonics, /) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the units of the outputs, not differentiated, and of the inputs; "" if a unit is unknown."""
        ...


class Linearizable(Protocol):
    """A system at a state, with a linear model about it.

    hardware : drives of its inputs and instruments of its outputs
    """

    @property
    def hardware(self) -> Hardware: ...

    def linear_model(self) -> LinearModel:
        """Return the linear model about the state, from forces to outputs, without hardware."""
        ...

    def neighbours(self, parameter: str, about: LinearModel, /) -> Neighbourhood:
        """Return the system at values of a parameter around its own, each at the same configuration.

        Parameters
        ----------
        parameter
            Name of the parameter.
        about
            Linear model at the parameter's own value, which gives the configuration.
        """
        ...


class Neighbourhood(NamedTuple):
    """Systems at the points of a stencil around the value of a parameter.

    rough : function that makes the error, from its reason, if the system has no slope along the parameter
    """

    stencil: Stencil
    members: tuple[Linearizable, ...]
    rough: Callable[[str], SuppleError]


class Unserved(NamedTuple):
    """Options of an analysis that one kind of system does not support, the reason, and the remedy."""

    options: tuple[str, ...]
    why: str
    hint: str = "omit it, or use the mechanism"


def require_served(
    question: Callable[..., Any], system: Any, unserved: Mapping[Any, Unserved], given: Mapping[str, Any]
) -> None:
    """Refuse options that the kind of system does not support.

    Parameters
    ----------
    question
        The public function, whose defaults define which options are given.
    system
        The mechanism or model.
    unserved
        {kind of system: the options that it does not support}.
    given
        {option: value} of all arguments of the function.
    """
    refused = unserved.get(type(system))
    if refused is None:
        return
    defaults = _defaults(question)
    for option in refused.options:
        value, default = given[option], defaults[option]
        if value is not None if default is None else bool(value) if default == () else value != default:
            raise InputError(refused.why, part=option, hint=refused.hint)


@lru_cache(maxsize=16)
def _defaults(question: Callable[..., Any]) -> dict[str, Any]:
    return {name: one.default for name, one in inspect.signature(question).parameters.items()}


def model_theta(model: ReducedModel, at: At | Configuration) -> Values | str:
    """Return θ of a reduced model, or the name of its configuration, for a configuration given as for a mechanism.

    Parameters
    ----------
    model
        The reduced model.
    at
        θ by name or in order, a name, or a Configuration; None is the rest of the mechanism.
    """
    from supple.kinematics.configuration import Configuration  # local import: a saved model needs no kinematics

    if at is None:
        return REST
    if not isinstance(at, Configuration):
        return at
    values = dict(zip(at.rest.numbering.coordinates, at.theta.T, strict=True))
    return {name: values[name] for name in model.layout.coordinates[: model.layout.theta] if name in values}


# Equations that an analysis can use, by name.
#
# `auto` depends on the analysis: bodies condensed about θ for modes and responses, the full equations of all nodes in
# time, the local model for linear models. `erls` is the equivalent rigid link system for every analysis.


FORMULATIONS = {
    "auto": "the default of the analysis",
    "erls": "the equivalent rigid link system: joint coordinates, and small displacements of nodes about them",
}


def by_rigid_links(formulation: str) -> bool:
    """Return True for the equivalent rigid link system; refuse an unknown name."""
    require_known("formulation", formulation, FORMULATIONS, part="formulation")
    return formulation == "erls"
