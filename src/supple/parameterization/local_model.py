"""The local model: the equations of motion of a mechanism in η = (θ, δ), at one configuration or a batch.

M(θ) η̈ + Γ(θ)[η̇, η̇] + D_d(θ) η̇ + K(θ) η = p + B(θ) u,    y = ρ_o(θ) + Ψ_o(θ) δ

A rigid mechanism has no δ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.description.mechanism import Mechanism
from supple.description.rigid_parts import require_rigid_alone, taken_as_rigid
from supple.diagnostics import InputError, NumericalError
from supple.equations.row import RowLayout
from supple.formulations.coefficients import carried
from supple.formulations.measured_units import model_units
from supple.kinematics.closure import assemble, locked_coordinates
from supple.kinematics.configuration import At, Configuration, coordinate_values
from supple.kinematics.numbering import Numbering
from supple.parameterization.basis import basis_of
from supple.parameterization.elastic_modes import DONE, SINGULAR, TOO_FEW
from supple.parameterization.modal_parameterization import ModalParameterization, modal_parameterization
from supple.parameterization.modal_rows import layout_of, modal_rows
from supple.parameterization.mode_choice import RIGID, ModeChoice
from supple.parameterization.rigid_rows import layout_of as rigid_layout_of
from supple.parameterization.rigid_rows import rigid_rows
from supple.results.basis import Basis
from supple.results.coefficient_table import coefficient_arrays, coefficient_summary, coefficient_table
from supple.results.result import Result, bundle
from supple.results.table import Table
from supple.results.units import Units

Array = NDArray[np.float64]


class Output(NamedTuple):
    """One output y = ρ_o(θ) + Ψ_o(θ) δ.

    value : ρ_o; rigid : ∂ρ_o/∂θ (..., s); modes : Ψ_o (..., n - s), none for a rigid mechanism;
    bend  : ∂²ρ_o/∂θ² (..., s, s); modes_slope : ∂Ψ_o/∂θ (..., n - s, s). At δ = 0
    ÿ = rigid θ̈ + modes δ̈ + θ̇ᵀ bend θ̇ + 2 δ̇ᵀ modes_slope θ̇.
    """

    value: Array
    rigid: Array
    modes: Array
    bend: Array
    modes_slope: Array

    def __repr__(self) -> str:
        return bundle(self)


@dataclass(frozen=True, eq=False, repr=False)
class LocalModel(Result):
    """Coefficients of the equations of motion at θ and δ = 0, for n coordinates η = (θ, δ), s of them θ. In a batch
    every array has a leading axis (N, ...).

    M           : (n, n) mass matrix (the papers' H)
    dM          : (n, n, n), dM[i, j, k] = ∂M_ij/∂η_k
    christoffel : (n, n, n) Γ, symmetric in its last two indices (the papers' D)
    K           : (n, n) stiffness of the modes, zero rows for θ; dK : (n, n, s) ∂K/∂θ, None for a rigid mechanism
    damping     : (n, n) D_d of dampers, viscous friction, and of the mechanism's law of damping
    force       : (n,) p of gravity, springs and applied forces; dforce : (n, n) ∂p_j/∂η_k
    potential   : V of gravity, springs, constant forces along coordinates and in fixed directions
    input_map   : (n, inputs) B, transpose of the transmission matrix: actuators, then forces at loaded displacements
    friction_map: (f, n) J_j of joints with dry friction f_j in `dry_forces`: p_dry = -J_jᵀ f_j sgn(J_j η̇)
    ddamping, dinput_map, dfriction_map : their gradients, ∂/∂θ_k in a last axis (without the law of damping)
    squares     : ω² of internal modes; overlap : their smallest with the reference, None for a rigid mechanism
    modes       : (n, z) Ψ in the coordinates of `system.rest`
    rigid       : names of the elastic parts that are taken as rigid
    """

    configuration: Configuration
    coordinates: tuple[str, ...]
    inputs: tuple[str, ...]
    M: Array
    dM: Array
    christoffel: Array
    K: Array
    damping: Array
    potential: Array
    force: Array
    dforce: Array
    input_map: Array
    outputs: dict[str, Output]
    friction_map: Array
    dry_forces: dict[str, float]
    ddamping: Array
    dinput_map: Array
    dfriction_map: Array
    dK: Array | None = None
    squares: Array | None = field(default=None, repr=False)
    overlap: Array | None = field(default=None, repr=False)
    system: ModalParameterization | None = field(default=None, repr=False)
    modes: Array | None = field(default=None, repr=False)
    rigid: tuple[str, ...] = ()

    def summary(self) -> str:
        return f"of {self.configuration!r}, {coefficient_summary(self)}"

    def table(self) -> Table:
        """[M K p B], a row for each coordinate; of one configuration."""
        return coefficient_table(self)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return coefficient_arrays(self)

    @property
    def units(self) -> Units:
        """Of coordinates, inputs and outputs."""
        internal = self.internal_hz.shape[-1]
        return model_units(self.configuration.rest, self.coordinates, self.inputs, tuple(self.outputs), internal)

    @property
    def theta(self) -> Array:
        return self.configuration.theta

    @property
    def basis(self) -> Basis | None:
        """What δ is counted in."""
        return None if self.system is None else basis_of(self.configuration.mechanism, self.system.choice)

    @property
    def singularity(self) -> Array:
        return self.configuration.singularity

    @property
    def internal_hz(self) -> Array:
        """Frequencies of the internal modes, rising unless they are followed one by one; none if it is rigid."""
        if self.squares is None:
            return np.zeros((*self.theta.shape[:-1], 0))
        return np.sqrt(np.maximum(self.squares, 0.0)) / (2.0 * np.pi)

    def displacements(self, body: str, delta: ArrayLike) -> Array:
        """Displacements u = Ψ_δ δ of all degrees of freedom of a body's nodes, in its axes: (..., degrees).

        With the configuration's pose of the body, node i is at x_b + R_b (X_i + u_i): the motion of every node.
        """
        if self.system is None or self.modes is None:
            raise InputError(f'body "{body}" is taken as rigid', hint="ask for constraint or internal modes")
        found = self.system.rest.bodies[self.system.rest.numbering.body_index(body)]
        s = self.theta.shape[-1]
        z = np.einsum("...a,...az->...z", np.asarray(delta, float), self.modes[..., s:, found.start : found.stop])
        return z @ found.shapes.T

    def inertia_forces(self, rates: Array, accelerations: Array) -> Array:
        """M θ̈ + Γ[θ̇, θ̇]."""
        return np.einsum("...ij,...j->...i", self.M, accelerations) + np.einsum(
            "...ijk,...j,...k->...i", self.christoffel, rates, rates
        )


def local(
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    constraint_modes: Sequence[str] = (),
    internal_modes: int = 0,
    tracking: str = "none",
    germ: At = None,
    rigid: bool = False,
) -> LocalModel:
    """The equations of motion at θ, with exact derivatives.

    at               : a Configuration, or anything `assemble` takes; (N, s) gives a batch
    constraint_modes : displacements, `place.axis`, that become coordinates γ of a flexible mechanism
    internal_modes   : how many internal modes ι to keep; without either, elastic parts are taken as rigid
    rigid            : that is meant, and nothing is said of it; `LocalModel.rigid` names them all the same
    tracking, germ   : "none" sorts internal modes by frequency, the largest displacement of each positive;
                       "subspace" turns them to those of the germ (the rest if left out), see `ModeChoice`
    """
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    choice = mode_choice(mechanism, constraint_modes, internal_modes, tracking, germ)
    require_rigid_alone(rigid, choice.flexible)
    single = configuration.X.ndim == 2
    if not choice.flexible:
        _require_coordinates(configuration.rest.numbering)
        names = taken_as_rigid(mechanism, rigid, "keep modes of deformation (internal_modes)")
        rows, regular = rigid_rows(configuration)
        _require_regular(configuration, regular)
        parts = row_layout(configuration, choice).split(rows[0] if single else rows)
        return _model(configuration, parts, None, None, names)
    _require_coordinates(configuration.rest.numbering)
    system = modal_parameterization(mechanism, choice)
    found = modal_rows(configuration, system)
    _require_regular(configuration, (found.status != SINGULAR).astype(np.int64))
    _require_modes(configuration, system, found.status)
    parts = layout_of(system).split(found.rows[0] if single else found.rows)
    return _model(configuration, parts, system, found.modes[0] if single else found.modes)


def mode_choice(
    mechanism: Mechanism, constraint: Sequence[str], internal: int, tracking: str, germ: At = None
) -> ModeChoice:
    """What was asked, with θ of the germ as numbers."""
    theta = None if germ is None else tuple(coordinate_values(mechanism, germ).tolist())
    return ModeChoice(tuple(constraint), internal, tracking, theta)


def coefficient_rows(configuration: Configuration, choice: ModeChoice = RIGID) -> tuple[Array, NDArray[np.int64]]:
    """All coefficients at each configuration in one row, (N, width) as `row_layout` says, and where they exist (N,).

    A row depends on its own configuration alone, bit for bit, whatever stands beside it in the batch.
    """
    _require_coordinates(configuration.rest.numbering)
    if not choice.flexible:
        return rigid_rows(configuration)
    found = modal_rows(configuration, modal_parameterization(configuration.mechanism, choice))
    return found.rows, (found.status == DONE).astype(np.int64)


def row_layout(configuration: Configuration, choice: ModeChoice = RIGID) -> RowLayout:
    """Where each coefficient stands in a row."""
    if choice.flexible:
        return layout_of(modal_parameterization(configuration.mechanism, choice))
    return rigid_layout_of(configuration.rest.numbering, carried(configuration.rest))


def _model(
    configuration: Configuration,
    parts: dict[str, Array],
    system: ModalParameterization | None,
    modes: Array | None,
    rigid: tuple[str, ...] = (),
) -> LocalModel:
    numbering = configuration.rest.numbering
    load = carried(configuration.rest)
    s, n = len(numbering.coordinates), parts["M"].shape[-1]
    outputs = {
        name: Output(
            parts["outputs"][..., i],
            parts["rigid"][..., i, :],
            parts["modes"][..., i, :],
            parts["bend"][..., i, :, :],
            parts["modes_slope"][..., i, :, :],
        )
        for i, name in enumerate(load.outputs)
    }
    dforce, dK = parts["dforce_theta"], None
    if n > s:
        dforce = np.zeros_like(parts["M"])
        dforce[..., :s, :s], dforce[..., :s, s:] = parts["dforce_theta"], parts["force_slope"]
        dforce[..., s:, :s] = np.swapaxes(parts["force_slope"], -1, -2)
        dK = np.zeros((*dforce.shape, s))
        dK[..., s:, s:, :] = np.moveaxis(parts["stiffness_slope"], -3, -1)
    loaded = () if system is None else system.choice.constraint
    return LocalModel(
        configuration,
        numbering.coordinates if system is None else system.coordinates,
        (*numbering.mechanism.actuators, *loaded),
        parts["M"],
        parts["dM"],
        parts["christoffel"],
        parts["K"],
        parts["damping"],
        parts["potential"][..., 0],
        parts["force"],
        dforce,
        parts["input_map"],
        outputs,
        parts["friction_map"],
        load.dry_forces,
        parts["ddamping"],
        parts["dinput_map"],
        parts["dfriction_map"],
        dK,
        None if system is None else parts["squares"],
        None if system is None else parts["overlap"][..., 0],
        system,
        modes,
        rigid,
    )


def _require_modes(configuration: Configuration, system: ModalParameterization, status: NDArray[np.int64]) -> None:
    if (status == DONE).all():
        return
    n = int(np.flatnonzero(status != DONE)[0])
    theta = np.atleast_2d(configuration.theta)[n]
    where = ", ".join(f"{name}={value:.6g}" for name, value in zip(configuration.coordinates, theta, strict=True))
    few = status[n] == TOO_FEW
    raise NumericalError(
        f"{'fewer internal modes exist than were asked for' if few else 'its modes were not found'} at {where}",
        part=f'mechanism "{configuration.mechanism.name}"',
        hint="ask for fewer internal modes" if few else "choose a configuration away from where a coordinate locks",
    )


def _require_coordinates(numbering: Numbering) -> None:
    if not numbering.coordinates:
        actuators = len(numbering.mechanism.actuators)
        raise InputError(
            f"it has no coordinates: {actuators} actuators do not match its mobility",
            part=f'mechanism "{numbering.mechanism.name}"',
            path=("coordinates",),
            hint="list as many coordinates: as the mobility that `supple check` prints",
        )


def _require_regular(configuration: Configuration, regular: NDArray[np.int64]) -> None:
    if regular.all():
        return
    n = int(np.flatnonzero(regular == 0)[0])
    single = configuration.X.ndim == 2
    at = (
        configuration
        if single
        else Configuration(
            configuration.rest, configuration.theta[n], configuration.X[n], configuration.w[n], configuration.reached[n]
        )
    )
    for key, row in at.rest.numbering.measures.items():
        if key[0] == "between" and len(key) == 3 and at.w[row - at.rest.numbering.constraints] == 0.0:
            raise InputError(
                f'the distance between "{key[1]}" and "{key[2]}" is zero, and has no direction',
                part=f'mechanism "{configuration.mechanism.name}"',
                hint="choose a configuration in which they are apart",
            )
    locked = ", ".join(f'"{name}"' for name in locked_coordinates(at)) or "no coordinate"
    values = ", ".join(f"{name}={value:.6g}" for name, value in at.coordinates.items())
    raise InputError(
        f"{values} is a singular configuration (measure {float(at.singularity):.1g}); {locked} locks there",
        part=f'mechanism "{configuration.mechanism.name}"',
        hint="choose a configuration away from it, or other coordinates",
    )
