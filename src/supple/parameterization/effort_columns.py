"""Internal forces of a mechanism at positions θ, as rows of coefficients (docs/theory/outputs.md, eqs. 5-12).

A load r over z, with θ locked, is balanced by

    Λ z + Cᵀλ = r,    C z = diag(c) λ

and internal forces, e(r), follow from λ and from the loads on the part that is cut off. With δ among the coordinates,
the part of r that deforms the modes, K δ = Ψ_δ r, is represented by δ itself:

    e = Ψ^e δ + e(r) - Ψ^e K⁻¹ Ψ_δ r,    Λ ψ_a + Cᵀλ_a = k_a

for r of gravity and other loads, of inputs, of inertia -(z̈ + ω × ż), of dampers and of dry friction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.threads import single_blas_thread
from supple.description.mechanism import GROUND
from supple.equations.row import EffortPlaces, effort_places
from supple.formulations.coefficients import along_measure, dry_measures, get_coefficients
from supple.formulations.efforts import inside, section_of
from supple.formulations.elastic.cut import Cut, cut_at
from supple.formulations.elastic_rest.body_coordinates import BodyCoordinates
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import ElasticRest
from supple.formulations.elastic_rest.geometric_stiffness_at_rest import compute_turning, row_scales
from supple.formulations.elastic_rest.loads import Loads, input_rows, loads_at
from supple.formulations.elastic_rest.rows import BODY, part_poses
from supple.formulations.elastic_rest.static_response import static_response
from supple.geometry.rotation import tilde
from supple.kinematics.configuration import Configuration
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.motion import motion
from supple.kinematics.primitives import PA, PB, SCALE, A, B, gradient

_RANK = 1e-10
_ROUNDING = 1e-10  # relative error of cancelling terms: modes are accurate to 1e-12, their differences to less


class DeformationModes(NamedTuple):
    """Modes of η over z (N, n, z), and of δ: ∂ψ/∂θ (N, s, d, z), K and the material damping D (N, d, d).

    loads    : Ψ_δ r (N, d, patterns) as in the equations of motion, for every load in the order of `_patterns`
    internal : number of internal modes in δ
    """

    modes: Array
    slopes: Array
    K: Array
    D: Array
    loads: Array
    internal: int


@single_blas_thread()
def effort_columns(rest: ElasticRest, configuration: Configuration, deformed: DeformationModes | None = None) -> Array:
    """Return the columns (N, efforts, width) at a batch of configurations; deformed : modes of a flexible model."""
    numbering, X = rest.numbering, configuration.X
    count, s = len(X), len(numbering.coordinates)
    modes, quadratic = _rigid_motion(rest, configuration, deformed)
    if deformed is not None:
        modes = deformed.modes
    n, load = modes.shape[1], get_coefficients(configuration.rest)
    inputs = input_rows(rest)
    places = effort_places(n, s, len(inputs), len(load.dry_forces))
    patterns = _patterns(rest, configuration, modes, quadratic, inputs)
    forces = np.stack([item.r for item in patterns], axis=1)
    _, every = static_response(rest, X, forces)
    multipliers = -_least(rest, X, every)
    watched = effort_sensors(rest)
    found = np.zeros((count, len(load.efforts), places.width))
    size = np.zeros((count, places.width))  # magnitude of a column without cancellation
    columns = [0, *range(places.inputs, places.width)]  # of the patterns; those of the modes are separate
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
        _subtract_mode_efforts(found, size, deformed, s, columns, places)
    found[np.abs(found) <= _ROUNDING * size[:, None, :]] = 0.0  # otherwise a fit would follow rounding
    return found


def _subtract_mode_efforts(
    found: Array, size: Array, deformed: DeformationModes, s: int, columns: list[int], places: EffortPlaces
) -> None:
    """Subtract Ψ^e K⁻¹ Ψ_δ r from e(r), in place; material damping acts in the sections as the stiffness does.

    Ψ_δ r is that of the equations of motion, so that their contribution through δ cancels to the last digit.
    """
    by = found[:, :, places.modes : places.inputs] @ np.linalg.inv(deformed.K)
    found[:, :, columns] -= by @ deformed.loads
    size[:, columns] += (np.abs(by) @ np.abs(deformed.loads)).max(axis=1, initial=0.0)
    d = places.inputs - places.modes
    found[:, :, places.rates + s : places.rates + s + d] += by @ deformed.D


def _rigid_motion(
    rest: ElasticRest, configuration: Configuration, deformed: DeformationModes | None
) -> tuple[Array, dict[tuple[int, int], LoadPattern]]:
    """Return Ψ_θ over z (N, s, z), and the inertia of θ̇_j θ̇_k, j <= k, and of θ̇_j δ̇_a, 2 (∂_jψ_a + ω_j × ψ_a)."""
    count, s = configuration.theta.shape
    column = rest.arrays.column
    axes = [2] if len(column) == 3 else [0, 1, 2]
    unit = np.eye(s)

    def move(rates: Array) -> tuple[Array, Array]:
        found = motion(configuration, np.broadcast_to(rates, (count, s)))
        return found.V[:, :-1], found.dV[:, :-1]

    V = [move(unit[j])[0] for j in range(s)]
    modes = np.zeros((count, s, rest.size))
    turning = [compute_turning(rest, body) for body in rest.bodies]
    for j in range(s):
        for b, body in enumerate(rest.bodies):
            modes[:, j, body.start : body.stop] = V[j][:, b][:, column] @ body.rigid.T
    found: dict[tuple[int, int], LoadPattern] = {}
    for j in range(s):
        for k in range(j, s):
            whole = move(unit[j] + unit[k])[1] - move(unit[j])[1] - move(unit[k])[1] if j < k else move(unit[j])[1]
            acceleration = np.zeros((count, rest.size))
            turned = np.zeros((count, len(axes), rest.size))  # ω_m ż, to be multiplied by M W_m
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
    """Return loads at rest, inputs, accelerations, rates, products of rates and dry friction, in the order of a row."""
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
    pushed = rows_over_coordinates(rest, inputs, X)
    found += [LoadPattern(pushed[:, i], {int(row): one}) for i, row in enumerate(inputs)]
    found += [LoadPattern(-modes[:, e], {}, modes[:, e]) for e in range(modes.shape[1])]
    dampers = _dampers(rest, configuration)
    C = rows_over_coordinates(rest, np.array(list(dampers), dtype=np.int64), X)
    for e in range(modes.shape[1]):
        forces = (
            -np.stack(list(dampers.values()), axis=1) * np.einsum("nrz,nz->nr", C, modes[:, e]) if dampers else None
        )
        acting = {} if forces is None else {row: forces[:, i] for i, row in enumerate(dampers)}
        r = np.zeros((count, rest.size)) if forces is None else np.einsum("nr,nrz->nz", forces, C)
        found.append(LoadPattern(r, acting))
    found += list(quadratic.values())
    rubbing = _friction_rows(rest)
    C = rows_over_coordinates(rest, np.array(rubbing, dtype=np.int64), X)
    return found + [LoadPattern(-C[:, i], {row: -one}) for i, row in enumerate(rubbing)]


def _dampers(rest: ElasticRest, configuration: Configuration) -> dict[int, Array]:
    """Return the damping (N,) along measures, and parallel to the stiffness of elastic joints and drives, by row."""
    arrays, first = get_coefficients(configuration.rest).arrays, rest.numbering.constraints
    found = {
        first + measure: np.array([along_measure(arrays, measure, w[measure]).damping for w in configuration.w])
        for measure in range(len(arrays.uses_start) - 1)
    }
    found |= {row: np.full(len(configuration.w), damping) for row, damping in rest.dampers.items()}
    return {row: damping for row, damping in found.items() if damping.any()}


def _friction_rows(rest: ElasticRest) -> list[int]:
    """Return the rows of the measures with dry friction, in the order of `Carried.dry_forces`."""
    from supple.kinematics.rest import rest as undeformed

    arrays = get_coefficients(undeformed(rest.numbering.mechanism)).arrays
    return [rest.numbering.constraints + measure for measure in dry_measures(arrays)]


def _least(rest: ElasticRest, X: Array, every: Array) -> Array:
    """Return the least-norm multipliers of ideal joints with the same effect (N, p, rows), moments over the extent."""
    rows = np.arange(rest.numbering.constraints)
    hard = rows[rest.arrays.compliance[rows] == 0.0]
    found = every.copy()
    if not len(hard):
        return found
    unit = rest.arrays.extent / rest.arrays.rows_f[hard, SCALE]
    C = rows_over_coordinates(rest, hard, X) * unit[:, None]
    for k in range(len(X)):
        if np.linalg.matrix_rank(C[k], tol=_RANK * np.linalg.norm(C[k], 2)) < len(hard):
            does = C[k].T @ (every[k][:, hard] / unit).T
            found[k][:, hard] = unit * np.linalg.lstsq(C[k].T, does, rcond=_RANK)[0].T
    return found


class _ModeForces(NamedTuple):
    """Forces of every mode of δ along rows (N, d, rows), and the load k_a over z that holds it (N, d, z)."""

    multipliers: Array
    loads: Array


def _mode_forces(rest: ElasticRest, X: Array, deformed: DeformationModes, s: int) -> _ModeForces:
    """Solve Λ ψ_a + Cᵀλ_a = k_a for the modes of δ.

    Internal modes have k_a = Σ_b ι_b K_ba, constraint modes forces only at their displacements.
    """
    held = rest.list_loaded_rows()
    C = rows_over_coordinates(rest, held.rows, X)
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


# Wrenches on the part of a mechanism that a force sensor cuts off.
#
# Wrenches of joint rows, of loads and of inertia on that part are summed about the sensor and transformed to its axes
# (docs/theory/outputs.md, eqs. 5-12).


class LoadPattern(NamedTuple):
    """A load of a mechanism at N configurations.

    r       : (N, z) load over z
    along   : forces (N,) along rows, by row
    inertia : (N, z) accelerations of z
    turned  : (N, axes, z) velocities times rotations of their body
    loads   : whether it is the load of all forces at rest
    """

    r: Array
    along: dict[int, Array]
    inertia: Array | None = None
    turned: Array | None = None
    loads: bool = False


class EffortSensor(NamedTuple):
    """One force sensor: the body it cuts off, the ends of terms on that side, and its cut, if it is a section."""

    sensor: str
    body: int
    ends: tuple[tuple[int, int, int], ...]  # row, term, side
    cut: Cut | None
    components: tuple[int, ...]
    place: Array  # of a joint, on its second body


def effort_sensors(rest: ElasticRest) -> list[EffortSensor]:
    """Return all sensors of internal forces, computed once."""
    mechanism = rest.numbering.mechanism
    names = dict.fromkeys(item.sensor for item in inside(rest.numbering.drawing).efforts)
    key = f"watched {rest.band} {tuple(rest.displacements)} {rest.elastic}"
    return mechanism.compute_once(key, lambda: [_effort_sensor(rest, name) for name in names])


def _effort_sensor(rest: ElasticRest, sensor: str) -> EffortSensor:
    """Return the body, the ends of terms and the cut of a sensor."""
    numbering, arrays = rest.numbering, rest.arrays
    described = numbering.mechanism.sensors[sensor]
    efforts = inside(numbering.drawing).efforts
    components = tuple(item.component for item in efforts if item.sensor == sensor)
    if described.record.inside == "reaction":
        names = numbering.mechanism.joints[described.kind_value].bodies
        body = numbering.body_index(names[1] if names[1] != GROUND else names[0])
        chosen = range(
            numbering.joint_rows[described.kind_value].start, numbering.joint_rows[described.kind_value].stop
        )
        place = joint_frames(numbering.drawing, described.kind_value).pb
        return EffortSensor(sensor, body, _ends(rest, chosen, body, None), None, components, place)
    section = section_of(numbering.drawing, sensor)
    cut, body = cut_at(numbering, section, sensor), numbering.body_index(section.body)
    heads = range(len(arrays.rows_i))
    return EffortSensor(sensor, body, _ends(rest, heads, body, cut), cut, components, section.position)


def _ends(rest: ElasticRest, rows: range, body: int, cut: Cut | None) -> tuple[tuple[int, int, int], ...]:
    """Return row, term and side of all forces on a body, or on the side of a cut."""
    arrays, found = rest.arrays, []
    further = {term for row in range(len(arrays.rows_i)) for term in rest.terms(row)[1:]}
    for row in rows:
        if row in further:
            continue
        for term in rest.terms(row):
            for side, at in ((0, PA), (1, PB)):
                part = int(arrays.rows_i[term, (A, B)[side]])
                if part == len(arrays.part_i) or arrays.part_i[part, BODY] != body:
                    continue
                place = arrays.part_x[part] + arrays.rows_f[term, at : at + 3]
                if cut is None or cut.mesh.node_at(place) in cut.nodes:
                    found.append((row, term, side))
    return tuple(found)


def row_wrenches(rest: ElasticRest, X: Array, watched: list[EffortSensor]) -> list[Array]:
    """Return the wrench about the body's origin, in its axes, of a unit force along every row: (6, rows) per sensor."""
    arrays = rest.arrays
    poses, g = np.empty((len(arrays.part_i) + 1, 12)), np.empty(13)
    compile_kernel(part_poses, count=1)(arrays, X, poses)
    run = compile_kernel(gradient, count=1)
    known: dict[int, Array] = {}
    found, scales = [], row_scales(rest, X)
    for item in watched:
        pull = np.zeros((6, len(arrays.rows_i)))
        for row, term, side in item.ends:
            if term not in known:
                run(arrays.rows_i, arrays.rows_f, term, poses, g)
                known[term] = g.copy()
            force, moment = known[term][1 + 6 * side : 4 + 6 * side], known[term][4 + 6 * side : 7 + 6 * side]
            place = arrays.part_x[int(arrays.rows_i[term, (A, B)[side]])]
            pull[:3, row] += force
            pull[3:, row] += moment + np.cross(place, force)
        found.append(pull * scales)
    return found


def direct_wrenches(
    rest: ElasticRest, here: Configuration, item: EffortSensor, pattern: LoadPattern, loads: Loads, k: int
) -> Array:
    """Return the wrench (6,) on the side of a cut besides rows: weight, forces at points, inertia."""
    found = np.zeros(6)
    if item.cut is None:
        return found
    if pattern.loads:
        down = here.X[item.body, 3:].reshape(3, 3).T @ loads.gravity
        T = item.cut.mesh.rigid_motions()
        translations = 2 if item.cut.mesh.width == 3 else 3
        found += item.cut.mass @ (T[:, :translations] @ down[:translations])
        for push in loads.nodal:
            if push.body != item.body:
                continue
            place = push.arm if rest.bodies[item.body].mesh is None else item.cut.mesh.nodes[push.node] + push.arm
            if item.cut.mesh.node_at(place) in item.cut.nodes:
                found += np.concatenate([push.force, push.moment + np.cross(place, push.force)])
    if pattern.inertia is not None:
        found -= inertia_wrench(rest, item, pattern.inertia[k])
        if pattern.turned is not None:
            of_body = rest.bodies[item.body]
            for m, turning in enumerate(item.cut.turning):
                found -= turning @ _nodes(item.cut, of_body, pattern.turned[k, m])
    return found


def inertia_wrench(rest: ElasticRest, item: EffortSensor, acceleration: Array) -> Array:
    """Return force and moment (6,) of the side's mass for accelerations of z; none for a joint."""
    if item.cut is None:
        return np.zeros(6)
    return np.asarray(item.cut.mass @ _nodes(item.cut, rest.bodies[item.body], acceleration))


def _nodes(cut: Cut, body: BodyCoordinates, z: Array) -> Array:
    """Return displacements of the mesh of a body, which may be treated as rigid."""
    own = z[body.start : body.stop]
    return np.asarray(body.shapes @ own if body.mesh is not None else cut.mesh.rigid_motions() @ (body.shapes @ own))


def to_sensor(rest: ElasticRest, here: Configuration, item: EffortSensor) -> Array:
    """Return the matrix (6, 6) from a wrench about the body's origin in its axes to the sensor's outputs."""
    if item.cut is not None:
        return item.cut.to_section
    numbering = rest.numbering
    described = numbering.mechanism.sensors[item.sensor]
    first, second = (numbering.body_index(name) for name in numbering.mechanism.joints[described.kind_value].bodies)
    R = here.X[item.body, 3:].reshape(3, 3)
    place, sign = item.place, 1.0
    if item.body == first and second == len(numbering.bodies):  # on the ground: the reaction to the first
        place, sign = R.T @ (item.place - here.X[first, :3]), -1.0
    about = np.eye(6)
    about[3:, :3] = -tilde(place)
    own = described.own_axes and second != len(numbering.bodies)
    return sign * np.kron(np.eye(2), np.eye(3) if own else R) @ about
