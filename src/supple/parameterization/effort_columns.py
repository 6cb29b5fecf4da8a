"""Forces inside a mechanism at positions θ, as rows of coefficients (docs/theory/outputs.md, eqs. 5-12).

A load r over z, θ locked, is borne by

    Λ z + Cᵀλ = r,    C z = diag(c) λ

and forces inside, e(r), follow from λ and from what acts on the part that is cut off. With δ among what moves, the part
of r that deforms the modes, K δ = Ψ_δ r, is counted by δ itself:

    e = Ψ^e δ + e(r) - Ψ^e K⁻¹ Ψ_δ r,    Λ ψ_a + Cᵀλ_a = k_a

for r of gravity and other loads, of inputs, of inertia -(z̈ + ω × ż), of dampers and of dry friction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation.threads import single_blas_thread
from supple.equations.effort_row import EffortPlaces, effort_places
from supple.formulations.coefficients import DRY, NUMBER, ROLE, along_measure, carried
from supple.formulations.elastic_rest.constrained_modes import rows_at
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.loads import input_rows, loads_at
from supple.formulations.elastic_rest.static_response import static_response
from supple.kinematics.configuration import Configuration
from supple.kinematics.motion import motion
from supple.kinematics.primitives import SCALE
from supple.parameterization.effort_cut import (
    LoadPattern,
    all_watched,
    direct_wrenches,
    inertia_wrench,
    row_wrenches,
    to_sensor,
)
from supple.parameterization.modal_inertia import turning_in_z

_RANK = 1e-10
_ROUNDING = 1e-10  # of what cancels: modes are known to 1e-12, and differences of them to less


class Deformation(NamedTuple):
    """Modes of η over z (N, n, z), and of δ: ∂ψ/∂θ (N, s, d, z), K and the damping of materials D (N, d, d).

    loads    : Ψ_δ r (N, d, patterns) as the equations of motion have it, of every load in the order of `_patterns`
    internal : how many of δ
    """

    modes: Array
    slopes: Array
    K: Array
    D: Array
    loads: Array
    internal: int


@single_blas_thread()
def effort_columns(rest: ElasticRest, configuration: Configuration, deformed: Deformation | None = None) -> Array:
    """(N, efforts, width) at a batch of configurations; deformed : of a flexible model."""
    numbering, X = rest.numbering, configuration.X
    count, s = len(X), len(numbering.coordinates)
    modes, quadratic = _rigid_motion(rest, configuration, deformed)
    if deformed is not None:
        modes = deformed.modes
    n, load = modes.shape[1], carried(configuration.rest)
    inputs = input_rows(rest)
    places = effort_places(n, s, len(inputs), len(load.dry_forces))
    patterns = _patterns(rest, configuration, modes, quadratic, inputs)
    forces = np.stack([item.r for item in patterns], axis=1)
    _, every = static_response(rest, X, forces)
    multipliers = -_least(rest, X, every)
    watched = all_watched(rest)
    found = np.zeros((count, len(load.efforts), places.width))
    size = np.zeros((count, places.width))  # what a column is made of, if nothing in it cancelled
    columns = [0, *range(places.inputs, places.width)]  # of the patterns; those of the modes apart
    of_modes = None if deformed is None else _mode_forces(rest, X, deformed, s)
    for k, here in enumerate(configuration.each()):
        acting = multipliers[k]
        made = np.abs(acting)
        for total, whole, pattern in zip(acting, made, patterns, strict=True):
            for row, force in pattern.along.items():
                total[row] += force[k]
                whole[row] += abs(force[k])
        loads = loads_at(rest, here)
        first = 0
        for item, wrenches in zip(watched, row_wrenches(rest, here.X, watched), strict=True):
            rows = slice(first, first + len(item.components))
            first = rows.stop
            shown = to_sensor(rest, here, item)[list(item.components)]
            direct = np.stack([direct_wrenches(rest, here, item, pattern, loads, k) for pattern in patterns], axis=1)
            found[k, rows, columns] = (shown @ (wrenches @ acting.T + direct)).T
            most = np.abs(shown) @ (np.outer(np.abs(wrenches).max(axis=1), made.max(axis=1)) + np.abs(direct))
            size[k, columns] = np.maximum(size[k, columns], most.max(axis=0, initial=0.0))
            if of_modes is not None:
                push = np.stack([inertia_wrench(rest, item, held) for held in of_modes.loads[k]], axis=1)
                found[k, rows, places.modes : places.inputs] = shown @ (wrenches @ of_modes.multipliers[k].T + push)
    if deformed is not None and n > s:
        _counted_by_modes(found, size, deformed, s, columns, places)
    found[np.abs(found) <= _ROUNDING * size[:, None, :]] = 0.0  # else a fit would follow rounding
    return found


def _counted_by_modes(
    found: Array, size: Array, deformed: Deformation, s: int, columns: list[int], places: EffortPlaces
) -> None:
    """e(r) - Ψ^e K⁻¹ Ψ_δ r, in place; dampings of materials act in the sections as the stiffness does.

    Ψ_δ r is that of the equations of motion, so that what they make of δ is taken off again to the last digit.
    """
    by = found[:, :, places.modes : places.inputs] @ np.linalg.inv(deformed.K)
    found[:, :, columns] -= by @ deformed.loads
    size[:, columns] += (np.abs(by) @ np.abs(deformed.loads)).max(axis=1, initial=0.0)
    d = places.inputs - places.modes
    found[:, :, places.rates + s : places.rates + s + d] += by @ deformed.D


def _rigid_motion(
    rest: ElasticRest, configuration: Configuration, deformed: Deformation | None
) -> tuple[Array, dict[tuple[int, int], LoadPattern]]:
    """Ψ_θ over z (N, s, z), and the inertia of θ̇_j θ̇_k, j <= k, and of θ̇_j δ̇_a, 2 (∂_jψ_a + ω_j × ψ_a)."""
    count, s = configuration.theta.shape
    column = rest.arrays.column
    axes = [2] if len(column) == 3 else [0, 1, 2]
    unit = np.eye(s)

    def moved(rates: Array) -> tuple[Array, Array]:
        found = motion(configuration, np.broadcast_to(rates, (count, s)))
        return found.V[:, :-1], found.dV[:, :-1]

    V = [moved(unit[j])[0] for j in range(s)]
    modes = np.zeros((count, s, rest.size))
    turning = [turning_in_z(rest, body) for body in rest.bodies]
    for j in range(s):
        for b, body in enumerate(rest.bodies):
            modes[:, j, body.start : body.stop] = V[j][:, b][:, column] @ body.rigid.T
    found: dict[tuple[int, int], LoadPattern] = {}
    for j in range(s):
        for k in range(j, s):
            whole = moved(unit[j] + unit[k])[1] - moved(unit[j])[1] - moved(unit[k])[1] if j < k else moved(unit[j])[1]
            acceleration = np.zeros((count, rest.size))
            turned = np.zeros((count, len(axes), rest.size))  # ω_m ż, to be taken by M W_m
            r = np.zeros((count, rest.size))
            for b, body in enumerate(rest.bodies):
                own = slice(body.start, body.stop)
                acceleration[:, own] = whole[:, b][:, column] @ body.rigid.T
                for m, axis in enumerate(axes):
                    way = V[j][:, b, 3 + axis, None] * modes[:, k, own]
                    if j < k:
                        way = way + V[k][:, b, 3 + axis, None] * modes[:, j, own]
                    turned[:, m, own] = way
                    r[:, own] -= way @ turning[b][m].T
            r -= acceleration
            found[j, k] = LoadPattern(r, {}, acceleration, turned)
        for a in range(0 if deformed is None else deformed.K.shape[1]):
            assert deformed is not None
            shape, acceleration = deformed.modes[:, s + a], 2.0 * deformed.slopes[:, j, a]
            turned, r = np.zeros((count, len(axes), rest.size)), -acceleration
            for b, body in enumerate(rest.bodies):
                own = slice(body.start, body.stop)
                for m, axis in enumerate(axes):
                    turned[:, m, own] = 2.0 * V[j][:, b, 3 + axis, None] * shape[:, own]
                    r[:, own] -= turned[:, m, own] @ turning[b][m].T
            found[j, s + a] = LoadPattern(r, {}, acceleration, turned)
    return modes, found


def _patterns(
    rest: ElasticRest,
    configuration: Configuration,
    modes: Array,
    quadratic: dict[tuple[int, int], LoadPattern],
    inputs: NDArray[np.int64],
) -> list[LoadPattern]:
    """Loads at rest, inputs, accelerations, rates, products of rates and dry friction, in the order of a row."""
    X, count = configuration.X, len(configuration.X)
    one = np.ones(count)
    rest_load = np.stack([loads_at(rest, here).vector for here in configuration.each()])
    along = [loads_at(rest, here).along for here in configuration.each()]
    rows = sorted({row for item in along for row in item})
    found = [
        LoadPattern(
            rest_load, {row: np.array([item.get(row, 0.0) for item in along]) for row in rows}, loads=True
        )
    ]  # fmt: skip
    pushed = rows_at(rest, inputs, X)
    found += [LoadPattern(pushed[:, i], {int(row): one}) for i, row in enumerate(inputs)]
    found += [LoadPattern(-modes[:, e], {}, modes[:, e]) for e in range(modes.shape[1])]
    dampers = _dampers(rest, configuration)
    C = rows_at(rest, np.array(list(dampers), dtype=np.int64), X)
    for e in range(modes.shape[1]):
        forces = (
            -np.stack(list(dampers.values()), axis=1) * np.einsum("nrz,nz->nr", C, modes[:, e]) if dampers else None
        )
        acting = {} if forces is None else {row: forces[:, i] for i, row in enumerate(dampers)}
        r = np.zeros((count, rest.size)) if forces is None else np.einsum("nr,nrz->nz", forces, C)
        found.append(LoadPattern(r, acting))
    found += list(quadratic.values())
    rubbing = _friction_rows(rest)
    C = rows_at(rest, np.array(rubbing, dtype=np.int64), X)
    return found + [LoadPattern(-C[:, i], {row: -one}) for i, row in enumerate(rubbing)]


def _dampers(rest: ElasticRest, configuration: Configuration) -> dict[int, Array]:
    """Damping (N,) along measures, and beside the stiffness of elastic joints and drives, by row."""
    arrays, first = carried(configuration.rest).arrays, rest.numbering.constraints
    found = {
        first + measure: np.array([along_measure(arrays, measure, w[measure]).damping for w in configuration.w])
        for measure in range(len(arrays.uses_start) - 1)
    }
    found |= {row: np.full(len(configuration.w), damping) for row, damping in rest.dampers.items()}
    return {row: damping for row, damping in found.items() if damping.any()}


def _friction_rows(rest: ElasticRest) -> list[int]:
    """Rows of the measures with dry friction, in the order of `Carried.dry_forces`."""
    from supple.kinematics.rest import rest as undeformed

    arrays = carried(undeformed(rest.numbering.mechanism)).arrays
    measured = np.repeat(np.arange(len(arrays.uses_start) - 1), np.diff(arrays.uses_start))
    dry = np.flatnonzero(arrays.uses_i[:, ROLE] == DRY)
    order = np.argsort(arrays.uses_i[dry, NUMBER])
    return [rest.numbering.constraints + int(measured[use]) for use in dry[order]]


def _least(rest: ElasticRest, X: Array, every: Array) -> Array:
    """The least multipliers of ideal joints that do the same, moments divided by the extent (N, p, rows)."""
    rows = np.arange(rest.numbering.constraints)
    hard = rows[rest.arrays.compliance[rows] == 0.0]
    found = every.copy()
    if not len(hard):
        return found
    unit = rest.arrays.extent / rest.arrays.rows_f[hard, SCALE]
    C = rows_at(rest, hard, X) * unit[:, None]
    for k in range(len(X)):
        if np.linalg.matrix_rank(C[k], tol=_RANK * np.linalg.norm(C[k], 2)) < len(hard):
            does = C[k].T @ (every[k][:, hard] / unit).T
            found[k][:, hard] = unit * np.linalg.lstsq(C[k].T, does, rcond=_RANK)[0].T
    return found


class _ModeForces(NamedTuple):
    """Of every mode of δ: forces along rows (N, d, rows), and the load k_a over z it is held by (N, d, z)."""

    multipliers: Array
    loads: Array


def _mode_forces(rest: ElasticRest, X: Array, deformed: Deformation, s: int) -> _ModeForces:
    """Λ ψ_a + Cᵀλ_a = k_a: internal modes Σ_b ι_b K_ba, constraint modes none but at their displacements."""
    held = rest.held_and_loaded()
    C = rows_at(rest, held.rows, X)
    shapes = deformed.modes[:, s:]
    d = shapes.shape[1]
    inner = slice(d - deformed.internal, d)
    k = np.zeros_like(shapes)
    k[:, inner] = np.swapaxes(deformed.K[:, inner, inner], 1, 2) @ shapes[:, inner]
    soft = held.compliance > 0.0
    found = np.zeros((len(X), d, len(rest.arrays.rows_i)))
    for i in range(len(X)):
        lam = np.zeros((len(held.rows), d))
        lam[soft] = (C[i, soft] @ shapes[i].T) / held.compliance[soft, None]
        left = k[i].T - rest.arrays.stiffness[:, None] * shapes[i].T - C[i, soft].T @ lam[soft]
        hard = C[i, ~soft]
        size = np.linalg.norm(hard, axis=1)
        lam[~soft] = np.linalg.lstsq((hard / size[:, None]).T, left, rcond=_RANK)[0] / size[:, None]
        found[i][:, held.rows] = -lam.T
    return _ModeForces(found, k)
