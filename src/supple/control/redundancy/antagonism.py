"""Actuators that work against each other: forces that do no work, and the stiffness they give.

    B(θ) u_i = 0,     u_i = (1 - B⁺B) u,     K_i = -Σ_a u_ia ∂B_a/∂θ

u_i moves nothing where it stands; away from there, held as it is, it does: B(θ + δθ) u_i = -K_i δθ. A positive K_i is a
spring that needs no feedback, as long as the forces are held; a negative one pushes away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.redundancy.force_division import chosen_names
from supple.description.mechanism import Mechanism, taken_as_rigid
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.configuration import At, Configuration
from supple.parameterization.local_model import local
from supple.reduced.state_arguments import in_order
from supple.results.result import Result
from supple.results.table import Table
from supple.results.text import listed
from supple.results.units import Units

_RANK = 1e-10
_REACHED = 1e-9  # of a stiffness that is asked for: what may be missing


@dataclass(frozen=True, eq=False, repr=False)
class Antagonism(Result):
    """What forces of the actuators do against each other, at one θ (s,) or at many (N, s).

    B      : (..., s, a) input map; slopes : (..., a, s, s) -∂B_a/∂θ, the stiffness of a unit of each force, held
    weight : (..., s, s) -∂p/∂θ, the stiffness of gravity and springs; rigid : elastic parts that are taken so
    """

    coordinates: tuple[str, ...]
    actuators: tuple[str, ...]
    theta: Array
    B: Array
    slopes: Array
    weight: Array
    units: Units
    rigid: tuple[str, ...] = ()

    def summary(self) -> str:
        ways = len(self.actuators) - len(self.coordinates)
        return f"of {listed(self.actuators)}, {ways} independent ways to strain {listed(self.coordinates)}"

    def internal(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        """The part of forces (..., a) that does no work: (..., a)."""
        u = self._forces(forces)
        working = np.linalg.pinv(self.B, rcond=_RANK) @ (self.B @ u[..., None])
        return np.asarray(u - working[..., 0])

    def stiffness(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        """K_i (..., s, s) of the part of the forces that does no work; N/m, N m/rad, as the coordinates are."""
        return np.asarray(np.einsum("...a,...aij->...ij", self.internal(forces), self.slopes))

    def held(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        """Stiffness (..., s, s) with all these forces held: theirs, and that of gravity and springs."""
        return np.asarray(np.einsum("...a,...aij->...ij", self._forces(forces), self.slopes) + self.weight)

    def preload(self, stiffness: ArrayLike) -> dict[str, float]:
        """The least forces without work, at one θ, that give a stiffness: (s, s), or a number for one coordinate."""
        s = len(self.coordinates)
        wanted = np.broadcast_to(np.asarray(stiffness, dtype=float), (s, s)) if s == 1 else np.asarray(stiffness)
        if self.theta.ndim > 1 or wanted.shape != (s, s):
            raise InputError(
                f"a stiffness of the shape {np.shape(stiffness)} is asked for, θ has the shape {self.theta.shape}",
                part="preload", hint=f"ask at one θ, for ({s}, {s})",
            )  # fmt: skip
        ways = self.ways
        upper = np.triu_indices(s)
        rows = np.einsum("wa,aij->wij", ways, self.slopes)[:, *upper].T
        right = wanted[upper]
        z = np.linalg.lstsq(rows, right, rcond=_RANK)[0]
        left = float(np.abs(rows @ z - right).max(initial=0.0))
        if left > _REACHED * float(np.abs(right).max(initial=0.0)):
            raise InputError(
                f"{len(ways)} ways to strain it do not give that stiffness; the nearest misses it by {left:.3g}",
                part="preload", hint="let more actuators work, ask for less, or ask elsewhere",
            )  # fmt: skip
        return dict(zip(self.actuators, (z @ ways).tolist(), strict=True))

    @property
    def ways(self) -> Array:
        """Independent forces without work (a - s, a), orthonormal; at one θ."""
        _, sigma, Vt = np.linalg.svd(self.B)
        return np.asarray(Vt[int((sigma > _RANK * sigma[0]).sum()) :])

    def table(self) -> Table:
        """Of one θ: for each actuator the stiffness of a unit of its force, held, whether it works or not."""
        if self.theta.ndim > 1:
            raise InputError(
                f"stiffnesses at {len(self.theta)} configurations are no table", part="save",
                hint="write a .npz or .mat file",
            )  # fmt: skip
        s = range(len(self.coordinates))
        names = [(i, j, f"{self.coordinates[i]} {self.coordinates[j]}") for i in s for j in s if i <= j]
        columns: dict[str, Any] = {"actuator": np.array(self.actuators, dtype=str)}
        return Table(columns | {name: self.slopes[:, i, j] for i, j, name in names}, {}, "actuator")

    def arrays(self) -> dict[str, NDArray[Any]]:
        texts = {name: np.array(getattr(self, name), dtype=str) for name in ("coordinates", "actuators")}
        return {name: getattr(self, name) for name in ("theta", "B", "slopes", "weight")} | texts

    def _forces(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        return in_order("forces", forces, self.actuators)


def antagonism(
    mechanism: Mechanism,
    at: At | Configuration = None,
    *,
    actuators: Sequence[str] | str | None = None,
    rigid: bool = False,
) -> Antagonism:
    """What the actuators (all, or some) can do against each other at a configuration, or at many.

    at    : as in `local`
    rigid : elastic parts are meant to be taken as rigid, as they are here, and nothing is said of it
    """
    require_arguments(antagonism, locals())
    taken_as_rigid(mechanism, rigid, "`compliance` knows what yields by itself, without preload")
    chosen = chosen_names(tuple(mechanism.actuators), actuators)
    here = local(mechanism, at, rigid=True)
    s = here.theta.shape[-1]
    if len(chosen) <= s:
        raise InputError(
            f"{len(chosen)} actuators for {s} coordinates have nothing to work against each other with",
            part=f'mechanism "{mechanism.name}"', hint="antagonism needs more actuators than coordinates",
        )  # fmt: skip
    numbers = [here.inputs.index(name) for name in chosen]
    slopes = -np.moveaxis(here.dinput_map[..., numbers, :], -2, -3)
    return Antagonism(
        here.coordinates,
        chosen,
        here.theta,
        here.input_map[..., numbers],
        slopes,
        -here.dforce,
        here.units,
        mechanism.elastic_names,
    )
