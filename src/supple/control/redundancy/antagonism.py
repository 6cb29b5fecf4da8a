"""Antagonistic actuation: internal forces, which do no work, and the stiffness that they cause.

    B(θ) u_i = 0,     u_i = (1 - B⁺B) u,     K_i = -Σ_a u_ia ∂B_a/∂θ

Internal forces u_i cause no motion at θ. Held constant, they do away from it: B(θ + δθ) u_i = -K_i δθ. A positive K_i
is a spring that needs no feedback as long as the forces are held; a negative one destabilizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.control.redundancy.force_division import chosen_names
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.kinematics.configuration import At, Configuration
from supple.parameterization.local_model import local
from supple.reduced.state_arguments import in_order
from supple.results.result import Result
from supple.results.table import Table
from supple.results.text import list_names
from supple.results.units import Units

_RANK = 1e-10
_REACHED = 1e-9  # of a requested stiffness: largest error


@dataclass(frozen=True, eq=False, repr=False)
class Antagonism(Result):
    """Effect of internal forces of the actuators, at one θ (s,) or at many (N, s).

    Attributes
    ----------
    coordinates : tuple of str
        Names of the coordinates.
    actuators : tuple of str
        Names of the actuators.
    theta : ndarray of shape (..., s)
        Coordinates θ.
    B : ndarray of shape (..., s, a)
        Input map.
    slopes : ndarray of shape (..., a, s, s)
        Stiffness -∂B_a/∂θ of a constant unit force of each actuator.
    weight : ndarray of shape (..., s, s)
        Stiffness -∂p/∂θ of gravity and springs.
    rigid : tuple of str
        Elastic bodies that are treated as rigid.
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
        count = len(self.actuators) - len(self.coordinates)
        return f"of {list_names(self.actuators)}, {count} independent internal forces on {list_names(self.coordinates)}"

    def internal(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        """Return the internal part of forces (..., a), which does no work: (..., a)."""
        u = self._forces(forces)
        working = np.linalg.pinv(self.B, rcond=_RANK) @ (self.B @ u[..., None])
        return np.asarray(u - working[..., 0])

    def stiffness(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        """Return the stiffness K_i (..., s, s) of the internal part of constant forces, N/m or N m/rad."""
        return np.asarray(np.einsum("...a,...aij->...ij", self.internal(forces), self.slopes))

    def compute_total_stiffness(self, forces: Mapping[str, float] | ArrayLike) -> Array:
        """Return the stiffness (..., s, s) of all constant forces, gravity and springs."""
        return np.asarray(np.einsum("...a,...aij->...ij", self._forces(forces), self.slopes) + self.weight)

    def preload(self, stiffness: ArrayLike) -> dict[str, float]:
        """Return the smallest internal forces that cause a stiffness, at one θ.

        Parameters
        ----------
        stiffness : float or array_like of shape (s, s)
            Desired stiffness, N/m or N m/rad; a number for one coordinate.

        Returns
        -------
        dict of str to float
            Forces by actuator, N or N m.

        Raises
        ------
        InputError
            If there are several θ, or the internal forces cannot cause that stiffness.
        """
        s = len(self.coordinates)
        target = np.broadcast_to(np.asarray(stiffness, dtype=float), (s, s)) if s == 1 else np.asarray(stiffness)
        if self.theta.ndim > 1 or target.shape != (s, s):
            raise InputError(
                f"the stiffness has the shape {np.shape(stiffness)}, and θ the shape {self.theta.shape}",
                part="preload", hint=f"give a ({s}, {s}) stiffness at one θ",
            )  # fmt: skip
        ways = self.ways
        upper = np.triu_indices(s)
        rows = np.einsum("wa,aij->wij", ways, self.slopes)[:, *upper].T
        right = target[upper]
        z = np.linalg.lstsq(rows, right, rcond=_RANK)[0]
        residual = float(np.abs(rows @ z - right).max(initial=0.0))
        if residual > _REACHED * float(np.abs(right).max(initial=0.0)):
            raise InputError(
                f"{len(ways)} internal forces cannot cause that stiffness: the nearest differs by {residual:.3g}",
                part="preload", hint="use more actuators, a lower stiffness, or another configuration",
            )  # fmt: skip
        return dict(zip(self.actuators, (z @ ways).tolist(), strict=True))

    @property
    def ways(self) -> Array:
        """Orthonormal basis (a - s, a) of the internal forces, at one θ."""
        _, sigma, Vt = np.linalg.svd(self.B)
        return np.asarray(Vt[int((sigma > _RANK * sigma[0]).sum()) :])

    def table(self) -> Table:
        """Return a table of the stiffness of a constant unit force of each actuator, at one θ."""
        if self.theta.ndim > 1:
            raise InputError(
                f"stiffnesses at {len(self.theta)} configurations do not fit in a table", part="save",
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
    """Compute the effect of internal forces of redundant actuators at one or many configurations.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with more actuators than coordinates.
    at : mapping, array_like, str or Configuration, optional
        Configuration, or many, as in `local`. Default: rest.
    actuators : sequence of str or str, optional
        Actuators that are used. Default: all.
    rigid : bool, optional
        Treat elastic bodies as rigid without a warning. Default: False.

    Returns
    -------
    Antagonism
        Internal forces and their stiffness.

    Raises
    ------
    InputError
        If there are not more actuators than coordinates.

    Warns
    -----
    SuppleNote
        If elastic bodies are treated as rigid.

    See Also
    --------
    computed_torque : Controller with a preload.
    compliance : Compliance of elastic bodies.

    Notes
    -----
    K_i = -Σ_a u_ia ∂B_a/∂θ of the internal forces u_i = (1 - B⁺B) u; docs/theory/computed-torque.md.
    """
    require_arguments(antagonism, locals())
    treat_as_rigid(mechanism, rigid, "use `compliance` for the deformation of elastic bodies, without preload")
    chosen = chosen_names(tuple(mechanism.actuators), actuators)
    here = local(mechanism, at, rigid=True)
    s = here.theta.shape[-1]
    if len(chosen) <= s:
        raise InputError(
            f"{len(chosen)} actuators for {s} coordinates are not redundant, so that they have no internal forces",
            part=f'mechanism "{mechanism.name}"', hint="use more actuators than coordinates",
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
