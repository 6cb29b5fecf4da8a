"""Static equilibrium: the configuration at which no coordinate is pushed.

p(θ) + B(θ) u = 0, by Newton's method with the exact gradient of p, downhill in the potential. Where a dead point of θ
stands in the way, or that takes too long, the search goes on over all positions that the joints allow (`descent`), and
starts again from positions nearby where it ends at none. What is elastic is bent by its loads from there on
(`deformed_rest`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism, taken_as_rigid
from supple.diagnostics import InputError, SuppleNote, nearest
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import values_text
from supple.formulations.absolute.descent import Descent, descend, nudged
from supple.formulations.absolute.step import State
from supple.formulations.absolute.system import Absolute, absolute
from supple.formulations.coefficients import carried
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.measures import key_of
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel
from supple.reduced.state_arguments import Values
from supple.statics.deformed_rest import deformed_rest
from supple.systems.protocols import Unserved, model_theta, require_served

_ITERATIONS, _TRIES = 40, 12  # of Newton's method over θ; and shorter steps, or sharpenings
_RESTARTS = 6  # from positions nearby, where a descent over all positions ends at no equilibrium
_ELSEWHERE = 1e-6  # rad or extents: a position that θ does not lead to from rest
_SMALL = 1e-10  # of the largest force met on the way, or of all loads together: near enough for Newton's method alone
_FLAT = 1e-8  # of the largest curvature: along such directions the potential is taken as flat
_UNSEEN = 1e-12  # of what the loads could do: a curvature that is rounding
_SAME = 1e-12  # of the potential, or of what the loads could do: a change that is rounding
_UNSERVED = {ReducedModel: Unserved(("held", "rigid"), "a reduced model rests in all its coordinates, with its modes")}
_NUDGE, _LONGEST = 1e-3, 0.3  # rad or sizes: how an unstable equilibrium is left; the longest step


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
    """A stable equilibrium under gravity, springs, constant forces and constant actuator forces.

    Of a reduced model: η (n,) of the equilibrium closest to the start, as `model.equilibrium` gives it.

    A mechanism with elastic parts is deformed there as its loads ask for, however far: `Configuration.deformed`, from
    which a run starts without a jolt. Everything else that takes a configuration takes its θ.

    start  : where the search begins, as in `assemble`
    inputs : (actuators,) constant forces; zero if left out
    held   : coordinates that stay where the start has them
    rigid  : elastic parts are taken as rigid: the θ at which the undeformed mechanism rests

    Angles are counted in radians and lengths in sizes of the mechanism, so that forces along both are energies; every
    limit is relative to what the loads can do. The force left over is rounding.
    """
    require_arguments(equilibrium, locals())
    require_served(equilibrium, mechanism, _UNSERVED, locals())
    if isinstance(mechanism, ReducedModel):
        return mechanism.equilibrium(model_theta(mechanism, start), inputs)
    if isinstance(inputs, Mapping):
        raise InputError("forces of a mechanism are in the order of its actuators", part="inputs", hint="give a list")
    u = np.zeros(len(mechanism.actuators)) if inputs is None else np.asarray(inputs, float)
    here = start if isinstance(start, Configuration) else assemble(mechanism, start)
    names = here.rest.numbering.coordinates
    for name in held:
        if name not in names:
            raise InputError(f'"{name}" is not a coordinate', part="held", hint=nearest(name, names))
    kept = tuple(i for i, name in enumerate(names) if name in held)
    if rigid or not mechanism.elastic:
        return undeformed_equilibrium(here, u, kept)
    if here.deformed is None and len(kept) < len(names):
        here = undeformed_equilibrium(here, u, kept)
    found = deformed_rest(here, u, kept)
    taken_as_rigid(mechanism, False, "give them as beams", names=found.problem.frames.rigid)
    return found.configuration


def undeformed_equilibrium(begin: Configuration, u: Array, held: tuple[int, ...] = ()) -> Configuration:
    """Of the rigid mechanism, downhill from a configuration, under inputs u (actuators,).

    held : numbers of coordinates that stay where they are
    """
    mechanism, here = begin.mechanism, begin
    free = ~np.isin(np.arange(len(begin.theta)), held)
    if not free.any():
        return begin
    unit = np.where(free, here.rest.numbering.theta_scale, 0.0)  # what is held is not pushed, and does not move
    scale = _weight(here)
    for _ in range(_ITERATIONS):
        theta = here.theta.copy()
        force, K, potential = _pushed(mechanism, here, u, unit)
        scale = max(scale, float(np.abs(force).max()))
        values, vectors = np.linalg.eigh(K)
        flat = max(_FLAT * float(np.abs(values).max()), _UNSEEN * scale)
        if (np.abs(force) <= _SMALL * scale).all():
            if values[0] >= -flat:
                return _sharpened(mechanism, here, u, unit, flat)
            step = _NUDGE * vectors[:, 0]  # on a summit or saddle: down along the steepest way
        else:
            # Along directions that curve down, go downhill all the same.
            step = vectors @ ((vectors.T @ force) / np.maximum(np.abs(values), flat))
            step *= min(1.0, _LONGEST / float(np.abs(step).max()))
        there = _downhill(mechanism, theta, unit * step, potential, _SAME * scale, u)
        if there is None:
            break
        here = there
    return _descended(here, begin, u, held)


def _descended(here: Configuration, begin: Configuration, u: Array, held: tuple[int, ...]) -> Configuration:
    """From where Newton's method over θ ended, over all positions that the joints allow; then from where it began, and
    from positions nearby."""
    mechanism, scale = begin.mechanism, _weight(begin)
    problem, along = absolute(begin.rest, held, rigid=True), _lengths_at(begin)
    aims, ends = begin.theta[list(held)], list[Descent]()
    for trial in range(2 + _RESTARTS):
        first = _at_rest(problem, here if trial == 0 else begin)
        start = first if trial < 2 else nudged(problem, first, u, aims, trial)
        if start is None:
            continue
        ends.append(descend(problem, start, u, aims, scale, lambda w: w[along]))
        if ends[-1].found:
            return _told(begin, problem.frames.bodies(ends[-1].state.X), ends[-1].state.w)
        if ends[-1].away:
            break
    tried = "" if ends[-1].away else f", nor over all positions of the bodies from {len(ends)} starts"
    force = _pushed(mechanism, here, u, here.rest.numbering.theta_scale)[0]
    raise InputError(
        f"no equilibrium was found from {_named(begin, begin.theta)}; the search ended at {_named(begin, here.theta)}, "
        f"where the largest force left is {_largest(begin, np.where(np.isin(np.arange(len(force)), held), 0.0, force))}"
        + tried,
        part=f'mechanism "{mechanism.name}"',
        hint="start closer to it, or add what holds the mechanism (springs, actuator forces)",
    )


def _at_rest(problem: Absolute, here: Configuration) -> State:
    """A configuration, as a state of the frames of its bodies, without multipliers."""
    X = problem.frames.poses(here.X)
    still = np.zeros((len(X) - 1, len(problem.system.rows.column)))
    rows = here.rest.numbering.constraints + len(problem.system.driven)
    return State(X, still, still.copy(), still.copy(), np.zeros(rows), here.w.copy())


def _told(begin: Configuration, X: Array, w: Array) -> Configuration:
    """The configuration at X (bodies + 1, 12); a note where θ alone does not lead there."""
    mechanism, theta = begin.mechanism, w[: len(begin.theta)].copy()
    led = assemble(mechanism, theta[None], failures="mark")
    if bool(led.assembled[0]):
        away = (led.X[0] - X) / np.where(np.arange(12) < 3, begin.rest.numbering.arrays.extent, 1.0)
        if np.abs(away).max() <= _ELSEWHERE:
            return led.part(0)
    warnings.warn(
        f'mechanism "{mechanism.name}": a dead point of its coordinates lies between rest and this equilibrium; its '
        "coordinates alone do not lead there; use the configuration itself, or draw the rest closer to it",
        SuppleNote, stacklevel=5,  # the line that called `equilibrium`
    )  # fmt: skip
    return Configuration(begin.rest, theta, X, w.copy(), np.ones(()))


def _pushed(mechanism: Mechanism, here: Configuration, u: Array, unit: Array) -> tuple[Array, Array, float]:
    """Forces p + B u, the stiffness -∂p/∂θ and the potential, all as energies: of coordinates in units."""
    model = local(mechanism, here, rigid=True)
    K = -0.5 * (model.dforce + model.dforce.T) * np.outer(unit, unit)
    return (model.force + model.input_map @ u) * unit, K, float(model.potential) - float(u @ _lengths(here))


def _sharpened(mechanism: Mechanism, here: Configuration, u: Array, unit: Array, flat: float) -> Configuration:
    """Newton's method alone, as long as it halves the force: to rounding."""
    force, K, _ = _pushed(mechanism, here, u, unit)
    for _ in range(_TRIES):
        values, vectors = np.linalg.eigh(K)
        firm = values > flat
        along = np.divide(vectors.T @ force, values, out=np.zeros_like(values), where=firm)
        there = assemble(mechanism, here.theta + unit * (vectors @ along))
        left, K, _ = _pushed(mechanism, there, u, unit)
        if not np.abs(left).max() <= 0.5 * np.abs(force).max():
            break
        here, force = there, left
    return here


def _downhill(
    mechanism: Mechanism, theta: Array, step: Array, potential: float, same: float, u: Array
) -> Configuration | None:
    """Shorten the step until the potential falls (or changes by rounding alone); None where it does not, or where a
    dead point stands in the way."""
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
    """What all loads together could do over the mechanism's size, N m: what an energy is small against."""
    loads = carried(here.rest).arrays.loads_f
    forces = float(np.linalg.norm(loads[:, 3:6], axis=1).sum()) * here.rest.numbering.arrays.extent
    return forces + float(np.linalg.norm(loads[:, 6:9], axis=1).sum())


def _named(begin: Configuration, theta: Array) -> str:
    names = begin.rest.numbering.coordinates
    return values_text(names, theta, 5)


def _largest(begin: Configuration, force: Array) -> str:
    """The largest of the forces, given as energies, in the unit of its coordinate."""
    i = int(np.argmax(np.abs(force)))
    numbering = begin.rest.numbering
    size = abs(float(force[i])) / numbering.theta_scale[i]
    return f"{size:.3g} {'N m' if numbering.turns[i] else 'N'} along {numbering.coordinates[i]}"


def _lengths(configuration: Configuration) -> Array:
    """Coordinates of the actuators: constant forces u have the potential -u·ℓ."""
    return np.asarray(configuration.w[_lengths_at(configuration)])


def _lengths_at(configuration: Configuration) -> NDArray[np.int64]:
    """Where these stand among the measures."""
    numbering = configuration.rest.numbering
    keys = [key_of(numbering.mechanism, actuator) for actuator in numbering.mechanism.actuators.values()]
    return np.array([numbering.measures[key] - numbering.constraints for key in keys], dtype=np.int64)
