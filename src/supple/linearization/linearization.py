"""Linear models of a mechanism about a state, in motion or at rest, from exact derivatives.

    M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu,    x = (δθ, δθ̇),   ẋ = A x + B δu,   y = C x

Trees are linearized by the recursions, closed chains in their independent coordinates, and flexible mechanisms by their
local model about rest (docs/theory/linearization.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism, require_rigid_alone, treat_as_rigid
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments, value_text
from supple.equations.linearized import OperatingPoint, first_order_form, linear_model
from supple.equations.observation import EffortSlopes, output_matrices, output_motion, with_efforts
from supple.equations.row import EffortMotion, effort_factors, effort_places
from supple.formulations.data_slopes import neighbours
from supple.formulations.described_hardware import hardware_of
from supple.formulations.elastic_rest.dense import elastic_stiffness
from supple.formulations.elastic_rest.preload import rest_force_stiffness
from supple.hardware.hardware import Hardware
from supple.hardware.linear_hardware import PADE
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.linearization.linear_system import ModelState, linear_model_of
from supple.linearization.linearization_batch import linear_states
from supple.linearization.link_linearization import link_linearization
from supple.linearization.tree_linearization import OutputTree, output_tree
from supple.parameterization.local_model import LocalModel, choice_of, coefficient_rows, local
from supple.parameterization.mode_choice import ModeChoice
from supple.parameterization.rigid_rows import coordinate_steps
from supple.reduced.holding import holding_state
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import in_order
from supple.results.basis import CoordinateBasis, HasBasis
from supple.results.linear_model import LinearModel, SecondOrder
from supple.statics.equilibrium import equilibrium
from supple.systems.protocols import Linearizable, Neighbourhood, Unserved, by_rigid_links, model_theta, require_served

Values = Mapping[str, float] | ArrayLike

EQUILIBRIUM = "equilibrium"
_UNSERVED = {
    ReducedModel: Unserved(
        ("constraint_modes", "internal_modes", "basis", "rigid", "formulation"),
        "a reduced model keeps the modes that it was reduced with",
    ),
    Mechanism: Unserved(
        ("delta",), "the deformation of a mechanism follows from its loads", "omit it, or reduce the mechanism"
    ),
}
_STILL = 1e-9  # rad/s, m/s and their rates: smaller values are rounding errors of zero
_STEP = 1e-3  # rad, or of the mechanism's extent: its sixth power is rounding


def linearize(
    mechanism: Mechanism | ReducedModel,
    at: At | Configuration = None,
    *,
    rates: Values | None = None,
    accelerations: Values | None = None,
    inputs: Values | None = None,
    delta: ArrayLike | None = None,
    constraint_modes: Sequence[str] = (),
    internal_modes: int = 0,
    basis: CoordinateBasis | HasBasis | None = None,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    drives: bool = True,
    pade: int = PADE,
    formulation: str = "auto",
    along: str | Sequence[str] = (),
) -> LinearModel:
    """Linearize a mechanism or a reduced model about a state.

    The states are (θ, θ̇), the inputs all actuators, and the outputs all outputs. The model of a reduced model has the
    states (η, η̇), with the modes that it was reduced with; `ReducedModel.linearize` is the same call. With drives, the
    inputs are commands, the outputs what the instruments show, and the states of drives and instruments follow (θ, θ̇).

    Parameters
    ----------
    mechanism : Mechanism or ReducedModel
        Mechanism, or a reduced model of one.
    at : str, mapping, array_like or Configuration, optional
        Configuration, or "equilibrium": the equilibrium under gravity, springs and the inputs. Default: rest.
    rates : mapping or array_like, optional
        Rates θ̇ of the coordinates, rad/s or m/s. Default: zero.
    accelerations : mapping or array_like, optional
        Accelerations θ̈ that the default inputs produce, rad/s² or m/s². Default: zero. Not together with `inputs`.
    inputs : mapping or array_like, optional
        Actuator forces at the state, N or N m. Default: those of least norm that produce the accelerations.

        At the equilibrium the default is zero. The inputs are forces even if an actuator has a drive; the corresponding
        commands are in ``at["inputs"]`` of the result.
    delta : array_like, optional
        Elastic coordinates of a reduced model. Default: their equilibrium.
    constraint_modes : sequence of str, optional
        Constraint modes of a flexible mechanism, as in `local`. Default: none.
    internal_modes : int, optional
        Number of internal modes of a flexible mechanism, as in `local`. Default: 0.

        Models with modes are linearized about rest. Without modes, elastic parts are treated as rigid.
    basis : Basis, ReducedModel, LinearModel or LocalModel, optional
        Use the modes of this basis, or of this model, in place of `constraint_modes` and `internal_modes`.

        The modes are aligned with the same germ, so that states, gains and signs agree with that model.
    friction_speed : float, optional
        Speed over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.
    rigid : bool, optional
        Treat elastic parts as rigid and suppress the warning about it. Default: False. `LinearModel.rigid` lists them.
    drives : bool, optional
        Include drives and instruments. Default: True. With False, inputs are forces and outputs are exact.
    pade : int, optional
        Order of the Padé approximants of delays. Default: 3.
    formulation : {"auto", "erls"}, optional
        Equations of motion. "erls" is the equivalent rigid link system about rest. Default: "auto".

        With "erls" the states are `internal_modes` modes of the nodes, or all their displacements if it is 0.
    along : str or sequence of str, optional
        Parameters of the file for `LinearModel.slopes` and `LinearModel.eigenvalue_slopes`. Default: none.

        θ is held; the static deformation and the inputs that hold it change with the parameter. At the equilibrium θ
        changes too (docs/theory/parameters.md).

    Returns
    -------
    LinearModel
        Matrices A, B, C, D with the names of states, inputs and outputs, and the operating point `at`.

    Raises
    ------
    InputError
        If no inputs produce the accelerations, `inputs` and `accelerations` are both given, or the state or an option
        is not supported.

    Warns
    -----
    SuppleWarning
        If the mechanism has elastic parts and no modes are requested, so that they are treated as rigid.

    See Also
    --------
    linearize_batch : Linear models at many states of a rigid mechanism.
    reduce : Nonlinear reduced models.

    Notes
    -----
    The linear model follows from M δθ̈ = P₂ δθ + P₁ δθ̇ + P₃ δu with exact derivatives, docs/theory/linearization.md.

    Examples
    --------
    >>> import supple
    >>> model = supple.linearize(supple.load("two-link"), [0.5, -0.3], drives=False)
    >>> model.A.shape, model.states
    ((4, 4), ('shoulder', 'elbow', 'shoulder.rate', 'elbow.rate'))
    """
    require_arguments(linearize, locals())
    require_served(linearize, mechanism, _UNSERVED, locals())
    modes = ModeChoice(tuple(constraint_modes), internal_modes)
    options = LinearizationOptions(
        rates, accelerations, inputs, delta, modes, basis, friction_speed, rigid, by_rigid_links(formulation)
    )
    return linear_model_of(linearizable(mechanism, at, options), drives=drives, pade=pade, along=along)


class LinearizationOptions(NamedTuple):
    """State besides the configuration, modes and other options of `linearize`; links : use rigid links."""

    rates: Values | None
    accelerations: Values | None
    inputs: Values | None
    delta: ArrayLike | None
    modes: ModeChoice
    basis: CoordinateBasis | HasBasis | None
    friction_speed: float
    rigid: bool
    links: bool


@singledispatch
def linearizable(system: Any, at: At | Configuration, options: LinearizationOptions) -> Linearizable:
    """Return a mechanism or a model at a state, ready for its linear model."""
    raise TypeError(type(system))


@linearizable.register
def _(system: ReducedModel, at: At | Configuration, options: LinearizationOptions) -> Linearizable:
    moving = options.rates, options.accelerations
    return ModelState(system, model_theta(system, at), *moving, options.inputs, options.delta, options.friction_speed)


@linearizable.register
def _(system: Mechanism, at: At | Configuration, options: LinearizationOptions) -> Linearizable:
    return MechanismState(system, at, options)


@dataclass(frozen=True)
class MechanismState:
    """A mechanism at a state, with the options of its linearization. Implements `Linearizable`."""

    mechanism: Mechanism
    at: At | Configuration
    options: LinearizationOptions

    @property
    def hardware(self) -> Hardware:
        """Drives of the inputs and instruments of the outputs."""
        return hardware_of(self.mechanism)

    def linear_model(self) -> LinearModel:
        """Return the linear model with states (θ, θ̇), or with modes, all actuators and all outputs."""
        rates, accelerations, inputs, _, modes, basis, friction_speed, rigid, links = self.options
        if links:
            return _linearize_links(self.mechanism, self.at, (rates, accelerations), inputs, modes, basis, rigid)
        return _linearize_forces(
            self.mechanism, self.at, rates, accelerations, inputs, modes, basis, friction_speed, rigid
        )

    def neighbours(self, parameter: str, about: LinearModel) -> Neighbourhood:
        """Return the mechanism at values of a parameter around its own, at the same θ.

        An equilibrium is computed anew for each value.
        """
        near = neighbours(self.mechanism, parameter)
        states = about.at["states"]
        held = np.array([states[name] for name in rest(self.mechanism).numbering.coordinates])
        at = self.at if _is_equilibrium(self.mechanism, self.at) else held
        members = tuple(replace(self, mechanism=item, at=at) for item in near.mechanisms)
        return Neighbourhood(near.stencil, members, near.rough)


def _is_equilibrium(mechanism: Mechanism, at: At | Configuration) -> bool:
    """Return True if "equilibrium" is requested, and no configuration has that name."""
    return isinstance(at, str) and at == EQUILIBRIUM and at not in mechanism.configurations


def _linearize_forces(
    mechanism: Mechanism,
    at: At | Configuration,
    rates: Values | None,
    accelerations: Values | None,
    inputs: Values | None,
    modes: ModeChoice,
    basis: CoordinateBasis | HasBasis | None,
    friction_speed: float,
    rigid: bool,
) -> LinearModel:
    """Return the linear model without drives, as in `linearize`."""
    if inputs is not None and accelerations is not None:
        raise InputError("cannot be combined", part="inputs and accelerations", hint="give only one of them")
    rest(mechanism)  # refuses invalid mechanisms
    choice = _choice(mechanism, basis, modes)
    names = (*mechanism.actuators, *choice.constraint)
    u = None if inputs is None else _single_state("inputs", inputs, names)
    if _is_equilibrium(mechanism, at):
        _require_rest("must be zero at the equilibrium", "leave them out", rates=rates, accelerations=accelerations)
        held = None if u is None else u[: len(mechanism.actuators)]
        resting = equilibrium(mechanism, inputs=held, rigid=rigid or not choice.flexible)
        configuration = assemble(mechanism, resting.theta) if resting.deformed is not None else resting
        u = np.zeros(len(names)) if u is None else u
    else:
        configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    if configuration.theta.ndim > 1:
        raise InputError("linearize accepts one state, not several", part="θ", hint="give one, or use linearize_batch")
    flexible = choice.flexible
    require_rigid_alone(rigid, flexible)
    stiff = (
        () if flexible else treat_as_rigid(mechanism, rigid, "keep modes of deformation (internal_modes)", stacklevel=6)
    )
    kept: dict[str, Any] = {"rigid": not flexible}
    if flexible:
        kept |= {"constraint_modes": choice.constraint, "internal_modes": choice.internal}
        if basis is not None:
            kept |= {"tracking": choice.tracking, "germ": None if choice.germ is None else np.array(choice.germ)}
        elif choice.internal:  # modes that rotate as little as possible around here
            kept |= {"tracking": "subspace", "germ": configuration.theta}
    still = not flexible and inputs is None and _still(configuration, rates=rates, accelerations=accelerations)
    tree = output_tree(mechanism, configuration) if still else None
    if tree is not None:
        return replace(_linearize_tree(mechanism, configuration, tree, u, friction_speed), rigid=stiff)
    model = local(mechanism, configuration, **kept)
    zero = np.zeros(len(model.coordinates))
    a = zero if accelerations is None else _single_state("accelerations", accelerations, model.coordinates)
    if flexible:
        hint = "leave them out, or reduce the mechanism and linearize the reduced model"
        _require_rest("must be zero: with modes a mechanism is linearized about rest alone", hint, rates=rates)
        found = flexible_rest(model, a, u, friction_speed)
        about = OperatingPoint(found.eta, zero, found.accelerations, found.inputs)
        return _labelled_model(model, about, first_order_form(found.forces), found.forces, friction_speed)
    v = zero if rates is None else _single_state("rates", rates, model.coordinates)
    rows, held = linear_states(
        mechanism, configuration.batch, v[None], a[None], None if u is None else u[None], friction_speed
    )
    forces = SecondOrder(rows.M[0], rows.P2[0], rows.P1[0], model.input_map)
    about = OperatingPoint(model.theta, v, rows.accelerations[0], held[0])
    return replace(_labelled_model(model, about, (rows.A[0], rows.B[0]), forces, friction_speed), rigid=stiff)


def _still(configuration: Configuration, **moving: Values | None) -> bool:
    """Return True if all given rates and accelerations are zero."""
    names = configuration.rest.numbering.coordinates
    return not any(given is not None and _single_state(label, given, names).any() for label, given in moving.items())


def _linearize_tree(
    mechanism: Mechanism,
    configuration: Configuration,
    tree: OutputTree,
    u: Array | None,
    friction_speed: float,
) -> LinearModel:
    """Return the linear model of a tree with many coordinates, at rest, from its recursions.

    u : inputs that hold it, if known
    """
    n = len(tree.coordinates)
    zero, inputs = np.zeros(n), None if u is None else u[None]
    rows, held = linear_states(mechanism, configuration.batch, zero[None], zero[None], inputs, friction_speed)
    A, B, M = rows.A[0], rows.B[0], rows.M[0]
    forces = SecondOrder(M, rows.P2[0], rows.P1[0], M @ B[n:])
    moved = output_motion(tree.measures, zero[:0], zero, zero, len(tree.inputs))
    seen = output_matrices(tree.labels.output_composition, moved, A[n:], B[n:])
    about = OperatingPoint(tree.theta, zero, rows.accelerations[0], held[0])
    return linear_model(tree.labels, None, about, (A, B), forces, seen)


def _linearize_links(
    mechanism: Mechanism,
    at: At | Configuration,
    moving: tuple[Values | None, Values | None],
    inputs: Values | None,
    modes: ModeChoice,
    basis: CoordinateBasis | HasBasis | None,
    rigid: bool,
) -> LinearModel:
    """Return the linear model of the equivalent rigid link system, without drives."""
    hint = "leave it out, or use another formulation"
    why = 'must be zero: formulation "erls" is linearized about rest alone'
    _require_rest(why, hint, rates=moving[0], accelerations=moving[1])
    for part, given in (("constraint_modes", modes.constraint), ("basis", basis is not None), ("rigid", rigid)):
        if given:
            raise InputError(
                f'formulation "erls" does not support {part}: its coordinates are the displacements of nodes, or their '
                "internal modes",
                part=part,
                hint=f"omit {part}, or choose another formulation",
            )
    u = None if inputs is None else _single_state("inputs", inputs, tuple(mechanism.actuators))
    if _is_equilibrium(mechanism, at):
        u = np.zeros(len(mechanism.actuators)) if u is None else u
        at = equilibrium(mechanism, inputs=u)
    found = at if isinstance(at, Configuration) else assemble(mechanism, at)
    if found.theta.ndim > 1:
        raise InputError("linearize accepts one state, not several", part="θ", hint="give one")
    return link_linearization(assemble(mechanism, found.theta), u, modes.internal)


def _choice(mechanism: Mechanism, basis: CoordinateBasis | HasBasis | None, modes: ModeChoice) -> ModeChoice:
    """Return the requested modes, given one by one or as a basis."""
    if basis is None:
        return modes
    if modes.flexible:
        raise InputError("a basis defines the modes", part="basis", hint="leave out the modes, or the basis")
    if not isinstance(basis, CoordinateBasis) and not hasattr(basis, "basis"):
        raise InputError(
            f"must be a basis (got {value_text(basis)})", part="basis", hint="give a flexible model, or its `basis`"
        )
    known = basis if isinstance(basis, CoordinateBasis) else basis.basis
    if known is None:
        raise InputError(
            "the model has no basis: it is rigid, or its file was written before models stored their basis",
            part="basis", hint="give a flexible model, and reduce it again if its file is old",
        )  # fmt: skip
    return choice_of(mechanism, known)


def _single_state(label: str, values: Values, names: Sequence[str]) -> Array:
    found = in_order(label, values, names)
    if found.ndim != 1:
        raise InputError(
            f"must have the shape ({len(names)},) (got {found.shape})", part=label, hint=f"give ({len(names)},) values"
        )
    return found


def _require_rest(why: str, hint: str, **given: Values | None) -> None:
    for label, values in given.items():
        moving = np.asarray([] if values is None else list(values.values()) if isinstance(values, Mapping) else values)
        if np.abs(moving).max(initial=0.0) > _STILL:
            raise InputError(why, part=label, hint=hint)


def _labelled_model(
    model: LocalModel,
    about: OperatingPoint,
    matrices: tuple[Array, Array],
    forces: SecondOrder,
    friction_speed: float,
) -> LinearModel:
    """Return the linear model with outputs y = ρ_o(θ) + Ψ_o(θ) δ, their rates, and all names."""
    (eta, v, a, u), (A, B), observation = about, matrices, model.labels.output_composition
    s, n = model.theta.shape[-1], len(model.coordinates)
    bent = _third_derivative(model, v[:s]) if observation.order > 1 and v.any() else None
    moving = output_motion(model.measures, eta[s:], v, a, len(model.inputs), bent)
    if observation.efforts:
        moving = with_efforts(moving, _effort_slopes(model, eta, v, a, u, friction_speed))
    seen = output_matrices(observation, moving, A[n:], B[n:])
    return linear_model(model.labels, model.basis, about, matrices, forces, seen)


def _effort_slopes(model: LocalModel, eta: Array, v: Array, a: Array, u: Array, speed: float) -> EffortSlopes:
    """Return the slopes of forces inside bodies; those of products of rates by a complex step."""
    s, n, m = model.theta.shape[-1], len(eta), len(u)
    places = effort_places(n, s, m, len(model.dry_forces))
    limits = np.array(list(model.dry_forces.values()), dtype=float)

    def factors(state: NDArray[Any]) -> NDArray[Any]:
        delta, rates, accelerations, inputs = np.split(state[..., s:], np.cumsum([n - s, n, n]).tolist(), axis=-1)
        drag = limits * np.tanh(rates @ model.friction_map.T / max(speed, 1e-300))
        return effort_factors(places, EffortMotion(delta, inputs, accelerations, rates, drag))

    state = np.concatenate([eta, v, a, u])
    moved = np.tile(state.astype(complex), (len(state), 1)) + 1e-30j * np.eye(len(state))
    slopes = (factors(moved).imag / 1e-30).T
    rows = model.row.part(model.rows, "efforts")
    return EffortSlopes(rows, _effort_gradient(model), factors(state), *np.split(slopes, [n, 2 * n, 3 * n], axis=1))


def _effort_gradient(model: LocalModel) -> Array:
    """Return ∂/∂θ of the rows of forces inside bodies, (e, width, s).

    For a flexible model it is computed by differences, with its modes aligned to the configuration.
    """
    if model.system is None:
        return model.row.part(model.rows, "defforts")
    size, s = coordinate_steps(model.configuration), len(model.theta)
    steps, weights = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([1.0, -8.0, 8.0, -1.0]) / 12.0
    theta = model.theta + np.einsum("k,ij->ikj", steps, np.diag(size)).reshape(-1, s)
    choice = replace(model.system.choice, tracking="subspace", germ=tuple(model.theta.tolist()))
    if model.system.choice.tracking == "subspace":
        choice = model.system.choice
    rows, _ = coefficient_rows(assemble(model.configuration.mechanism, theta), choice)
    near = model.row.part(rows, "efforts").reshape(s, len(steps), *model.row.shapes["efforts"])
    return np.asarray(np.einsum("k,ikew,i->ewi", weights, near, 1.0 / size))


def _third_derivative(model: LocalModel, rates: Array) -> Array:
    """Return ∂³ρ/∂θ³[θ̇, θ̇] (k, s) of a rigid mechanism, by central differences of the exact ∂²ρ/∂θ².

    The differences are of sixth order.
    """
    s = len(model.theta)
    steps = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
    weights = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0
    size = _STEP * model.configuration.rest.numbering.theta_scale
    theta = model.theta + np.einsum("k,ij->ikj", steps, np.diag(size)).reshape(-1, s)
    bend = local(model.configuration.mechanism, theta, rigid=True).measures.bend
    swept = np.einsum("nkij,i,j->nk", bend, rates, rates).reshape(s, len(steps), -1)
    return np.asarray(np.einsum("m,imk->ki", weights, swept) / size)


# First-order behaviour of a flexible mechanism about rest, in θ and the elastic coordinates δ it keeps.
#
# Its equilibrium follows from the local model,
#
#     M η̈ = f = p + B u - K η + (∂p_δ/∂θ)ᵀ δ - ½ δᵀ ∂K/∂θ δ              η = (θ, δ), the last two in the rows of θ
#
# Small motions about it are those of the whole elastic mechanism with free actuators, z = Ψᵀη of all its motions:
#
#     Ψ M Ψᵀ δη̈ + D_d δη̇ + Ψ (K_e + K_g) Ψᵀ δη = B δu
#
# K_e of bodies, elastic joints and springs, K_g of all forces at rest (docs/theory/linearization.md, eqs. 13-15).


_STEPS = 4


class FlexibleRest(NamedTuple):
    """Coordinates η (n,), inputs (m,) and accelerations (n,) at the state, and the equations of small motions."""

    eta: Array
    inputs: Array
    accelerations: Array
    forces: SecondOrder


def flexible_rest(model: LocalModel, desired: Array, inputs: Array | None, friction_speed: float) -> FlexibleRest:
    """Return the equations of small motions about θ with δ in equilibrium.

    desired : (n,) desired accelerations; without inputs, those of the computed inputs come closest to them
    """
    s, n = model.theta.shape[-1], len(model.coordinates)
    eta, still = np.concatenate([model.theta, np.zeros(n - s)]), np.zeros(n)

    def compute_forces(delta: Array) -> Array:
        return model.required_forces(still, desired, delta)

    if inputs is None:
        eta, u = holding_state(model, eta, compute_forces, model.stiffness_force_slope)
    else:
        u = inputs
        for _ in range(_STEPS):  # θ is free to accelerate; the rows of δ are almost linear in δ
            missing = compute_forces(eta[s:]) - model.input_map @ u
            eta[s:] += np.linalg.solve(model.stiffness_force_slope(eta[s:])[s:], missing[s:])
    a = np.asarray(np.linalg.solve(model.M, model.potential_force(eta[s:]) + model.input_map @ u), dtype=np.float64)
    by_eta = -_stiffness(model, u, holding=inputs is None and not np.any(desired)) - np.einsum("ijk,j->ik", model.dM, a)
    by_rates = model.rate_slopes(still, friction_speed)
    return FlexibleRest(eta, u, a, SecondOrder(model.M, by_eta, by_rates, model.input_map))


def _stiffness(model: LocalModel, u: Array, *, holding: bool) -> Array:
    """Return Ψ (K_e + K_g) Ψᵀ (n, n), the same stiffness for every choice of modes."""
    assert model.system is not None
    assert model.modes is not None
    rest, here = model.system.rest, model.configuration
    K_e = elastic_stiffness(rest, here, rest.list_held_rows(actuators=False))
    K_g = rest_force_stiffness(rest, here, u, holding=holding)
    return np.asarray(model.modes @ (K_e + K_g) @ model.modes.T)
