"""Linear models of a rigid mechanism at many states in one call: successive linearization along a trajectory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.compilation.bundle import native_array
from supple.description.mechanism import Mechanism, treat_as_rigid
from supple.diagnostics import InputError, NumericalError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import item_list
from supple.distribution.work import in_order_of_rows
from supple.distribution.workplace import workplace
from supple.formats.mechanism_text import Travelling
from supple.formulations.recursive.recursive_tree import CoupledTree, TreeOrder
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.posture_coordinates import coordinate_values
from supple.kinematics.rest import rest
from supple.linearization.tree_linearization import tree_inputs, tree_linear_rows, tree_order, tree_states
from supple.parameterization.linear_rows import LinearRows, linear_rows
from supple.parameterization.local_model import LocalModel, local
from supple.reduced.state_arguments import in_order
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import list_names

# Actuator forces that a motion requires, or the reason why no forces hold a state.


_MISSING = 1e-8  # tolerance of the forces, relative to the largest force, or to that of a unit of motion


def holding_inputs(mechanism: Mechanism, theta: Array, needed: Array, B: Array, size: Array) -> Array:
    """Return inputs u (N, inputs) of least norm with B u = Q: needed Q (N, s), B (N, s, inputs).

    size : (N, s) scale of the forces along each coordinate. A missing force is compared with the largest of all, angles
    in
           rad and lengths in sizes of the mechanism: along a vertical axis both the weight of an arm and the stiffness
           against it are rounding
    """
    u = np.einsum("nai,ni->na", np.linalg.pinv(B), needed) if B.shape[2] else np.zeros((len(B), 0))
    missing = np.abs(needed - np.einsum("nia,na->ni", B, u))
    numbering = rest(mechanism).numbering
    unit = numbering.theta_scale
    largest = (np.maximum(size, np.abs(needed)) * unit).max(axis=1, initial=0.0)
    wrong = missing * unit > _MISSING * largest[:, None]
    if not wrong.any():
        return np.asarray(u)
    n, i = (int(item) for item in np.argwhere(wrong)[0])
    names = numbering.coordinates
    where = item_list([f"{name}={value:.6g}" for name, value in zip(names, theta[n], strict=True)])
    where += f" (state {n} of {len(theta)})" if len(theta) > 1 else ""
    unit_name = "N m" if numbering.turns[i] else "N"
    why = (
        "it has no actuators"
        if not B.shape[2]
        else f"its actuators ({item_list(list(mechanism.actuators))}) cannot produce it"
    )
    raise InputError(
        f'the motion requires {needed[n, i]:.6g} {unit_name} along "{names[i]}" at {where}, but {why}',
        part=f'mechanism "{mechanism.name}"',
        hint="linearize at its equilibrium, give accelerations that are possible, or give the inputs",
    )


def force_size(mechanism: Mechanism, M: Array, dforce: Array, accelerations: Array, rates: Array) -> Array:
    """Return the scale of forces (N, s): of a unit of motion, and of accelerations and products of rates."""
    unit = rest(mechanism).numbering.theta_scale
    fast = np.abs(rates / unit).max(axis=1, initial=0.0)[:, None] ** 2 * unit
    return np.asarray(np.abs(dforce) @ unit + np.einsum("nij,nj->ni", np.abs(M), np.abs(accelerations) + fast))


# Linear models at many states.


Values = Mapping[str, float] | ArrayLike

_TOGETHER = 1024  # states per batch on a cluster


@dataclass(frozen=True, eq=False, repr=False)
class LinearBatch(Result):
    """Linear models ẋ = A x + B u about each of N states (θ, θ̇); x and u are deviations from it.

    Attributes
    ----------
    A : ndarray, shape (N, 2s, 2s)
        State matrices.
    B : ndarray, shape (N, 2s, inputs)
        Input matrices.
    accelerations : ndarray, shape (N, s)
        Accelerations of the motion itself, rad/s² or m/s².
    inputs : ndarray, shape (N, inputs)
        Inputs of the motion itself, N or N m.
    states, actuators : tuple of str
        Names of x and of u.
    rigid : tuple of str
        Names of the elastic parts that are treated as rigid.
    """

    A: Array
    B: Array
    accelerations: Array
    inputs: Array
    states: tuple[str, ...]
    actuators: tuple[str, ...]
    rigid: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return a one-line summary."""
        return f"{len(self.A)} linear models in {list_names(self.states)}, inputs {list_names(self.actuators)}"

    def table(self) -> Table:
        """Return one row per state with the nonzero entries `A[ROW, COLUMN]` and `B[ROW, INPUT]`."""
        columns: dict[str, Array] = {}
        for letter, values, names in (("A", self.A, self.states), ("B", self.B, self.actuators)):
            for i, row in enumerate(self.states):
                for j, column in enumerate(names):
                    if values[:, i, j].any():
                        columns[f"{letter}[{row}, {column}]"] = values[:, i, j]
        return Table({"state": np.arange(len(self.A)), **columns}, index="state")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name, as saved in .npz and .mat files."""
        texts = {key: np.array(getattr(self, key), dtype=str) for key in ("states", "actuators")}
        numbers = {key: getattr(self, key) for key in ("A", "B", "accelerations", "inputs")}
        return numbers | texts | {"eigenvalues": self.eigenvalues}

    def plot(self, *, axes: Any = None) -> Any:
        """Draw the eigenvalues of all states in the complex plane, the first and last marked; return the panels."""
        found = self.eigenvalues
        return picture("linearization.plot.pole_plot")(
            {"all states": found.ravel(), "first": found[0], "last": found[-1]}, axes=axes
        )

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Eigenvalues of each A, (N, 2s), by ascending magnitude, 1/s."""
        found = np.linalg.eigvals(self.A).astype(complex)
        return np.take_along_axis(found, np.argsort(np.abs(found), axis=1, kind="stable"), axis=1)


def linearize_batch(
    mechanism: Mechanism,
    at: At | Configuration,
    rates: Values | None = None,
    *,
    accelerations: Values | None = None,
    inputs: Values | None = None,
    friction_speed: float = 1e-3,
    rigid: bool = False,
    cluster: Any = None,
) -> LinearBatch:
    """Linearize a rigid mechanism about many states, on all cores.

    The order of states and inputs is that of `linearize`.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism; elastic parts are treated as rigid.
    at : array_like, shape (N, s), or Configuration
        Coordinates θ of the states, or a batch of configurations that are already assembled.
    rates : mapping or array_like, shape (N, s) or (s,), optional
        Rates θ̇, rad/s or m/s. Default: zero.
    accelerations : mapping or array_like, shape (N, s) or (s,), optional
        Accelerations that the default inputs produce. Default: zero. Not together with `inputs`.
    inputs : mapping or array_like, shape (N, inputs) or (inputs,), optional
        Actuator forces, N or N m. Default: those of least norm that produce the accelerations.
    friction_speed : float, optional
        Speed over which dry friction changes its sign, in the unit of the joint's rate. Default: 1e-3.
    rigid : bool, optional
        Suppress the warning that elastic parts are treated as rigid. Default: False.
    cluster : optional
        Cluster of dask.distributed, as in `reduce`, for many states of large mechanisms. Default: this computer.

    Returns
    -------
    LinearBatch
        Matrices A and B, accelerations and inputs of every state.

    Raises
    ------
    InputError
        If no inputs produce the accelerations at a state, or the number of states differs between arguments.

    Warns
    -----
    SuppleWarning
        If the mechanism has elastic parts, unless `rigid` is True.

    See Also
    --------
    linearize : Linear model about one state, with outputs.

    Examples
    --------
    >>> import supple
    >>> batch = supple.linearize_batch(supple.load("two-link"), [[0.5, -0.3], [0.6, -0.2]])
    >>> batch.A.shape, batch.B.shape
    ((2, 4, 4), (2, 4, 2))
    """
    require_arguments(linearize_batch, locals())
    if inputs is not None and accelerations is not None:
        raise InputError("cannot be combined", part="inputs and accelerations", hint="give only one of them")
    stiff = treat_as_rigid(mechanism, rigid, "linearize states one by one with modes (internal_modes)")
    if isinstance(at, Configuration):
        theta, where = at.theta, at
    else:
        theta, where = coordinate_values(mechanism, at), None  # a tree needs no closure
    if theta.ndim != 2:
        raise InputError(
            f"must have the shape (N, s) (got {theta.shape})", part="θ", hint="give (N, s) values, or use linearize"
        )
    count = len(theta)
    names = rest(mechanism).numbering.coordinates
    if not names:
        local(mechanism, rigid=True)  # refuses, with the reason
    v = _states("rates", rates, names, count)
    a = _states("accelerations", accelerations, names, count)
    u = None if inputs is None else _states("inputs", inputs, tuple(mechanism.actuators), count)
    states = (*names, *(f"{name}.rate" for name in names))
    work = _LinearStates(Travelling(mechanism), friction_speed, u is not None)
    arrays = theta, v, a if u is None else u
    if cluster is None:
        found = work.at(where, *arrays)
    else:
        found = _on_cluster(work, cluster, where, arrays)
    return LinearBatch(*found, states, tuple(mechanism.actuators), stiff)


Found = tuple[Array, Array, Array, Array]
"""A, B, accelerations and inputs of a batch of states."""


@dataclass(frozen=True, eq=False)
class _LinearStates:
    """Work of a linearization as it is sent to other processes.

    given : whether inputs are given, else accelerations
    """

    described: Travelling
    friction_speed: float
    given: bool

    def __call__(self, *rows: Array) -> Found:
        """Linearize at rows of θ, rates, accelerations or inputs, and, if assembled, positions, measures and reach."""
        theta, rates, given = rows[:3]
        if len(rows) == 3:
            return self.at(None, theta, rates, given)
        X, w, reached = rows[3:]
        return self.at(Configuration(rest(self.described.mechanism), theta, X, w, reached), theta, rates, given)

    def at(self, where: Configuration | None, theta: Array, rates: Array, given: Array) -> Found:
        """Linearize at θ and rates; given : accelerations or inputs."""
        mechanism = self.described.mechanism
        a, u = (np.zeros_like(rates), given) if self.given else (given, None)
        order = tree_order(mechanism)
        if order is not None:
            held = _tree_inputs(mechanism, order, theta, rates, a) if u is None else u
            return (*tree_states(order, theta, rates, held), held)
        where = assemble(mechanism, theta) if where is None else where
        found, held = linear_states(mechanism, where, rates, a, u, self.friction_speed)
        return found.A, found.B, found.accelerations, held


def _on_cluster(work: _LinearStates, cluster: Any, where: Configuration | None, arrays: tuple[Array, ...]) -> Found:
    """Linearize on a cluster; errors name a state by its index among all, as in this process."""
    assembled = () if where is None else (where.X, where.w, where.reached)
    try:
        with workplace(cluster=cluster) as place:
            return in_order_of_rows(place.results(work, *arrays, *assembled, together=_TOGETHER))
    except (InputError, NumericalError):
        work.at(where, *arrays)
        raise


def linear_states(
    mechanism: Mechanism,
    where: Configuration,
    rates: Array,
    accelerations: Array,
    u: Array | None,
    speed: float,
) -> tuple[LinearRows, Array]:
    """Return linear models of a batch of states and the inputs.

    A tree is linearized by recursion, other mechanisms in independent coordinates.
    """
    order = tree_order(mechanism)
    if order is not None:
        u = _tree_inputs(mechanism, order, where.theta, rates, accelerations) if u is None else u
        return tree_linear_rows(order, where.theta, rates, u), u
    if u is None:
        model = local(mechanism, where, rigid=True)
        needed = _required_forces(model, rates, accelerations, speed)
        size = force_size(mechanism, model.M, model.dforce, accelerations, rates)
        u = holding_inputs(mechanism, where.theta, needed, model.input_map, size)
    return linear_rows(where, rates, u, speed), u


def _tree_inputs(
    mechanism: Mechanism, order: TreeOrder | CoupledTree, theta: Array, rates: Array, accelerations: Array
) -> Array:
    needed, B = tree_inputs(order, theta, rates, accelerations)
    if B is None:
        return np.ascontiguousarray(needed)
    guess = tree_linear_rows(order, theta, rates, np.zeros((len(theta), B.shape[2])))
    size = force_size(mechanism, guess.M, guess.P2, accelerations, rates)
    return holding_inputs(mechanism, theta, needed, B, size)


def _required_forces(model: LocalModel, rates: Array, accelerations: Array, speed: float) -> Array:
    """Return Q = M θ̈ + Γ[θ̇, θ̇] + D_d θ̇ + friction - p."""
    drag, _ = model.dry_friction(rates, speed)
    return model.required_forces(rates, accelerations) + model.friction_forces(drag)


def _states(label: str, values: Values | None, names: tuple[str, ...], count: int) -> Array:
    """Return values of all states (N, k), contiguous."""
    if values is None:
        return np.zeros((count, len(names)))
    found = in_order(label, values, names)
    if found.ndim == 2 and len(found) != count:
        raise InputError(f"has {len(found)} states, but θ has {count}", part=label, hint="give one row for each state")
    return native_array(np.broadcast_to(found, (count, len(names))))
