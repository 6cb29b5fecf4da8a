"""Damping of elastic parts in time: the Rayleigh model, and the forces of its mass-proportional part.

α of the mechanism acts on all mass (elements, point masses, rigid bodies), and β on all elastic parts (elements,
joints, drives). With locked actuators every mode has the damping ratio α/2ω + βω/2, as in every other analysis. α and β
of a material act on its elements. α acts only on the velocity of deformation, as in reduced models.

A damping ratio of the mechanism's modes, or a loss factor, describes the whole structure at one θ
(docs/theory/damping.md). In large motion the closest model of elements replaces it,

    β = 2 ζ(ω₁)/ω₁,   β = η/ω₁,   β_j = η_j/ω₁                            (docs/theory/superelements-in-motion.md, 13)

It is exact for the lowest mode at rest with locked actuators. Faster modes have more damping, in proportion to their
frequency. A note states the replacement.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.bundle import copy_table
from supple.description.elastic.material import BRAKES, Damping
from supple.description.mechanism import Mechanism
from supple.diagnostics import SuppleNote
from supple.formulations.absolute.beams.beam_forces import beam_momentum
from supple.formulations.absolute.drive_deflections import drive_momentum
from supple.formulations.absolute.frozen_motion import frozen_modes, rigid_field
from supple.formulations.absolute.residual import add_gradient, arm_momentum, push, rate, row_gradients
from supple.formulations.absolute.step_work import LOST, step_work
from supple.formulations.absolute.superelements.superelement_forces import superelement_momentum
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.kinematics.row_arrays import row_sizes

if TYPE_CHECKING:
    from supple.formulations.absolute.system import Absolute


Rayleigh = tuple[float, float]


class TimeDamping(NamedTuple):
    """Damping in time.

    α (1/s) and β (s) of the whole mechanism, α and β of each material, β of joints with a loss factor; remark :
    description of a replaced damping model, or ""
    """

    whole: Rayleigh
    materials: dict[str, Rayleigh]
    remark: str
    joints: Mapping[str, float] = MappingProxyType({})

    def beside(self, joint: str) -> float:
        """Return β of the stiffness of a joint and of its drive, s."""
        return self.whole[1] + self.joints.get(joint, 0.0)

    def of(self, material: str) -> Rayleigh:
        """Return the damping of the elements of a material, without α of the mechanism, which acts on all mass."""
        own = self.materials[material]
        return own[0], self.whole[1] + own[1]


def time_damping(mechanism: Mechanism) -> TimeDamping:
    """Return the damping model in time, computed once."""
    return mechanism.compute_once("damping in time", lambda: _nearest(mechanism))


def mass_damping_factor(mechanism: Mechanism) -> float:
    """Return α of the mechanism, 1/s, for all its mass: elements, point masses and rigid bodies."""
    model = mechanism.damping
    return float(model.rayleigh[0]) if model is not None and model.rayleigh is not None else 0.0


def has_unled_motion(mechanism: Mechanism) -> bool:
    """Return whether the mechanism moves as a whole without coordinates for this motion."""
    position = rest(mechanism)
    return position.mobility.mobility > len(position.numbering.coordinates)


def say_damping(mechanism: Mechanism, rigid: bool, stacklevel: int = 3) -> str:
    """Return the description of a replaced damping model, or "", and issue it as a SuppleNote."""
    found = "" if rigid or not mechanism.elastic else time_damping(mechanism).remark
    if found:
        warnings.warn(f'mechanism "{mechanism.name}": {found}', SuppleNote, stacklevel=stacklevel)
    return found


def _nearest(mechanism: Mechanism) -> TimeDamping:
    given = {"": mechanism.damping, **{name: item.damping for name, item in mechanism.materials.items()}}
    models = {name: model for name, model in given.items() if model is not None}
    losses = {name: float(joint.elastic_loss) for name, joint in mechanism.joints.items() if joint.elastic_loss}
    if not losses and all(model.rayleigh is not None for model in models.values()):
        exact = {name: model.rayleigh or (0.0, 0.0) for name, model in models.items()}
        by_mass = max((alpha for alpha, _ in exact.values()), default=0.0)
        return TimeDamping(
            exact.get("", (0.0, 0.0)),
            {name: exact.get(name, (0.0, 0.0)) for name in mechanism.materials},
            BRAKES.format(by_mass) if by_mass and has_unled_motion(mechanism) else "",
        )
    hertz = _lowest_hz(mechanism)
    found = {name: _at(model, hertz) for name, model in models.items()}
    of_joints = {name: loss / (2.0 * np.pi * hertz) for name, loss in losses.items()}
    beta = max([beta for _, beta in found.values()] + list(of_joints.values()))
    ratio = 100.0 * np.pi * hertz * beta
    remark = (
        f"the damping model is not a sum over elements, so simulation uses stiffness-proportional damping: {ratio:.3g} "
        f"% of critical at the lowest mode ({hertz:.4g} Hz) and more above; write "
        f"damping: {{rayleigh: [0, {beta:.3g}]}} to specify this model"
    )
    return TimeDamping(
        found.get("", (0.0, 0.0)),
        {name: found.get(name, (0.0, 0.0)) for name in mechanism.materials},
        remark,
        of_joints,
    )


def _at(model: Damping, hertz: float) -> Rayleigh:
    """Return the element damping with the same damping ratio at a frequency."""
    if model.rayleigh is not None:
        return model.rayleigh
    ratio = 0.5 * model.structural if model.structural is not None else float(model.ratios(np.array([hertz]))[0])
    return 0.0, ratio / (np.pi * hertz)


def _lowest_hz(mechanism: Mechanism) -> float:
    """Return the lowest frequency of the mechanism at rest with locked actuators."""
    structure = elastic_rest(mechanism, own_band(mechanism))
    squares, _ = dense_modes(structure, assemble(mechanism), structure.list_held_rows(actuators=True), preload=False)
    return float(np.sqrt(squares[squares > 0.0].min())) / (2.0 * np.pi)


# Forces of damping in proportion to mass. They act on the velocity of deformation, as in linear and reduced models.
#
# The velocities of the frames are those of the mechanism with its deformation frozen, moving with θ̇, and the rest:
#
#     v = Ψ θ̇ + ṽ,  θ̇ = C_θ v,  f = -Pᵀ M_α P v,  P = 1 - Ψ C_θ,  M_α = αM + Σ_m α_m M_m     (docs/theory/damping.md, 7)
#
# Ψ are the rigid modes of the mechanism as it stands: each body keeps its present shape, joints are ideal, and drives
# do not yield. M_α ṽ are forces on the frames; Pᵀ adds forces -Ψᵀ M_α ṽ along θ, so that no rigid motion is braked.
# Where a mechanism has no coordinates, Ψ is empty. Of redundant joints, which a deformed body does not fit, Ψ is the
# solution in the sense of least squares.


def deformation_velocity_batch(problem: Absolute, X: Array, V: Array) -> Array:
    """Return P v (N, F, d) at N states, the velocities of deformation; X (N, F + 1, 12), V (N, F, d)."""
    found = np.zeros_like(V)
    states = np.ascontiguousarray(X), np.ascontiguousarray(V)
    compile_kernel(deforming_batch, count=len(X))(problem.system, problem.pattern, *states, found)
    return found


def projection(problem: Absolute, X: Array) -> tuple[Array, Array]:
    """Return Ψ (n, s) and C_θ (s, n) at one state, over the velocities of all frames."""
    system, n = problem.system, (len(X) - 1) * len(problem.system.rows.column)
    s = len(problem.rest.numbering.coordinates)
    Psi, C = np.zeros((n, s)), np.zeros((s, n))
    compile_kernel(projection_at, count=1)(system, problem.pattern, X, Psi, C)
    return Psi, C


@kernel(purpose="velocities of deformation")
def deforming_batch(system, pattern, X_all, V_all, found):
    """Compute P v at every state."""
    work, w = step_work(system, pattern), np.zeros(row_sizes(system.rows).rows)  # gradients know nothing of turns
    own = work.mass_damping
    for n in range(X_all.shape[0]):
        deformation_velocities(system, X_all[n], V_all[n], w, work.gradients, work.term, own)
        copy_table(own.moving, found[n])


@kernel(purpose="rigid motions of a deformed mechanism")
def projection_at(system, pattern, X, Psi, C):
    """Compute Ψ and C_θ at one state."""
    rows, work = system.rows, step_work(system, pattern)
    sizes, own, w = row_sizes(rows), work.mass_damping, np.zeros(row_sizes(rows).rows)
    frozen_modes(system.mass_damping, X, own)
    for j in range(C.shape[0]):
        row_gradients(rows.rows_i, rows.rows_f, rows.column, sizes.joint_rows + j, X, w, work.term, work.gradients)
        add_gradient(rows.rows_i, sizes.joint_rows + j, work.gradients, C[j])
        own.rates[:] = 0.0
        own.rates[j] = 1.0
        rigid_field(system.mass_damping, X, own.Psi, own.rates, own.field)
        for f in range(own.field.shape[0]):
            for c in range(own.field.shape[1]):
                Psi[f * own.field.shape[1] + c, j] = own.field[f, c]


@kernel(inline=True)
def damp_by_mass(damping, system, state, work):
    """Add mass-proportional damping forces to work.forces, if there are any."""
    if damping is not None:
        mass_damping_forces(system, state.X, state.V, state.w, work)


@kernel
def deformation_velocities(system, X, V, w, gradients, term, work):
    """Compute P v in work.moving and Ψ in work.Psi; gradients, term : as in `StepWork`, those of θ are filled."""
    damping, rows = system.mass_damping, system.rows
    joints, moving, rates = row_sizes(rows).joint_rows, work.moving, work.rates
    s = rates.shape[0]
    if s > 0:
        frozen_modes(damping, X, work)
        for j in range(s):
            row_gradients(rows.rows_i, rows.rows_f, rows.column, joints + j, X, w, term, gradients)
            rates[j] = rate(rows.rows_i, joints + j, gradients, V)
        rigid_field(damping, X, work.Psi, rates, moving)
    for f in range(V.shape[0]):
        for c in range(V.shape[1]):
            moving[f, c] = V[f, c] - (moving[f, c] if s > 0 else 0.0)


@kernel
def mass_damping_forces(system, X, V, w, work):
    """Add -Pᵀ M_α P v to work.forces and its power to the account; force models along measures were added before."""
    own, Q, rows, joints = work.mass_damping, work.forces, system.rows, row_sizes(system.rows).joint_rows
    deformation_velocities(system, X, V, w, work.gradients, work.term, own)
    moving, force, field, rates = own.moving, own.force, own.field, own.rates
    momentum(system, X, moving, work, force)
    lost = 0.0
    for f in range(V.shape[0]):
        for c in range(V.shape[1]):
            Q[f, c] -= force[f, c]
            lost += force[f, c] * moving[f, c]
    work.account[LOST] -= lost
    for j in range(rates.shape[0]):
        rates[:] = 0.0
        rates[j] = 1.0
        rigid_field(system.mass_damping, X, own.Psi, rates, field)
        along = 0.0
        for f in range(V.shape[0]):
            for c in range(V.shape[1]):
                along += field[f, c] * force[f, c]
        push(rows.rows_i, joints + j, work.gradients, along, Q)


@kernel(inline=True)
def resist_along_coordinates(damping, system, X, work):
    """Add Ψ_jᵀ M_α Ψ_j to the damping along θ_j in `work`.

    This is the dominant part of Pᵀ M_α P for a coordinate of little inertia. Its coupling with other coordinates is
    omitted from the iteration matrix.
    """
    if damping is not None:
        own, start = work.mass_damping, system.uses_start
        for j in range(own.rates.shape[0]):
            own.rates[:] = 0.0
            own.rates[j] = 1.0
            rigid_field(damping, X, own.Psi, own.rates, own.field)
            momentum(system, X, own.field, work, own.force)
            along = 0.0
            for f in range(own.field.shape[0]):
                for c in range(own.field.shape[1]):
                    along += own.field[f, c] * own.force[f, c]
            work.damping[j] = along + (work.damping[j] if start[j] < start[j + 1] else 0.0)


@kernel
def momentum(system, X, V, work, force):
    """Write M_α v of all masses to force (F, d)."""
    alpha, rows, column = system.mass_damping.alpha, system.rows, system.rows.column
    mass, inertia, sizes = system.mass, system.inertia, row_sizes(system.rows)
    for b in range(V.shape[0]):
        for c in range(V.shape[1]):
            k, total = column[c], 0.0
            if k < 3:
                total = mass[b] * V[b, c]
            else:
                for e in range(V.shape[1]):
                    if column[e] >= 3:
                        total += inertia[b, k - 3, column[e] - 3] * V[b, e]
            force[b, c] = alpha * total
    arm_momentum(system, alpha, X, V, force)
    for measure in range(work.inertia.shape[0]):
        if work.inertia[measure] != 0.0:
            row = sizes.joint_rows + measure
            along = alpha * work.inertia[measure] * rate(rows.rows_i, row, work.gradients, V)
            push(rows.rows_i, row, work.gradients, along, force)
    momentum_of_drives(system.drives, alpha, V, force)
    momentum_of_beams(system.beams, alpha, X, V, force)
    momentum_of_superelements(system.superelements, alpha, column, X, V, force)


@kernel(inline=True)
def momentum_of_drives(drives, alpha, V, force):
    """Add the momentum of drives to force."""
    if drives is not None:
        drive_momentum(drives, alpha, V, force)


@kernel(inline=True)
def momentum_of_beams(beams, alpha, X, V, force):
    """Add the momentum of beams to force."""
    if beams is not None:
        beam_momentum(beams, alpha, X, V, force)


@kernel(inline=True)
def momentum_of_superelements(superelements, alpha, column, X, V, force):
    """Add the momentum of superelements to force."""
    if superelements is not None:
        superelement_momentum(superelements, alpha, column, X, V, force)
