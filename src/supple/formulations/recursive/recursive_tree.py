"""Check of whether a mechanism can use recursions, and its tree in the order of θ.

Linear models, inverse dynamics and local models all call `recursive_tree`. Every coupling of joints eliminates a
coordinate:

    q = G θ + c,   M = GᵀM_qG,   Gᵀτ(q, Gθ̇, Gθ̈, u) = 0                           (docs/theory/recursive.md, eqs. 33-34)

G and c are constants, since couplings are linear in joint coordinates. τ are the required forces along q with actuator
forces u. Trees do not include dry friction, whose sign is treated separately.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import NumericalError
from supple.formulations.coefficients import get_coefficients
from supple.formulations.recursive.dynamics import inverse_dynamics, inverse_variation, mass_matrix
from supple.formulations.recursive.tree import TreeArrays
from supple.formulations.recursive.tree_of_mechanism import tree_of_mechanism
from supple.kinematics.primitives import OFFSET
from supple.kinematics.rest import Rest, rest

_SAME = 1e-9  # rad or m: how well couplings hold at rest, and how far they may contradict one another
_MASSLESS = 1e-13  # of the largest: a smaller eigenvalue of M moves no mass


class TreeOrder(NamedTuple):
    """The tree of a mechanism, and the order of its coordinates: q = θ[of_theta], θ = q[of_tree].

    coordinates : (n,) names of q
    """

    tree: TreeArrays
    of_theta: NDArray[np.int64]
    of_tree: NDArray[np.int64]
    coordinates: tuple[str, ...]

    def compute_forces(self, theta: Array, rates: Array, accelerations: Array) -> Array:
        """Return τ (N, s) in the order of θ."""
        q, v, a = (np.ascontiguousarray(item[:, self.of_theta]) for item in (theta, rates, accelerations))
        return inverse_dynamics(self.tree, q, v, a)[:, self.of_tree]

    @property
    def slopes(self) -> Array:
        """Slopes ∂q/∂θ (n, s)."""
        return np.eye(self.tree.n)[self.of_theta]


class CoupledTree(NamedTuple):
    """The tree of all joints, and q = G θ + c: (n, s), (n,); coordinates : (n,) names of q."""

    tree: TreeArrays
    G: Array
    c: Array
    coordinates: tuple[str, ...]

    @property
    def slopes(self) -> Array:
        """Slopes ∂q/∂θ (n, s)."""
        return self.G

    def motion(self, theta: Array, rates: Array, accelerations: Array) -> tuple[Array, Array, Array]:
        """Return q, q̇, q̈ (N, n) for θ, θ̇, θ̈ (N, s)."""
        return theta @ self.G.T + self.c, rates @ self.G.T, accelerations @ self.G.T

    def compute_forces(self, theta: Array, rates: Array, accelerations: Array, u: Array | None = None) -> Array:
        """Return Gᵀτ (N, s)."""
        return np.asarray(inverse_dynamics(self.tree, *self.motion(theta, rates, accelerations), u) @ self.G)

    def input_map(self, theta: Array) -> Array:
        """Return B (N, s, inputs): rows of G, and for actuators along distances the change of τ per unit input."""
        zero = np.zeros_like(theta)
        found = np.zeros((*theta.shape, self.tree.inputs))
        along = self.tree.actuated >= 0
        found[:, :, along] = self.G[self.tree.actuated[along]].T
        still = zero if along.all() else self.compute_forces(theta, zero, zero)
        for i in np.flatnonzero(~along):
            unit = np.tile(np.eye(self.tree.inputs)[i], (len(theta), 1))
            found[:, :, i] = still - self.compute_forces(theta, zero, zero, unit)
        return found

    def accelerations(self, theta: Array, rates: Array, u: Array) -> Array:
        """Return θ̈ (N, s)."""
        M = self.G.T @ mass_matrix(self.tree, theta @ self.G.T + self.c) @ self.G
        return _solve(M, -self.compute_forces(theta, rates, np.zeros_like(theta), u)[..., None])[..., 0]

    def variation(self, theta: Array, rates: Array, accelerations: Array, u: Array) -> tuple[Array, Array, Array]:
        """Return M, P₂, P₁ (N, s, s) of M δθ̈ = P₂ δθ + P₁ δθ̇ about a motion."""
        M, by_q, by_rate = inverse_variation(self.tree, *self.motion(theta, rates, accelerations), u)
        return self.G.T @ M @ self.G, -self.G.T @ by_q @ self.G, -self.G.T @ by_rate @ self.G


def recursive_tree(mechanism: Mechanism) -> TreeOrder | CoupledTree | None:
    """Return the tree of a mechanism that the recursions support, computed once; None for other mechanisms.

    They support trees of rigid bodies in which every coordinate of θ is a joint coordinate. They do not support loops,
    elastic parts, joint kinds without steps, nonlinear springs or springs with relaxed length zero, couplings of sensor
    measures, and trees with numbers that are not finite.
    """
    return mechanism.compute_once("recursive tree", lambda: _build_tree(rest(mechanism)))


def _build_tree(position: Rest) -> TreeOrder | CoupledTree | None:
    numbering = position.numbering
    mechanism, coordinates = numbering.mechanism, numbering.coordinates
    if numbering.topology.cut or not coordinates or get_coefficients(position).nonlinear or mechanism.elastic:
        return None
    if any(spring.without_length for spring in mechanism.springs.values()):
        return None
    if any(joint.form(mechanism.plane).steps is None for joint in mechanism.joints.values()):
        return None
    keys = [key for key, row in numbering.measures.items() if 0 <= row - numbering.constraints < len(coordinates)]
    if any(key[0] != "joint" for key in keys):
        return None
    if mechanism.couplings:
        return coupled_tree(position, tuple((joint, coordinate) for _, joint, coordinate in keys))
    names = {mechanism_name(mechanism, joint, coordinate): at for at, (_, joint, coordinate) in enumerate(keys)}
    found = tree_of_mechanism(mechanism, dry=False)
    if found.tree.nq != found.tree.n or set(found.coordinates) != set(names):
        return None
    of_theta = np.array([names[name] for name in found.coordinates], dtype=np.int64)
    return TreeOrder(found.tree, of_theta, np.argsort(of_theta), found.coordinates)


def mechanism_name(mechanism: Mechanism, joint: str, coordinate: str) -> str:
    """Return a joint coordinate as `joint`, or as `joint.coordinate` if the joint has several."""
    single = len(mechanism.joints[joint].coordinates(mechanism.plane)) == 1
    return joint if single else f"{joint}.{coordinate}"


def coupled_tree(position: Rest, theta: tuple[tuple[str, str], ...]) -> CoupledTree | None:
    """Return the tree with couplings, or None if θ are not its coordinates.

    This happens if couplings use sensor measures, leave more coordinates, or leave a motion without mass.

    theta : the coordinates of θ as (joint, coordinate)
    """
    numbering = position.numbering
    mechanism, measures = numbering.mechanism, numbering.measures
    tied = {
        name: [mechanism.coupled_coordinate(item) for item in part.coordinates]
        for name, part in mechanism.couplings.items()
    }
    if any(coordinate is None for coordinates in tied.values() for coordinate in coordinates):
        return None
    # Without couplings θ is not enough, and quantities in terms of it do not exist.
    bare = mechanism.replace(couplings={}, coordinates=None, rest={}, configurations={}, motions={}, scenarios={})
    found = tree_of_mechanism(bare, dry=False)
    if found.tree.nq != found.tree.n:
        return None
    places = {mechanism.joint_coordinate(name): i for i, name in enumerate(found.coordinates)}
    F, d = np.zeros((len(tied), found.tree.n)), np.zeros(len(tied))
    rows_f = numbering.arrays.rows_f
    for i, (name, coordinates) in enumerate(tied.items()):
        d[i] = -rows_f[numbering.coupling_rows[name], OFFSET]
        for coordinate, factor in zip(coordinates, mechanism.couplings[name].coordinates.values(), strict=True):
            assert coordinate is not None  # none of a sensor, as seen above
            F[i, places[coordinate]] += factor
            d[i] += factor * rows_f[measures["joint", *coordinate], OFFSET]
    size = np.abs(F).max(axis=1)
    S = np.eye(found.tree.n)[[places[coordinate] for coordinate in theta]]
    rows = np.vstack([F / size[:, None], S])
    if np.linalg.matrix_rank(rows) < found.tree.n:
        return None
    inverse = np.linalg.pinv(rows)
    coupled = CoupledTree(found.tree, inverse[:, len(d) :], inverse[:, : len(d)] @ (d / size), found.coordinates)
    at_rest = np.array(
        [position.w[measures["joint", *key] - numbering.constraints] for key in places if key is not None]
    )
    start = position.w[: len(theta)]
    if np.abs(coupled.G @ start + coupled.c - at_rest).max() > _SAME * max(1.0, float(np.abs(at_rest).max())):
        return None
    M = coupled.G.T @ mass_matrix(found.tree, at_rest) @ coupled.G
    values = np.linalg.eigvalsh(M / np.sqrt(np.outer(np.diag(M), np.diag(M)))) if (np.diag(M) > 0.0).all() else [0.0]
    return coupled if values[0] > _MASSLESS else None


def _solve(M: Array, right: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(M, right), float)
    except np.linalg.LinAlgError:
        raise NumericalError(
            "a motion moves no mass", part="tree", hint="add mass to its bodies, or a motor to its joint"
        ) from None
