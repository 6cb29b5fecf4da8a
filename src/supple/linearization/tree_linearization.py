"""Linear models of mechanisms without loops, by the recursions of `formulations/recursive`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.equations.equations_of_motion import Labels
from supple.equations.observation import Curved
from supple.formulations.coefficients import get_coefficients
from supple.formulations.recursive.dynamics import inverse_dynamics, mass_matrix, state_space
from supple.formulations.recursive.recursive_tree import CoupledTree, TreeOrder, recursive_tree
from supple.kinematics.configuration import Configuration
from supple.kinematics.measure_slopes import measure_jacobian
from supple.kinematics.ranked_rows import rank_rows
from supple.kinematics.rest import rest
from supple.parameterization.linear_rows import LinearRows
from supple.parameterization.local_model import labels_of
from supple.results.units import Units

_FEW = 30  # coordinates up to which a local model takes milliseconds


def tree_order(mechanism: Mechanism) -> TreeOrder | CoupledTree | None:
    """Return the tree of `recursive_tree`, or None, also if there is dry friction."""
    return None if get_coefficients(rest(mechanism)).dry_forces else recursive_tree(mechanism)


class OutputTree(NamedTuple):
    """Names and output measures of a tree, which a linear model needs besides its matrices.

    The local model contains them too, and the derivatives of M, which cost the fourth power of the number of
    coordinates.
    """

    theta: Array
    labels: Labels
    measures: Curved
    basis: None = None

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.labels.coordinates

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.labels.inputs

    @property
    def units(self) -> Units:
        """Units of coordinates, inputs and outputs."""
        return self.labels.units


def output_tree(mechanism: Mechanism, here: Configuration) -> OutputTree | None:
    """Return the names and measures of a tree at rest, or None if the local model is required.

    That is so for mechanisms with loops, small ones (for which it is cheap), and those with outputs of forces inside
    bodies.
    """
    position, load = here.rest, get_coefficients(here.rest)
    s, k = len(position.numbering.coordinates), len(load.measured)
    if s <= _FEW or load.efforts or not isinstance(tree_order(mechanism), TreeOrder):
        return None
    rows = rank_rows(position.numbering, here.X, coordinates=True)
    if rows.rank < position.numbering.columns:
        return None
    measured = list(load.measured.values())
    slopes = measure_jacobian(position.numbering, here.X, rows, measured)
    value = here.w[np.array(measured, dtype=np.int64) - position.numbering.constraints]
    bend = np.broadcast_to(0.0, (k, s, s))  # of no effect where nothing moves
    return OutputTree(here.theta, labels_of(here), Curved(value, slopes, bend, np.zeros((k, 0)), np.zeros((k, 0, s))))


def tree_inputs(
    order: TreeOrder | CoupledTree, theta: Array, rates: Array, accelerations: Array
) -> tuple[Array, Array | None]:
    """Return Q (N, s), the forces that a motion requires besides springs, dampers and loads, and B (N, s, inputs).

    If every coordinate has its own actuator, return the inputs (N, inputs) in place of Q, and None in place of B.
    """
    if isinstance(order, CoupledTree):
        return order.compute_forces(theta, rates, accelerations), order.input_map(theta)
    tree = order.tree
    q, v, a = (np.ascontiguousarray(item[:, order.of_theta]) for item in (theta, rates, accelerations))
    needed = inverse_dynamics(tree, q, v, a)
    if np.array_equal(np.sort(tree.actuated), np.arange(tree.n)):
        return needed[:, tree.actuated], None
    B = mass_matrix(tree, q) @ state_space(tree, q, v).B[:, tree.n :]
    return needed[:, order.of_tree], B[:, order.of_tree]


def tree_states(
    order: TreeOrder | CoupledTree, theta: Array, rates: Array, inputs: Array
) -> tuple[Array, Array, Array]:
    """Return A (N, 2s, 2s), B (N, 2s, inputs) and θ̈ (N, s) at θ, θ̇ (N, s)."""
    if isinstance(order, CoupledTree):
        return tree_linear_rows(order, theta, rates, inputs)[:3]
    tree, n, back = order.tree, order.tree.n, order.of_tree
    if np.array_equal(back, np.arange(n)):
        return state_space(tree, theta, rates, inputs)
    q, v = (np.ascontiguousarray(item[:, order.of_theta]) for item in (theta, rates))
    A, B, accelerations = state_space(tree, q, v, inputs)
    both = np.concatenate([back, n + back])
    return A[:, both[:, None], both], B[:, both], accelerations[:, back]


def tree_linear_rows(order: TreeOrder | CoupledTree, theta: Array, rates: Array, inputs: Array) -> LinearRows:
    """Return the matrices of a tree in the form of `linear_rows`."""
    if isinstance(order, CoupledTree):
        return _coupled_rows(order, theta, rates, inputs)
    n, back = order.tree.n, order.of_tree
    A, B, accelerations = tree_states(order, theta, rates, inputs)
    M = mass_matrix(order.tree, np.ascontiguousarray(theta[:, order.of_theta]))[:, back[:, None], back]
    return LinearRows(A, B, accelerations, M, M @ A[:, n:, :n], M @ A[:, n:, n:])


def _coupled_rows(tree: CoupledTree, theta: Array, rates: Array, inputs: Array) -> LinearRows:
    N, s = theta.shape
    accelerations = tree.accelerations(theta, rates, inputs)
    M, P2, P1 = tree.variation(theta, rates, accelerations, inputs)
    solved = np.linalg.solve(M, np.concatenate([P2, P1, tree.input_map(theta)], axis=2))
    A, B = np.zeros((N, 2 * s, 2 * s)), np.zeros((N, 2 * s, inputs.shape[1]))
    A[:, :s, s:], A[:, s:], B[:, s:] = np.eye(s), solved[:, :, : 2 * s], solved[:, :, 2 * s :]
    return LinearRows(A, B, accelerations, M, P2, P1)
