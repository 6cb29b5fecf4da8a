"""A reduced model against the mechanism it was made from: how far off, and how much faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.analyses.trajectory import Prescribed, trajectory
from supple.approximation.fit_error import norms
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.parameterization.local_model import local
from supple.reduced.model import ReducedModel

Array = NDArray[np.float64]

_REPEATS = 5  # the fastest counts: the others waited for something
_MEDIANS = 1000


@dataclass(frozen=True)
class Comparison:
    """error : family -> largest ‖f - f̂‖ / max(‖f‖, median ‖f‖), and `at` which θ; speedup : of a batch of points.

    force_error : along a motion, the largest difference of the generalized forces it needs, of their largest value
    """

    points: int
    error: dict[str, float]
    at: dict[str, dict[str, float]]
    speedup: float
    full_seconds: float
    reduced_seconds: float
    force_error: float | None = None


def compare(
    mechanism: Mechanism,
    model: ReducedModel,
    *,
    points: int = 1000,
    scenario: Prescribed | None = None,
    seed: int = 1,
) -> Comparison:
    """Compare on fresh points scattered over the region of the model, or along a motion of the mechanism."""
    names = model.layout.coordinates[: model.layout.theta]
    full_names = local(mechanism).coordinates
    if names != full_names:
        raise InputError(
            f"the model has the coordinates {', '.join(names)}, the mechanism {', '.join(full_names)}",
            hint="compare a model with the mechanism it was made from",
        )
    spread = scattered_over(model, _MEDIANS, seed + 1)
    if scenario is None:
        path = None
        theta = scattered_over(model, points, seed)
    else:
        path = trajectory(mechanism, scenario)
        theta = path.theta
    full, reduced = local(mechanism, theta), model.evaluate(theta)
    exact, found, typical = families(full), families(reduced), families(model.evaluate(spread))
    error, at = {}, {}
    for name, family in exact.items():
        median = float(np.median(norms(typical[name])))
        difference = norms(found[name] - family)
        size = np.maximum(norms(family), median)
        if not np.any(size > 0.0):
            error[name] = float(difference.max())
            continue
        relative = difference / np.where(size > 0.0, size, 1.0)
        worst = int(np.argmax(relative))
        error[name], at[name] = float(relative[worst]), dict(zip(names, theta[worst].tolist(), strict=True))
    slow, fast = _fastest(lambda: local(mechanism, theta)), _fastest(lambda: model.evaluate(theta))
    force_error = None
    if path is not None:
        needed = _needed(full, path.rates, path.accelerations)
        off = np.abs(_needed(reduced, path.rates, path.accelerations) - needed)
        force_error = float(off.max() / (np.abs(needed).max() or 1.0))
    return Comparison(len(theta), error, at, slow / fast, slow, fast, force_error)


def families(model: Any) -> dict[str, Array]:
    """Coefficient families of a batch of local or reduced models, each (N, entries)."""
    count = len(model.M)
    outputs = [np.asarray(item.value).reshape(count, 1) for item in model.outputs.values()]
    found = {name: np.asarray(getattr(model, name)) for name in ("M", "christoffel", "force", "damping", "input_map")}
    if outputs:
        found["outputs"] = np.hstack(outputs)
    return {name: array.reshape(count, -1) for name, array in found.items() if np.prod(array.shape[1:])}


def scattered_over(model: ReducedModel, count: int, seed: int) -> Array:
    """Random θ in the boxes of a model, evenly by volume: (count, s)."""
    rng = np.random.default_rng(seed)
    leaves = model.fitted.leaves
    lower, upper = np.array([box.lower for box in leaves]), np.array([box.upper for box in leaves])
    volume = np.prod(upper - lower, axis=1)
    chosen = rng.choice(len(leaves), size=count, p=volume / volume.sum())
    inside = rng.uniform(1e-9, 1.0 - 1e-9, (count, lower.shape[1]))  # a face is only known to rounding
    return np.asarray(lower[chosen] + inside * (upper - lower)[chosen])


def _needed(model: Any, rates: Array, accelerations: Array) -> Array:
    """M θ̈ + Γ[θ̇, θ̇] + D θ̇ - p."""
    found = np.einsum("nij,nj->ni", model.M, accelerations) - model.force
    found += np.einsum("nij,nj->ni", model.damping, rates)
    return np.asarray(found + np.einsum("nijk,nj,nk->ni", model.christoffel, rates, rates))


def _fastest(run: Callable[[], object]) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
