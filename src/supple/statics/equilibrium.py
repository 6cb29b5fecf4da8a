"""Static equilibrium: the configuration at which the generalized force of every coordinate vanishes.

p(θ) + B(θ) u = 0, by Newton's method with the exact gradient of p, downhill in the potential. If a dead point of θ is
in between, or convergence is too slow, the search continues over all positions that the joints allow (`descent`), and
restarts from positions nearby if it does not end at an equilibrium. Elastic parts are then deformed by their loads
(`deformed_rest`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError, SuppleNote, require_known
from supple.diagnostics.arguments import real_numbers, require_arguments
from supple.diagnostics.errors import values_text
from supple.formulations.absolute.descent import Descent, descend, nudge_state
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import Absolute, absolute
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.measures import key_of
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.statics.deformed_rest import deformed_rest
from supple.systems.protocols import Unserved, model_theta, require_served

_ITERATIONS, _TRIES = 40, 12  # of Newton's method over θ; and of step halvings, or final refinements
_RESTARTS = 6  # from positions nearby, if a descent over all positions does not end at an equilibrium
_ELSEWHERE = 1e-6  # rad or extents: a larger difference is a position that θ does not lead to from rest
_SMALL = 1e-10  # of the largest force so far, or of all loads together: near enough for Newton's method alone
_FLAT = 1e-8  # of the largest curvature: along directions of less, the potential is treated as flat
_NEGLIGIBLE = 1e-12  # of the work of the loads: a curvature that is rounding
_SAME = 1e-12  # of the potential, or of the work of the loads: a change that is rounding
_UNSERVED = {
    ReducedModel: Unserved(("held", "rigid"), "the equilibrium of a reduced model includes all coordinates and modes")
}
_NUDGE, _LONGEST = 1e-3, 0.3  # rad or sizes: the step away from an unstable equilibrium; the longest step


@overload
def equilibrium(
    mechanism: Mechanism,
    start: At | Configuration = None,
    *,
    inputs: ArrayLike | None = None,
    held: Sequence[str] = (),
    rigid: bool = False,
) -> Configuration: ...
@overload
def equilibrium(
    mechanism: ReducedModel, start: At | Configuration = None, *, inputs: Values | None = None
) -> Array: ...
def equilibrium(
    mechanism: Mechanism | ReducedModel,
    start: At | Configuration = None,
    *,
    inputs: Values | None = None,
    held: Sequence[str] = (),
    rigid: bool = False,
) -> Configuration | Array:
    """Find a stable static equilibrium under gravity, springs and constant actuator forces.

    Parameters
    ----------
    mechanism : Mechanism or ReducedModel
        Mechanism, or a reduced model of one.
    start : str, mapping, array_like or Configuration, optional
        Configuration at which the search starts, as in `assemble`. Default: rest.
    inputs : array_like, shape (actuators,), or mapping, optional
        Constant actuator forces, N or N m. Default: zero. A mapping by name is accepted for a reduced model.
    held : sequence of str, optional
        Coordinates that keep their value at the start. Default: none. Not for a reduced model.
    rigid : bool, optional
        Treat elastic parts as rigid and return the equilibrium of the undeformed mechanism. Default: False.

    Returns
    -------
    Configuration or ndarray, shape (n,)
        Configuration of a mechanism at equilibrium; for a reduced model η (n,), as from `ReducedModel.equilibrium`.

        A mechanism with elastic parts is deformed by its loads, however large the deformation: see
        `Configuration.deformed`. A simulation that starts there starts at rest. Other functions that accept a
        configuration use its θ.

    Raises
    ------
    InputError
        If a coordinate is unknown, or if no equilibrium is found; the message gives the largest remaining force.

    Warns
    -----
    SuppleNote
        If a dead point lies between rest and the equilibrium, so that the coordinates alone do not determine it.

    See Also
    --------
    deflection : Deformation under loads with all coordinates held.
    modes : Natural frequencies at a configuration.

    Notes
    -----
    The equilibrium satisfies p(θ) + B(θ) u = 0. Angles are measured in radians and lengths in sizes of the mechanism,
    so that forces along both are energies; all tolerances are relative to the work that the loads could do. The
    residual force is rounding error.

    Examples
    --------
    >>> import supple
    >>> pendulum = supple.load("pendulum")
    >>> supple.equilibrium(pendulum, [0.5]).theta.round(3)
    array([-1.571])
    """
    require_arguments(equilibrium, locals())
    require_served(equilibrium, mechanism, _UNSERVED, locals())
    if isinstance(mechanism, ReducedModel):
        return mechanism.equilibrium(model_theta(mechanism, start), inputs)
    if isinstance(inputs, Mapping):
        raise InputError(
            "must be a list in the order of the actuators (got a mapping)", part="inputs",
            hint=f"give values for {', '.join(mechanism.actuators) or 'none'}",
        )  # fmt: skip
    u = np.zeros(len(mechanism.actuators)) if inputs is None else real_numbers("inputs", inputs)
    if u.shape != (len(mechanism.actuators),):
        listed = ", ".join(mechanism.actuators) or "none"
        raise InputError(
            f"wrong shape {u.shape}", part="inputs",
            hint=f"give ({len(mechanism.actuators)},) values, one for each actuator ({listed})",
        )  # fmt: skip
    here = start if isinstance(start, Configuration) else assemble(mechanism, start)
    names = here.rest.numbering.coordinates
    for name in held:
        require_known("coordinate", name, names, part="held")
    kept = tuple(i for i, name in enumerate(names) if name in held)
    if rigid or not mechanism.elastic:
        return undeformed_equilibrium(here, u, kept)
    if here.deformed is None and len(kept) < len(names):
        here = undeformed_equilibrium(here, u, kept)
    found = deformed_rest(here, u, kept)
    treat_as_rigid(mechanism, False, "give them as beams", names=found.problem.frames.rigid)
    return found.configuration


def undeformed_equilibrium(begin: Configuration, u: Array, held: tuple[int, ...] = ()) -> Configuration:
    """Return the equilibrium of the rigid mechanism, downhill from a configuration, under inputs u (actuators,).

    held : indices of coordinates that keep their value
    """
    mechanism, here = begin.mechanism, begin
    free = ~np.isin(np.arange(len(begin.theta)), held)
    if not free.any():
        return begin
    unit = np.where(free, here.rest.numbering.theta_scale, 0.0)  # held coordinates have no force and do not move
    scale = _weight(here)
    for _ in range(_ITERATIONS):
        theta = here.theta.copy()
        force, K, potential = _forces(mechanism, here, u, unit)
        scale = max(scale, float(np.abs(force).max()))
        values, vectors = np.linalg.eigh(K)
        flat = max(_FLAT * float(np.abs(values).max()), _NEGLIGIBLE * scale)
        if (np.abs(force) <= _SMALL * scale).all():
            if values[0] >= -flat:
                return _refine(mechanism, here, u, unit, flat)
            step = _NUDGE * vectors[:, 0]  # on a summit or saddle: along the direction of steepest descent
        else:
            # Also along directions of negative curvature the step goes downhill.
            step = vectors @ ((vectors.T @ force) / np.maximum(np.abs(values), flat))
            step *= min(1.0, _LONGEST / float(np.abs(step).max()))
        there = _downhill(mechanism, theta, unit * step, potential, _SAME * scale, u)
        if there is None:
            break
        here = there
    return _descend(here, begin, u, held)


def _descend(here: Configuration, begin: Configuration, u: Array, held: tuple[int, ...]) -> Configuration:
    """Search over all positions that the joints allow: from where Newton's method ended, began, and nearby."""
    mechanism, scale = begin.mechanism, _weight(begin)
    problem, along = absolute(begin.rest, held, rigid=True), _lengths_at(begin)
    aims, ends = begin.theta[list(held)], list[Descent]()
    for trial in range(2 + _RESTARTS):
        first = _rest_state(problem, here if trial == 0 else begin)
        start = first if trial < 2 else nudge_state(problem, first, u, aims, trial)
        if start is None:
            continue
        ends.append(descend(problem, start, u, aims, scale, lambda w: w[along]))
        if ends[-1].found:
            return _configuration_at(begin, problem.frames.bodies(ends[-1].state.X), ends[-1].state.w)
        if ends[-1].away:
            break
    tried = "" if ends[-1].away else f", nor in {len(ends)} searches over all positions of the bodies"
    force = _forces(mechanism, here, u, here.rest.numbering.theta_scale)[0]
    force = np.where(np.isin(np.arange(len(force)), held), 0.0, force)
    raise InputError(
        f"no equilibrium was found from {_coordinates_text(begin, begin.theta)}{tried}; the search over θ stopped at "
        f"{_coordinates_text(begin, here.theta)}, where the largest remaining force is "
        f"{_largest_force_text(begin, force)}",
        part=f'mechanism "{mechanism.name}"',
        hint="start closer to the equilibrium, or add springs or actuator forces that hold the mechanism",
    )


def _rest_state(problem: Absolute, here: Configuration) -> State:
    """Return a configuration as a state of the frames of its bodies, without multipliers."""
    X = problem.frames.poses(here.X)
    still = np.zeros((len(X) - 1, len(problem.system.rows.column)))
    rows = here.rest.numbering.constraints + len(problem.system.driven)
    return State(X, still, still.copy(), still.copy(), np.zeros(rows), here.w.copy())


def _configuration_at(begin: Configuration, X: Array, w: Array) -> Configuration:
    """Return the configuration at X (bodies + 1, 12), with a note if θ alone does not lead there."""
    mechanism, theta = begin.mechanism, w[: len(begin.theta)].copy()
    led = assemble(mechanism, theta[None], failures="mark")
    if bool(led.assembled[0]):
        away = (led.X[0] - X) / np.where(np.arange(12) < 3, begin.rest.numbering.arrays.extent, 1.0)
        if np.abs(away).max() <= _ELSEWHERE:
            return led.part(0)
    warnings.warn(
        f'mechanism "{mechanism.name}": a dead point of its coordinates lies between rest and this equilibrium, '
        "so that "
        "the coordinates alone do not determine it; use the returned configuration, or draw the mechanism closer to it",
        SuppleNote, stacklevel=5,  # the line that called `equilibrium`
    )  # fmt: skip
    return Configuration(begin.rest, theta, X, w.copy(), np.ones(()))


def _forces(mechanism: Mechanism, here: Configuration, u: Array, unit: Array) -> tuple[Array, Array, float]:
    """Return forces p + B u, stiffness -∂p/∂θ and potential, all as energies with coordinates in units."""
    model = local(mechanism, here, rigid=True)
    K = -0.5 * (model.dforce + model.dforce.T) * np.outer(unit, unit)
    return (model.force + model.input_map @ u) * unit, K, float(model.potential) - float(u @ _lengths(here))


def _refine(mechanism: Mechanism, here: Configuration, u: Array, unit: Array, flat: float) -> Configuration:
    """Refine the equilibrium to rounding by Newton's method, as long as each step halves the force."""
    force, K, _ = _forces(mechanism, here, u, unit)
    for _ in range(_TRIES):
        values, vectors = np.linalg.eigh(K)
        firm = values > flat
        along = np.divide(vectors.T @ force, values, out=np.zeros_like(values), where=firm)
        there = assemble(mechanism, here.theta + unit * (vectors @ along))
        left, K, _ = _forces(mechanism, there, u, unit)
        if not np.abs(left).max() <= 0.5 * np.abs(force).max():
            break
        here, force = there, left
    return here


def _downhill(
    mechanism: Mechanism, theta: Array, step: Array, potential: float, same: float, u: Array
) -> Configuration | None:
    """Shorten the step until the potential falls, or changes only by rounding.

    Return None if it does not fall, or if a dead point is in between.
    """
    for _ in range(_TRIES):
        here = assemble(mechanism, (theta + step)[None], failures="mark")
        if not bool(here.assembled[0]):
            return None
        single = here.part(0)
        model = local(mechanism, single, rigid=True)
        tolerance = max(_SAME * abs(potential), same)
        if float(model.potential) - float(u @ _lengths(single)) <= potential + tolerance:
            return single
        step = 0.5 * step
    return None


def _weight(here: Configuration) -> float:
    """Return the work of all loads together over the mechanism's size, N m: the reference for small energies."""
    loads = get_coefficients(here.rest).arrays.loads_f
    forces = float(np.linalg.norm(loads[:, 3:6], axis=1).sum()) * here.rest.numbering.arrays.extent
    return forces + float(np.linalg.norm(loads[:, 6:9], axis=1).sum())


def _coordinates_text(begin: Configuration, theta: Array) -> str:
    names = begin.rest.numbering.coordinates
    return values_text(names, theta, 5)


def _largest_force_text(begin: Configuration, force: Array) -> str:
    """Return the largest of the forces, given as energies, in the unit of its coordinate, as text."""
    i = int(np.argmax(np.abs(force)))
    numbering = begin.rest.numbering
    size = abs(float(force[i])) / numbering.theta_scale[i]
    return f"{size:.3g} {'N m' if numbering.turns[i] else 'N'} along {numbering.coordinates[i]}"


def _lengths(configuration: Configuration) -> Array:
    """Return the coordinates ℓ of the actuators: constant forces u have the potential -u·ℓ."""
    return np.asarray(configuration.w[_lengths_at(configuration)])


def _lengths_at(configuration: Configuration) -> NDArray[np.int64]:
    """Return the indices of the actuator coordinates among the measures."""
    numbering = configuration.rest.numbering
    keys = [key_of(numbering.mechanism, actuator) for actuator in numbering.mechanism.actuators.values()]
    return np.array([numbering.measures[key] - numbering.constraints for key in keys], dtype=np.int64)
