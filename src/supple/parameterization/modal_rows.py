"""Rows of coefficients of a flexible mechanism at configurations, and its modes there."""

from __future__ import annotations

from typing import Literal

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.threads import in_parts, single_blas_thread
from supple.equations.equations_of_motion import christoffel
from supple.equations.row import RowLayout, local_layout
from supple.formulations.coefficients import get_coefficients
from supple.formulations.elastic_rest.constrained_modes import searched_modes, warn_beyond_tables
from supple.formulations.elastic_rest.damping_model import dissipation, equivalent, joint_losses, materials_over_z
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest
from supple.parameterization.effort_columns import DeformationModes, effort_columns
from supple.parameterization.internal_modes import DONE, SINGULAR, SPARE
from supple.parameterization.modal_coefficients import ModalRows, Positions, modal_coefficients
from supple.parameterization.modal_parameterization import ModalParameterization
from supple.parameterization.mode_tracking import reference_modes
from supple.parameterization.rest_loads import add_rest_loads, is_loaded
from supple.parameterization.rigid_rows import coordinate_steps, rigid_rows
from supple.parameterization.rigid_rows import rigid_layout as rigid_layout_of
from supple.parameterization.second_order import second_order

Loads = Literal["slopes", "values", "none"]


@single_blas_thread()
def modal_rows(
    configuration: Configuration, system: ModalParameterization, *, efforts: bool = True, loads: Loads = "slopes"
) -> ModalRows:
    """Return the rows and modes; a row depends on its own configuration alone, whatever the rest of the batch.

    efforts : include internal forces; otherwise they are zero
    loads   : "slopes" has the geometric stiffness of the loads at rest in K and ∂K/∂θ; "values" in K alone, for callers
              that compute ∂K/∂θ from K at many θ; "none" in neither, for callers that need the modes. `stiffening` has
              both
    """
    position, configuration = configuration.rest, configuration.batch
    given, regular = rigid_rows(configuration, efforts=False)
    rigid = rigid_layout_of(position.numbering, get_coefficients(position))
    layout = modal_layout(system)
    X, w = configuration.X, configuration.w
    warn_beyond_tables(system.rest, X)
    s = len(position.numbering.coordinates)
    with_slopes = system.choice.stiffening or (loads == "slopes" and is_loaded(system))
    results = ModalRows(
        np.empty((len(X), layout.width)),
        np.empty((len(X), len(system.coordinates), system.rest.size)),
        np.empty(len(X), dtype=np.int64),
        np.zeros((len(X) if with_slopes else 0, s, len(system.coordinates), system.rest.size)),
    )
    references = (system.stresses if system.choice.tracking == "strain" else system.reference)[None]
    if system.choice.tracking == "modes":
        references = reference_modes(system, configuration)
    count = min(len(system.arrays.search.start), system.choice.internal + SPARE) if system.choice.internal else 0
    squares, shapes, number = searched_modes(system.rest, system.arrays.held, system.arrays.search, X, count)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        compile_kernel(modal_coefficients, count=stop - start)(
            position.numbering.arrays,
            position.selected,
            system.arrays,
            Positions(
                X[piece],
                w[piece],
                given[piece],
                rigid.offsets,
                references if len(references) == 1 else references[piece],
                squares[piece],
                shapes[piece],
                number[piece],
            ),
            layout.offsets,
            ModalRows(results.rows[piece], results.modes[piece], results.status[piece], results.slopes[piece]),
        )

    in_parts(part, len(X), least=8)
    results.status[regular == 0] = SINGULAR
    results.modes[results.status != DONE] = 0.0
    parts = layout.split(results.rows)
    before = parts["damping"].copy()
    _add_damping(system, parts, results.modes, X)
    if efforts and get_coefficients(position).efforts and (results.status == DONE).any():
        _add_efforts(system, configuration, results, parts, parts["damping"] - before)
    if system.choice.stiffening:
        stiffen(system, configuration, layout, results)
    elif loads != "none" and is_loaded(system):
        add_rest_loads(system, configuration, layout, results, slopes=loads == "slopes")
    return results


def _add_efforts(
    system: ModalParameterization, configuration: Configuration, found: ModalRows, parts: dict[str, Array], D: Array
) -> None:
    """Add the internal forces, in place; D (N, n, n) : material part of the damping."""
    s, which = len(system.rest.numbering.coordinates), np.flatnonzero(found.status == DONE)
    here = configuration.part(which)
    size, slopes = coordinate_steps(here), np.zeros((len(which), s, *found.modes[which, s:].shape[1:]))
    for j in range(s):
        for step in (-1.0, 1.0):
            moved = assemble(here.mechanism, here.theta + step * size[j] * np.eye(s)[j])
            slopes[:, j] += step / (2.0 * size[j]) * modal_rows(moved, system, efforts=False, loads="none").modes[:, s:]
    n, of = parts["M"].shape[1], {name: part[which] for name, part in parts.items()}
    pairs = [(j, k) for j in range(s) for k in range(j, n)]
    turning = [(1.0 + (j < k)) * of["christoffel"][:, s:, j, k] for j, k in pairs]
    loads = np.concatenate(
        [
            of["force"][:, s:, None], of["input_map"][:, s:], -of["M"][:, s:], D[which, s:] - of["damping"][:, s:],
            -np.stack(turning, axis=-1), -np.swapaxes(of["friction_map"][..., s:], 1, 2),
        ],
        axis=2,
    )  # fmt: skip
    deformed = DeformationModes(
        found.modes[which], slopes, of["K"][:, s:, s:], D[which, s:, s:], loads, system.choice.internal
    )
    parts["efforts"][which] = effort_columns(system.rest, here, deformed)


def modal_layout(system: ModalParameterization) -> RowLayout:
    """Return the layout of the coefficients in a row."""
    return system.rest.numbering.mechanism.compute_once(f"layout {system.choice}", lambda: _layout(system))


def _layout(system: ModalParameterization) -> RowLayout:
    numbering = system.rest.numbering
    load = get_coefficients(rest(numbering.mechanism))
    return local_layout(
        len(system.coordinates),
        len(numbering.coordinates),
        len(numbering.mechanism.actuators) + len(system.choice.constraint),
        len(load.measured),
        len(load.dry_forces),
        system.choice.internal,
        curved=system.choice.stiffening,
        efforts=len(load.efforts),
    )


def _add_damping(system: ModalParameterization, parts: dict[str, Array], modes: Array, X: Array) -> None:
    """Add D_δδ of the damping of the mechanism, its materials and joints, in place; D(H) for hysteretic damping."""
    s = len(system.rest.numbering.coordinates)
    damping = system.rest.numbering.mechanism.damping
    materials = system.rest.numbering.mechanism.compute_once(
        f"damping of materials {system.rest.band} {system.choice.constraint}", lambda: materials_over_z(system.rest)
    )
    if damping is None and materials is None and not system.rest.losses:
        return
    M, K, D = (parts[name][..., s:, s:] for name in ("M", "K", "damping"))
    shapes = modes[:, s:]
    of_joints = joint_losses(system.rest, X, shapes)
    found = dissipation(damping, M, K, None if materials is None else materials.over(shapes), of_joints)
    D += found.viscous + equivalent(found.hysteretic, M, K)


# Rows of local models with terms of second order in δ: K_g in K, H_i in ∂M/∂δ, and ∂²M_θθ/∂δ².
#
# The damping model has been applied before: loads do not damp.


def stiffen(system: ModalParameterization, configuration: Configuration, layout: RowLayout, results: ModalRows) -> None:
    """Add the terms of second order to all rows, in place; results.slopes holds ∂Ψ."""
    s = len(system.rest.numbering.coordinates)
    parts = layout.split(results.rows)
    for p, here in enumerate(configuration.each()):
        if results.status[p] != DONE:
            continue
        found = second_order(system.rest, here, results.modes[p], results.slopes[p])
        if found is None:
            results.status[p] = SINGULAR
            continue
        parts["K"][p, s:, s:] += found.stiffness
        parts["stiffness_slope"][p] += found.stiffness_slope
        parts["dM"][p, :, :, s:] += found.slope
        parts["christoffel"][p] = christoffel(parts["dM"][p])
        parts["mass_curvature"][p] = found.curvature
