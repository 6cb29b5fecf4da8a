"""Static error of a flexible model against the full equations, which include large displacements and following loads.

A reduced model is linear in the deformation δ about the undeformed θ. With θ fixed, its equilibrium is K δ = p_δ(θ),
and its outputs move by Ψ_o δ. The mechanism is in equilibrium where its deformed bodies are balanced
(flexible-statics.md). So the model has an error of second order besides that of the fit: a point at distance r that
turns by φ is off by φ² r/2, a share φ/2 of its deflection. With Δ the deflection at a sensor and Q the forces that hold
θ, at a few configurations,

    e = ‖Δ̂ - Δ‖ / max(‖Δ‖, median ‖Δ‖)   for each sensor at a point,   e = ‖Q̂ - Q‖ / max(‖Q‖, median ‖Q‖)

where ^ marks the model. The largest of each is stated.                                    (docs/theory/reduction.md,
7c)
Where no load acts on the mechanism, Δ and Q are rounding, and no error is stated.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.approximation.fits.scattered_fit import halton_points
from supple.array_types import Array
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleError, SuppleWarning
from supple.equations.forces import FRICTION_SPEED
from supple.formats.varied_mechanism import VariedMechanism
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, outputs_along
from supple.reduction.domain import Domain
from supple.statics.deflection import deflection

_POINTS = 5  # configurations, including the middle of the region
_STEPS, _SETTLED = 20, 1e-12  # Newton steps for δ, and the relative change at which they end
_STILL = 1e-9  # of the mechanism's size: smaller deflections are not judged


@dataclass(frozen=True)
class EquilibriumError:
    """Largest static errors against the full equations.

    deflection : relative error of the static deflection at each sensor that measures at a point
    force      : relative error of the forces that hold θ; None if they vanish, or if θ is not the model's coordinate
    points     : number of configurations compared
    reason     : why some configurations were not compared
    """

    deflection: dict[str, float] = field(default_factory=dict)
    force: float | None = None
    points: int = 0
    reason: str = ""

    @property
    def worst(self) -> float:
        """Largest error."""
        return max((*self.deflection.values(), self.force or 0.0), default=0.0)

    def data(self) -> dict[str, Any]:
        """Return the JSON data."""
        return {"deflection": self.deflection, "force": self.force, "points": self.points, "reason": self.reason}


def equilibrium_error(mechanism: VariedMechanism, domain: Domain, model: ReducedModel) -> EquilibriumError:
    """Return the static errors of a flexible model over its region, at `_POINTS` configurations."""
    own: dict[str, list[Array]] = {}
    full: dict[str, list[Array]] = {}
    forces: list[tuple[Array, Array]] = []
    reason, points = "", 0
    for x in _spread(domain):
        try:
            deflected, held, deflected_model, held_model = _at(mechanism, domain, model, x)
        except (SuppleError, np.linalg.LinAlgError) as error:
            reason = reason or str(error)
            continue
        points += 1
        for name in deflected:
            full.setdefault(name, []).append(deflected[name])
            own.setdefault(name, []).append(deflected_model[name])
        if held is not None:
            forces.append((held_model, held))
    size = rest(mechanism.nominal).numbering.arrays.extent
    errors = {
        name: _largest(np.array(own[name]), np.array(values))
        for name, values in full.items()
        if np.abs(values).max() > _STILL * max(size, 1.0)
    }
    force = None
    if forces:
        known, needed = (np.array([pair[k] for pair in forces]) for k in (0, 1))
        if np.linalg.norm(needed, axis=1).max() > _least_force(mechanism.nominal, domain, model):
            force = _largest(known, needed)
    return EquilibriumError(errors, force, points, reason)


def _least_force(mechanism: Mechanism, domain: Domain, model: ReducedModel) -> float:
    """Return the norm of holding forces below which they are not judged: `_STILL` r_j m L² ω₁².

    m, L : mass and size of the mechanism
    r_j  : 1 for an angle, 1/L for a length
    ω₁   : lowest frequency of the model in the middle of its region, θ fixed, rad/s
    """
    numbering = rest(mechanism).numbering
    extent, s = float(numbering.arrays.extent), model.layout.theta
    about = dict(zip(numbering.coordinates, numbering.turns, strict=True))
    rates = np.where([about.get(name, True) for name in model.layout.coordinates[:s]], 1.0, 1.0 / extent)
    mass = sum(item.mass for item in mass_properties(numbering.drawing).values())
    here = model.evaluate(domain.boxes[0].center[None, :s])
    squares = np.abs(np.linalg.eigvals(np.linalg.solve(here.M[0, s:, s:], here.K[0, s:, s:])))
    return float(_STILL * mass * extent**2 * squares.min() * np.linalg.norm(rates))


def _largest(model: Array, exact: Array) -> float:
    sizes = np.linalg.norm(exact, axis=1)
    return float((np.linalg.norm(model - exact, axis=1) / np.maximum(sizes, np.median(sizes))).max())


def _spread(domain: Domain) -> Iterator[Array]:
    each = max(1, _POINTS // len(domain.boxes))
    for box in domain.boxes[:_POINTS]:
        yield box.center
        yield from box.from_unit(halton_points(box.dimension, each, 2))[: each - 1]


def _at(
    varied: VariedMechanism, domain: Domain, model: ReducedModel, x: Array
) -> tuple[dict[str, Array], Array | None, dict[str, Array], Array]:
    """Return deflections by sensor and holding forces at x (s + p,), of the mechanism and of the model."""
    count = len(varied.names)
    mechanism = varied.at(x[len(x) - count :].tolist())
    member = model if model.family is None else model.at(dict(zip(varied.names, x[len(x) - count :], strict=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # on elements that bend too far: the error includes it
        exact = deflection(mechanism, assemble(mechanism, domain.theta(x[None])[0]), large=True)
    known = [name for name in get_coefficients(rest(mechanism)).outputs if name in model.layout.outputs]
    names = [name for name in known if mechanism.sensors[name.split(".")[0]].place]
    sensors = {
        name.split(".")[0]: [item for item in names if item.split(".")[0] == name.split(".")[0]] for name in names
    }
    moved, held = _model_equilibrium(member, x[: len(x) - count])
    return (
        {sensor: np.array([exact.of(item) for item in items]) for sensor, items in sensors.items()},
        np.array(list(exact.holding_forces.values())) if domain.path is None and not domain.held else None,
        {sensor: np.array([moved[item] for item in items]) for sensor, items in sensors.items()},
        held,
    )


def _model_equilibrium(model: ReducedModel, theta: Array) -> tuple[dict[str, float], Array]:
    """Return how far outputs move from δ = 0 to the equilibrium with θ (s,) fixed, and the forces (s,) that hold θ."""
    layout = model.layout
    n, s = layout.size, layout.theta
    c = model.evaluate(theta[None])
    still, delta = np.zeros((1, n)), np.zeros((1, n - s))
    for _ in range(_STEPS):
        needed = model.inverse(c.theta, still, still, delta=delta)
        change = np.linalg.solve(c.stiffness_force_slope(delta)[:, s:], needed[:, s:, None])[:, :, 0]
        delta = delta + change
        if np.abs(change).max(initial=0.0) <= _SETTLED * np.abs(delta).max(initial=0.0):
            break
    held = model.inverse(c.theta, still, still, delta=delta)[0, :s]
    eta = np.vstack([np.zeros(n), np.zeros(n)])
    eta[:, :s], eta[1, s:] = theta, delta[0]
    none = np.zeros((2, n))
    y = outputs_along(model, ObservedMotion(eta, none, none, np.zeros((2, len(layout.inputs))), FRICTION_SPEED))
    return dict(zip(layout.outputs, (y[1] - y[0]).tolist(), strict=True)), held
