"""Inverse dynamics: the forces of the actuators that a motion requires.

B(θ) u = Q,   Q = M θ̈ + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ_j J_jᵀ f_j sgn(J_j θ̇)

of a rigid mechanism. For trees Q is computed by recursion (docs/theory/recursive.md, eqs. 6-9), all times in one call.
For an elastic one θ(t) is prescribed and all other coordinates are free: Q are the multipliers λ of the prescribed rows
in the full equations, which include the vibrations that the motion excites.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.formulations.absolute.reaction import Reaction
from supple.formulations.coefficients import get_coefficients
from supple.formulations.recursive.recursive_tree import recursive_tree
from supple.inverse_dynamics.actuation import Actuation, actuation, force_bounds, rate_limits, weights_of
from supple.inverse_dynamics.force_distribution import (
    Objective,
    Rates,
    least_largest,
    least_peak,
    least_peak_within,
    least_squares,
    least_squares_within,
    multiplier_objective,
    torque_objective,
)
from supple.inverse_dynamics.force_rates import least_squares_within_rates
from supple.inverse_dynamics.joint_reactions import joint_reactions, unknown_multipliers
from supple.kinematics.closure import assemble
from supple.kinematics.motion import BodyRates
from supple.kinematics.motion import motion as motion_of
from supple.kinematics.numbering import Numbering
from supple.kinematics.rest import rest
from supple.parameterization.local_model import LocalModel, local
from supple.reduced.model import ReducedModel
from supple.results.result import Result, picture
from supple.results.signals import Signals, time_span_text
from supple.results.simulation import Simulation
from supple.results.table import Table
from supple.results.text import Text, list_names, number_text
from supple.simulation.simulation import simulate
from supple.statics.equilibrium import equilibrium
from supple.systems.protocols import Unserved, require_served
from supple.time_functions.function_of_time import Trajectory
from supple.trajectories.trajectory import Prescribed, trajectory

if TYPE_CHECKING:
    from supple.inverse_dynamics.reduced_inverse import ModelForces

from supple.diagnostics import NumericalError, require_known
from supple.inverse_dynamics.force_distribution import least_excess, least_rate_excess

Minimize = Literal["torque", "peak", "multipliers"]
Bound = float | tuple[float, float]

OBJECTIVES: tuple[Minimize, ...] = ("torque", "peak", "multipliers")
_UNSERVED = {ReducedModel: Unserved(("rigid",), "a reduced model keeps the modes that it was reduced with")}
_STANDING = 1e-9  # of a coordinate's largest speed: below it the joint is at rest, without dry friction


class ForcesAlongMotion(Result):
    """Common results of inverse dynamics, of a mechanism and of a reduced model.

    forces      : of each chosen actuator over time
    deformation : by name over time; None if there is none
    """

    trajectory: Trajectory
    forces: Signals
    deformation: Signals | None = None

    @property
    @abstractmethod
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic bodies that are treated as rigid."""

    @property
    def reason(self) -> str:
        """Reason why the forces end before the motion does, or ""."""
        return ""

    def summary(self) -> str:
        moved, time = self.trajectory.coordinates, self.trajectory.time
        return f"along {list_names(moved)}, forces of {list_names(self.forces)}, {time_span_text(time)}"

    def table(self) -> Table:
        """Return the forces over time, as `simulate` takes them for inputs."""
        return self.forces.table()

    def data(self) -> dict[str, Any]:
        """Return the data that `--json` prints."""
        return {
            "time": self.trajectory.time,
            "forces": self.forces,
            "peak": self.peak,
            "max": self.largest,
            "min": self.least,
            "units": self.forces.units,
            "coordinates": dict(zip(self.trajectory.coordinates, self.trajectory.theta.T, strict=True)),
            "rigid": self.rigid,
            "deformation": self.deformation,
            "reason": self.reason,
        }

    def text(self, title: str = "forces", minimize: str = "torque") -> Text:
        """Return the largest and least force of each actuator as text.

        Parameters
        ----------
        title : str, optional
            Title: the mechanism and the motion. Default: "forces".
        minimize : str, optional
            Objective for redundant actuators, for the heading. Default: "torque".

        Returns
        -------
        Text
            Heading and table.
        """
        time = self.trajectory.time
        a, s = len(self.forces), len(self.trajectory.coordinates)
        how = f", least {minimize}" if a > s else ""
        when = f"{number_text(time[-1] - time[0], 's')} in {len(time)} samples"
        out = Text(f"{title}: {when}, {_count(a, 'actuator')} for {_count(s, 'coordinate')}{how}")
        rows = []
        for name, values in self.forces.items():
            unit, at = self.forces.units.get(name, ""), int(np.argmax(np.abs(values)))
            largest, least = number_text(values.max(), unit), number_text(values.min(), unit)
            rows.append((name, largest, least, number_text(abs(values[at]), unit), number_text(time[at], "s")))
        out.table(("actuator", "max", "min", "peak", "at"), rows)
        return out

    @property
    def peak(self) -> dict[str, float]:
        """Largest absolute value of each force."""
        return {name: float(np.abs(values).max()) for name, values in self.forces.items()}

    @property
    def largest(self) -> dict[str, float]:
        """Largest value of each force, with its sign."""
        return {name: float(values.max()) for name, values in self.forces.items()}

    @property
    def least(self) -> dict[str, float]:
        """Least value of each force, with its sign."""
        return {name: float(values.min()) for name, values in self.forces.items()}


def _count(many: int, thing: str) -> str:
    return f"{many} {thing}{'s' * (many != 1)}"


@dataclass(frozen=True, eq=False, repr=False)
class InverseDynamics(ForcesAlongMotion):
    """Forces of the actuators along a motion of a mechanism.

    Attributes
    ----------
    trajectory : Trajectory
        Motion.
    forces : Signals
        Force of each chosen actuator (N,), N or N m.
    needed : ndarray of shape (N, s)
        Generalized force Q that they add up to.
    mechanism : Mechanism
        Mechanism.
    friction : ndarray of shape (N, f)
        Dry friction that they overcome.
    run : Simulation, optional
        Motion of an elastic mechanism with θ prescribed; None if elastic bodies are treated as rigid.
    """

    trajectory: Trajectory
    forces: Signals
    needed: Array
    mechanism: Mechanism
    friction: Array
    run: Simulation | None = None

    @cached_property
    def model(self) -> LocalModel:
        """Local model along the motion, with elastic bodies treated as rigid."""
        return local(self.mechanism, self.trajectory.theta, rigid=True)

    @cached_property
    def motion(self) -> BodyRates:
        """Velocities and accelerations of all bodies along the motion, with elastic bodies treated as rigid."""
        return motion_of(self.model.configuration, self.trajectory.rates, self.trajectory.accelerations)

    @property
    def time(self) -> Array:
        """Times (N,), s."""
        return self.trajectory.time

    @property
    def rigid(self) -> tuple[str, ...]:
        """Names of the elastic bodies that are treated as rigid."""
        return self.mechanism.elastic_names if self.run is None else self.run.rigid

    @property
    def reason(self) -> str:
        """Reason why the forces end before the motion does, or ""."""
        return "" if self.run is None else self.run.reason

    @cached_property
    def reactions(self) -> dict[str, Reaction]:
        """Force and moment (N, 3) of each joint on its second body, at the joint, in world axes.

        These are the forces of constraint; the actuator of a joint and its friction act in addition. For redundant
        constraints they are the least ones, with moments divided by the mechanism's extent.
        """
        if self.run is not None:
            return {name: self.run.reaction(name) for name in self.mechanism.joints}
        names = tuple(self.mechanism.actuators)
        u = np.zeros((len(self.time), len(names)))
        for name, values in self.forces.items():
            u[:, names.index(name)] = values
        return joint_reactions(self.motion, u, self.friction)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw all or some forces over time, one panel per unit (matplotlib); return the panels."""
        return picture("view.time_plot.time_plot")({"force": self.forces}, names, axes)


@overload
def inverse(
    mechanism: Mechanism,
    motion: Prescribed,
    *,
    actuators: Sequence[str] | str | None = None,
    minimize: Minimize = "torque",
    bounds: Bound | Mapping[str, Bound] | Literal["limits"] | None = None,
    rate_bounds: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    times: ArrayLike | None = None,
    step: float | None = None,
    rigid: bool = False,
) -> InverseDynamics: ...
@overload
def inverse(
    mechanism: ReducedModel,
    motion: Prescribed,
    *,
    actuators: Sequence[str] | str | None = None,
    minimize: Minimize = "torque",
    bounds: Bound | Mapping[str, Bound] | Literal["limits"] | None = None,
    rate_bounds: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    times: ArrayLike | None = None,
    step: float | None = None,
) -> ModelForces: ...
def inverse(
    mechanism: Mechanism | ReducedModel,
    motion: Prescribed,
    *,
    actuators: Sequence[str] | str | None = None,
    minimize: Minimize = "torque",
    bounds: Bound | Mapping[str, Bound] | Literal["limits"] | None = None,
    rate_bounds: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    times: ArrayLike | None = None,
    step: float | None = None,
    rigid: bool = False,
) -> InverseDynamics | ModelForces:
    """Compute the forces of the actuators along a motion.

    Parameters
    ----------
    mechanism : Mechanism or ReducedModel
        Mechanism, or reduced model.

        Forces of a reduced model are computed from its fitted coefficients; a flexible one deforms quasi-statically. If
        it holds coordinates or follows a path, the motion must be a Trajectory in its own coordinates.
    motion : str, path, Motion, Trajectory, callable or mapping
        Motion: a name in the file, a CSV file, or a function t -> (θ, θ̇, θ̈), as in `trajectory`.
    actuators : sequence of str or str, optional
        Actuators that are used, as a list or "A, B". Default: all.
    minimize : {"torque", "peak", "multipliers"}, optional
        Objective at each time if there are more actuators than coordinates. Default: "torque".

        "torque" minimizes Σ w u², "peak" max w |u|, and "multipliers" Σ λ² + Σ w u², with λ all joint forces and
        moments.
    bounds : float, (float, float), mapping or "limits", optional
        Bounds of the forces, |u| <= bound or (lower, upper), N or N m; for all or by actuator. Default: none.

        "limits" uses the force_limits of the file.
    rate_bounds : float or mapping of str to float, optional
        Bounds |u̇| of the rates of forces, N/s or N m/s, between neighbouring times. Default: none.
    weights : mapping of str to float, optional
        Weights w of the actuators. Default: 1.
    times : array_like, optional
        Times, s, as in `trajectory`. Default: every `step` over the motion.
    step : float, optional
        Time step, s, as in `trajectory`. Default: a thousandth of the duration.
    rigid : bool, optional
        Treat elastic bodies as rigid. Default: False.

        Otherwise they start with the deformation by their loads, and vibrate with the motion. Actuators that do not act
        along a coordinate act as without deformation.

    Returns
    -------
    InverseDynamics or ModelForces
        Forces over time. If an elastic mechanism cannot follow to the end, the results end early; see
        `InverseDynamics.run`.

    Raises
    ------
    InputError
        If the actuators cannot drive the motion, no forces meet the bounds, or an option does not apply.

    Warns
    -----
    EarlyEnd
        If an elastic mechanism cannot follow the motion to its end.

    See Also
    --------
    trajectory : Motion of the coordinates.
    simulate : Simulation under forces.
    supple.control.computed_torque : Controller with these forces.

    Notes
    -----
    B(θ) u = Q with Q = M θ̈ + Γ[θ̇, θ̇] + D_d θ̇ - p and dry friction; docs/theory/inverse-dynamics.md.

    Examples
    --------
    >>> import supple
    >>> arm = supple.load("two-link")
    >>> found = supple.inverse(arm, lambda t: ([0.1, 0.2], [0.0, 0.0], [0.0, 0.0]), times=[0.0, 1.0])
    >>> {name: round(force, 1) for name, force in found.peak.items()}
    {'shoulder': 58.4, 'elbow': 29.0}
    """
    require_arguments(inverse, locals())
    require_objective(minimize)
    require_served(inverse, mechanism, _UNSERVED, locals())
    if isinstance(mechanism, ReducedModel):
        from supple.inverse_dynamics.reduced_inverse import inverse_of_model

        if minimize == "multipliers":
            raise InputError(
                "a reduced model does not contain the reactions in joints",
                part="minimize", hint="use torque or peak, or the mechanism",
            )  # fmt: skip
        return inverse_of_model(
            mechanism, motion, actuators=actuators, minimize=minimize, bounds=bounds, rate_bounds=rate_bounds,
            weights=weights, times=times, step=step,
        )  # fmt: skip
    path = trajectory(mechanism, motion, times=times, step=step)
    run = None
    if mechanism.elastic and not rigid:
        _require_unmixed(minimize)
        run = elastic_motion(mechanism, path)
        path = _until(path, len(run.time))
    motion_forces = None if run is not None else _tree_forces(mechanism, path)
    model = local(mechanism, path.theta, rigid=True) if motion_forces is None else None
    if motion_forces is None:
        assert model is not None
        friction = dry_friction_forces(model.friction_map, model.dry_forces, path.rates)
        needed = needed_force(model, path, friction) if run is None else _columns(run.driving_forces, path.coordinates)
        B = model.input_map
    else:
        needed, friction, B = motion_forces
    multipliers = None
    if minimize == "multipliers":
        here = assemble(mechanism, path.theta) if model is None else model.configuration
        multipliers = unknown_multipliers(motion_of(here, path.rates, path.accelerations), friction)
    forces = distribute_forces(
        rest(mechanism).numbering, B, needed, path.time, multipliers, actuators=actuators,
        minimize=minimize, bounds=bounds, rate_bounds=rate_bounds, weights=weights,
    )  # fmt: skip
    found = InverseDynamics(path, forces, needed, mechanism, friction, run)
    if model is not None:
        vars(found)["model"] = model  # cached: not computed a second time
    return found


def _tree_forces(mechanism: Mechanism, path: Trajectory) -> tuple[Array, Array, Array] | None:
    """Return Q (N, s), dry friction (N, f) and constant B (N, s, a), by recursion.

    None if the recursions do not apply, an actuator acts along a distance, or Q is not finite.
    """
    tree = recursive_tree(mechanism)
    if tree is None or (tree.tree.actuated < 0).any():
        return None
    position = rest(mechanism)
    needed = tree.compute_forces(path.theta, path.rates, path.accelerations)
    if not np.isfinite(needed).all():
        return None  # the local model reports the cause
    dry, count = get_coefficients(position).dry_forces, len(path.time)
    places = {name: i for i, name in enumerate(tree.coordinates)}
    J = tree.slopes[[places[name] for name in dry]]
    friction = dry_friction_forces(np.broadcast_to(J, (count, *J.shape)), dry, path.rates)
    B = tree.slopes[tree.tree.actuated].T
    return needed + friction @ J, friction, np.broadcast_to(B, (count, *B.shape))


def distribute_forces(
    numbering: Numbering,
    B: Array,
    needed: Array,
    time: Array,
    multipliers: tuple[Array, Array] | None = None,
    *,
    actuators: Sequence[str] | str | None,
    minimize: str,
    bounds: Bound | Mapping[str, Bound] | Literal["limits"] | None,
    rate_bounds: float | Mapping[str, float] | None,
    weights: Mapping[str, float] | None,
) -> Signals:
    """Return the forces of the actuators with B u = Q, of a mechanism or a reduced model; options as in `inverse`.

    B           : (N, s, actuators)
    needed      : Q (N, s)
    multipliers : joint forces and moments without inputs, and per unit of each input, if these are minimized
    """
    chosen = actuation(numbering, B, actuators, time)
    w = weights_of(chosen, weights)
    lower, upper = force_bounds(chosen, bounds)
    rates = rate_limits(chosen, rate_bounds, time)
    objective = torque_objective(chosen.B, w) if minimize == "torque" else None
    if multipliers is not None:
        free, unit = multipliers
        objective = multiplier_objective(free, unit[..., chosen.numbers], w)
    u = distribute(chosen, needed, objective, w, lower, upper, rates)
    return Signals(time, {name: u[:, i] for i, name in enumerate(chosen.names)}, chosen.units)


def elastic_motion(mechanism: Mechanism, path: Trajectory) -> Simulation:
    """Simulate an elastic mechanism with θ prescribed, from the deformation by its loads at the first time."""
    if len(path.time) < 2 or not (np.diff(path.time) > 0.0).all():
        raise InputError(
            "elastic bodies need a motion over time, but single states are given", part="motion",
            hint="give rising times, or use rigid=True (--rigid)",
        )  # fmt: skip
    begin = equilibrium(mechanism, path.theta[0], held=path.coordinates)
    return simulate(mechanism, path.time, start=begin, motion=path)


def _until(path: Trajectory, count: int) -> Trajectory:
    parts = {name: getattr(path, name)[:count] for name in ("time", "theta", "rates", "accelerations")}
    return replace(path, **parts)


def _columns(signals: Signals, names: Sequence[str]) -> Array:
    return np.stack([signals[name] for name in names], axis=1)


def _require_unmixed(minimize: str) -> None:
    if minimize == "multipliers":
        raise InputError(
            '"multipliers" needs the joint forces of a rigid mechanism, but elastic bodies deform', part="minimize",
            hint="use torque or peak, or rigid=True (--rigid)",
        )  # fmt: skip


def require_objective(minimize: str) -> None:
    """Refuse an unknown objective."""
    require_known("objective", minimize, OBJECTIVES, part="minimize")


def needed_force(model: LocalModel, path: Trajectory, friction: Array) -> Array:
    """Return Q (N, s): M θ̈ + Γ[θ̇, θ̇] + D_d θ̇ - p + Σ J_jᵀ friction_j."""
    return model.required_forces(path.rates, path.accelerations) + model.friction_forces(friction)


def dry_friction_forces(friction_map: Array, dry_forces: Mapping[str, float], rates: Array) -> Array:
    """Return the friction f_j sgn(J_j θ̇) (N, f) that the actuators overcome; zero at rest.

    friction_map : J (N, f, s)
    """
    forces = np.array(list(dry_forces.values()))
    speed = np.einsum("nfi,ni->nf", friction_map, rates)
    # Speeds that cancel leave rounding errors, whose sign has no meaning.
    terms = np.einsum("nfi,ni->nf", np.abs(friction_map), np.abs(rates))
    at_rest = np.abs(speed) <= _STANDING * terms.max(axis=0, initial=0.0)
    return np.where(at_rest, 0.0, np.sign(speed)) * forces


def distribute(
    chosen: Actuation, Q: Array, objective: Objective | None, w: Array, lower: Array, upper: Array, rates: Rates | None
) -> Array:
    """Return the forces (N, a) that add up to Q with the least objective (None: the least peak), within bounds."""
    B = chosen.B
    if not (np.isfinite(lower).any() or np.isfinite(upper).any() or rates is not None):
        return least_peak(B, Q, w) if objective is None else least_squares(B, Q, objective)
    if objective is None:
        u, possible = least_peak_within(B, Q, w, lower, upper)
    else:
        u, possible = least_squares_within(B, Q, objective, lower, upper)
    if not possible.all():
        raise bounds_error(chosen, Q, lower, upper)
    if rates is None or (np.abs(np.diff(u, axis=0)) <= rates.steps[:, None] * rates.limits).all():
        return u
    if objective is not None:
        found = least_squares_within_rates(B, Q, objective, lower, upper, rates)
        if found is None:
            raise rates_error(chosen, Q, lower, upper, rates)
        return found
    error = rates_error(chosen, Q, lower, upper, rates)
    if isinstance(error, InputError):
        raise error
    return least_largest(B, Q, w, lower, upper, rates)[0]


# Errors for bounds that cannot be met: the time, and the least increase of the bounds.


_ROUNDING = 1e-9


def bounds_error(chosen: Actuation, Q: Array, lower: Array, upper: Array) -> InputError:
    """Return the error with the worst time, and the least uniform increase of the bounds that is sufficient there."""
    excess = least_excess(chosen.B, Q, lower, upper)
    n = int(np.argmax(excess))
    return InputError(
        f"no forces within the bounds drive the motion: at {chosen.time[n]:.6g} s every bound must rise by at least "
        f"{_two_digits(excess[n])} {_unit(chosen)} ({_list_bounds(chosen, upper[n], lower[n])})",
        part="bounds",
        hint="raise the bounds, use more actuators, or move more slowly",
    )


def rates_error(chosen: Actuation, Q: Array, lower: Array, upper: Array, rates: Rates) -> InputError | NumericalError:
    """Return the error with the most demanding step, and the least uniform increase of the bounds of rates.

    If the bounds can be met after all, the method has failed, and the error is a NumericalError.
    """
    excess, n = least_rate_excess(chosen.B, Q, lower, upper, rates)
    if excess <= _ROUNDING * float(rates.limits[np.isfinite(rates.limits)].max()):
        return NumericalError(
            "forces within the bounds exist, but were not found",
            part="rate bounds",
            hint="widen the bounds a little, or use other times",
        )
    return InputError(
        f"no forces within the bounds of rates drive the motion: near {chosen.time[n]:.6g} s every bound must rise by "
        f"at least {_two_digits(excess)} {_unit(chosen)}/s",
        part="rate bounds",
        hint="raise the bounds, use more actuators, or move more slowly",
    )


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _unit(chosen: Actuation) -> str:
    units = dict.fromkeys(chosen.units.values())
    return " or ".join(units)


def _list_bounds(chosen: Actuation, upper: Array, lower: Array) -> str:
    parts = []
    for i, name in enumerate(chosen.names):
        if np.isfinite(upper[i]) or np.isfinite(lower[i]):
            both = f"±{upper[i]:g}" if lower[i] == -upper[i] else f"{lower[i]:g} to {upper[i]:g}"
            parts.append(f"{name} {both}")
    return ", ".join(parts)
