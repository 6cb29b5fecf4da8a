"""The local model: the equations of motion of a mechanism in θ, at one configuration or a batch.

M(θ) θ̈ + Γ(θ)[θ̇, θ̇] + D_d(θ) θ̇ = p(θ) + B(θ) u,    y = ρ_o(θ)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.compilation import compiled
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formulations.coefficients import Carried, carried
from supple.kinematics.closure import assemble, in_parts, locked_coordinates
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.numbering import Numbering
from supple.parameterization.layout import Layout
from supple.parameterization.rigid_kernel import rigid_batch

Array = NDArray[np.float64]


class Output(NamedTuple):
    """One output y = ρ_o(θ) + Ψ_o(θ) δ.

    value : ρ_o; rigid : ∂ρ_o/∂θ (..., s); modes : Ψ_o (..., 0) for a rigid mechanism;
    bend : ∂²ρ_o/∂θ² (..., s, s), so that ÿ = rigid θ̈ + θ̇ᵀ bend θ̇.
    """

    value: Array
    rigid: Array
    modes: Array
    bend: Array


@dataclass(frozen=True, eq=False)
class LocalModel:
    """Coefficients of the equations of motion at θ. In a batch every array has a leading axis (N, ...).

    M           : (s, s) mass matrix (the papers' H)
    dM          : (s, s, s), dM[i, j, k] = ∂M_ij/∂θ_k
    christoffel : (s, s, s) Γ, symmetric in its last two indices (the papers' D)
    K           : (s, s) stiffness of the modes; zero for a rigid mechanism
    damping     : (s, s) D_d of dampers and viscous friction
    force       : (s,) p of gravity, springs and applied forces; dforce : (s, s) ∂p_j/∂θ_k
    potential   : V of gravity, springs, constant forces along coordinates and in fixed directions
    input_map   : (s, actuators) B, transpose of the transmission matrix
    friction_map: (f, s) J_j of joints with dry friction f_j in `dry_forces`: p_dry = -J_jᵀ f_j sgn(J_j θ̇)
    ddamping, dinput_map, dfriction_map : their gradients, ∂/∂θ_k in a last axis
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

    @property
    def theta(self) -> Array:
        return self.configuration.theta

    @property
    def singularity(self) -> Array:
        return self.configuration.singularity

    @property
    def internal_hz(self) -> Array:
        """Frequencies of the internal modes; none for a rigid mechanism."""
        return np.zeros((*self.theta.shape[:-1], 0))

    def inertia_forces(self, rates: Array, accelerations: Array) -> Array:
        """M θ̈ + Γ[θ̇, θ̇]."""
        return np.einsum("...ij,...j->...i", self.M, accelerations) + np.einsum(
            "...ijk,...j,...k->...i", self.christoffel, rates, rates
        )


def local(mechanism: Mechanism, at: At | Configuration = None) -> LocalModel:
    """The equations of motion at θ, with exact derivatives.

    at : a Configuration, or anything `assemble` takes; (N, s) gives a batch
    """
    configuration = at if isinstance(at, Configuration) else assemble(mechanism, at)
    rows, regular = coefficient_rows(configuration)
    _require_regular(configuration, regular)
    parts = row_layout(configuration).split(rows if configuration.X.ndim == 3 else rows[0])
    return _model(configuration, carried(configuration.rest), parts)


def coefficient_rows(configuration: Configuration) -> tuple[Array, NDArray[np.int64]]:
    """All coefficients at each configuration in one row, (N, width) as `row_layout` says, and where they exist (N,).

    A row depends on its own configuration alone, bit for bit, whatever stands beside it in the batch.
    """
    position = configuration.rest
    _require_coordinates(position.numbering)
    load, layout = carried(position), row_layout(configuration)
    X = configuration.X if configuration.X.ndim == 3 else configuration.X[None]
    w = configuration.w if configuration.w.ndim == 2 else configuration.w[None]
    out = np.empty((len(X), layout.width))
    regular = np.empty(len(X), dtype=np.int64)
    run = compiled(rigid_batch)

    def part(start: int, stop: int) -> None:
        piece = slice(start, stop)
        run(
            position.numbering.arrays,
            position.selected,
            load.arrays,
            X[piece],
            w[piece],
            layout.offsets,
            out[piece],
            regular[piece],
        )

    in_parts(part, len(X))
    regular[~np.isfinite(out).all(axis=1)] = 0  # the ends of a distance meet: it has no direction there
    return out, regular


def row_layout(configuration: Configuration) -> Layout:
    """Where each coefficient stands in a row."""
    return mechanism_layout(configuration.rest.numbering, carried(configuration.rest))


def mechanism_layout(numbering: Numbering, load: Carried) -> Layout:
    """Computed once for each mechanism."""
    sizes = numbering.arrays.sizes
    return numbering.mechanism.remembered(
        "layout", lambda: Layout(int(sizes[4]), int(sizes[7]), len(load.outputs), len(load.dry_forces))
    )


def _model(configuration: Configuration, load: Carried, parts: dict[str, Array]) -> LocalModel:
    numbering = configuration.rest.numbering
    s = len(numbering.coordinates)
    rows = parts["outputs"]
    outputs = {
        name: Output(
            rows[..., i, 0],
            rows[..., i, 1 : 1 + s],
            rows[..., i, :0],
            rows[..., i, 1 + s :].reshape(*rows.shape[:-2], s, s),
        )
        for i, name in enumerate(load.outputs)
    }
    return LocalModel(
        configuration,
        numbering.coordinates,
        tuple(numbering.mechanism.actuators),
        parts["M"],
        parts["dM"],
        parts["christoffel"],
        np.zeros_like(parts["M"]),
        parts["damping"],
        parts["potential"][..., 0],
        parts["force"],
        parts["dforce"],
        parts["input_map"],
        outputs,
        parts["friction_map"],
        load.dry_forces,
        parts["ddamping"],
        parts["dinput_map"],
        parts["dfriction_map"],
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
