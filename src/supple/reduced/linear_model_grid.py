"""Linear parameter-varying (LPV) system of a reduced model: linear models on a grid as fine as a tolerance requires.

Its error is measured by responses. At random θ between the grid points, over a band around the vibrations (for a rigid
model above the slow motions that gravity and springs cause), the difference of each output is divided by its largest
response to any input: max_ω |Ĥ - H| / max(max_u |H(ω)|, max_band,u |H|). Where a vibration has less than 1 % of
damping, both responses are evaluated beside the imaginary axis, at s = (0.01 - ζ) ω + iω, because on it they would be
compared where they are infinite.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.array_types import Array
from supple.diagnostics import InputError, SuppleWarning, require_known
from supple.results.linear_family import MATRICES, POINTS, AffineFamily, LinearFamily, Names
from supple.results.linear_model import LinearModel

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


_FIRST, _MOST = 3, 20_000  # initial points along a coordinate; largest number of points in all
_CHECKS, _EDGES = 100, 24  # random θ that judge the family; edges of the grid that decide where it must be finer
_SAFE = 0.7  # of the tolerance: largest error at random points, so that other points meet the tolerance
_LINES, _CLEAR = 160, 0.01  # lines of a response; least damping ratio at which it is evaluated on the imaginary axis
_SLOWEST = 0.1  # Hz, for a rigid model whose own motions are slower


def linear_family(
    model: ReducedModel,
    *,
    grid: Mapping[str, int | ArrayLike] | None = None,
    tolerance: float = 0.01,
    drives: bool = False,
    seed: int = 0,
    parameters: Sequence[str] = (),
) -> LinearFamily:
    """Linearize a reduced model on a grid over its region, with the same states (η, η̇) at every point.

    Parameters
    ----------
    model : ReducedModel
        Model to linearize; its region must be one box.
    grid : mapping of str to int or array_like, optional
        Grid points along coordinates: their number, equally spaced over the region, or their values.

        Coordinates that are left out get as many points as the tolerance requires.
    tolerance : float, optional
        Largest relative error of the responses between the grid points. Default: 0.01.
    drives : bool, optional
        Include drives and instruments, from commands to indicated outputs. Default: False, from forces.
    seed : int, optional
        Random seed for the points that judge the family. Default: 0.
    parameters : sequence of str, optional
        Varied parameters that are coordinates of the grid too, behind θ. Default: none; all keep the model's values.

    Returns
    -------
    LinearFamily
        Matrices on the grid, with interpolation between its points; `gap` is the error found.

    Raises
    ------
    InputError
        If the region consists of several boxes, or if a coordinate or parameter is unknown.

    Warns
    -----
    SuppleWarning
        If the error exceeds the tolerance.
    """
    lower, upper = _region(model, parameters)
    names = (*model.layout.coordinates[: model.layout.theta], *parameters)
    for name in grid or ():
        require_known("coordinate of the region", name, names, part="grid")
    axes = [_axis((grid or {}).get(name), low, high) for name, low, high in zip(names, lower, upper, strict=True)]
    free = [name not in (grid or {}) for name in names]
    random = np.random.default_rng(seed)
    linear = _Linear(model, tuple(parameters), drives)
    points = random.uniform(lower, upper, (_CHECKS, len(names)))
    while True:
        family = _family(linear, dict(zip(names, axes, strict=True)))
        gap = max(response_gap(family.model_at(at), linear(at)) for at in points)
        finer = _coarse_coordinates(linear, family, free, _SAFE * tolerance, random)
        if not finer and gap > _SAFE * tolerance:
            finer = {i for i, may in enumerate(free) if may}
        if not finer or np.prod([2 * len(x) - 1 if i in finer else len(x) for i, x in enumerate(axes)]) > _MOST:
            break
        axes = [_halve_steps(x) if i in finer else x for i, x in enumerate(axes)]
    if gap > tolerance:
        warnings.warn(
            SuppleWarning(
                f'the error of the linear models of "{model.name}" between {" x ".join(map(str, family.shape))} grid '
                f"points is {gap:.2g}, above the tolerance {tolerance:g}; give a finer grid or a larger tolerance"
            ),
            stacklevel=2,
        )
    return replace(family, gap=gap)


def affine_gap(model: ReducedModel, family: AffineFamily, *, seed: int = 0) -> float:
    """Return the largest error of an affine family at random θ."""
    points = np.random.default_rng(seed).uniform(family.lower, family.upper, (_CHECKS, len(family.lower)))
    linear = _Linear(model, family.coordinates[model.layout.theta :], False)
    return max(response_gap(family.model_at(at), linear(at)) for at in points)


def response_gap(found: LinearModel, exact: LinearModel) -> float:
    """Return the largest difference of the responses of two linear models over all channels."""
    lines, damping = band_of(exact)
    s = 2.0 * np.pi * lines * (max(0.0, _CLEAR - damping) + 1j)
    ours, theirs = transfer(found, s), transfer(exact, s)
    here = np.abs(theirs).max(axis=2, keepdims=True, initial=0.0)
    size = np.maximum(here, here.max(axis=0))
    return float((np.abs(ours - theirs) / np.where(size > 0.0, size, 1.0)).max(initial=0.0))


def band_of(exact: LinearModel) -> tuple[Array, float]:
    """Return the lines (Hz) of the band, and the least damping ratio of the vibrations in it."""
    poles = exact.eigenvalues
    hertz = np.abs(poles) / (2.0 * np.pi)
    elastic = 0 if exact.basis is None else 2 * (len(exact.basis.constraint) + exact.basis.internal)
    if not elastic:
        slowest = max(_SLOWEST, float(hertz.max(initial=0.0)))
        return np.geomspace(3.0 * slowest, 300.0 * slowest, _LINES), 1.0
    fast = np.sort(hertz)[-elastic:]
    vibrating = poles[hertz >= fast[0]]
    lines = np.concatenate([np.geomspace(0.5 * fast[0], 1.5 * fast[-1], _LINES), fast])
    return np.sort(lines), float((-vibrating.real / np.abs(vibrating)).min())


def transfer(model: LinearModel, s: NDArray[Any]) -> NDArray[np.complex128]:
    """Return C (s - A)⁻¹ B + D, (lines, outputs, inputs)."""
    x = np.linalg.solve(s[:, None, None] * np.eye(len(model.A)) - model.A, model.B.astype(complex))
    return np.asarray(model.C @ x + model.D)


def _region(model: ReducedModel, parameters: Sequence[str]) -> tuple[Array, Array]:
    bounds = model.fitted.arrays.roots_f
    if len(bounds) > 1:
        raise InputError(
            f"the region has {len(bounds)} boxes, but a grid requires one", part=f'model "{model.name}"',
            hint="reduce over one box",
        )  # fmt: skip
    known = {} if model.family is None else {item.name: item for item in model.family.parameters}
    for name in parameters:
        require_known(
            "parameter of the model", name, known, empty="reduce the mechanism with it in `vary`", part="parameters"
        )
    lower, upper = ([getattr(known[name], end) for name in parameters] for end in ("lower", "upper"))
    return np.concatenate([bounds[0, 0], lower]), np.concatenate([bounds[0, 1], upper])


def _axis(given: int | ArrayLike | None, low: float, high: float) -> Array:
    if given is None:
        return np.linspace(low, high, _FIRST)
    values = np.linspace(low, high, int(given)) if np.ndim(given) == 0 else np.sort(np.asarray(given, float))  # type: ignore[arg-type]
    if not len(values) or not np.isfinite(values).all() or (np.diff(values) <= 0.0).any():
        raise InputError(
            f"{given} is not a valid grid", part="grid", hint="give a number of points, or increasing values"
        )
    return values


def _halve_steps(x: Array) -> Array:
    return np.sort(np.concatenate([x, 0.5 * (x[1:] + x[:-1])]))


class _Linear:
    """Linear models at (θ, parameters), each computed once."""

    def __init__(self, model: ReducedModel, parameters: tuple[str, ...], drives: bool):
        self.model, self.parameters, self.drives = model, parameters, drives
        self._known: dict[bytes, LinearModel] = {}
        self._members: dict[bytes, ReducedModel] = {}

    def __call__(self, point: Array) -> LinearModel:
        s = self.model.layout.theta
        key = np.ascontiguousarray(point, dtype=float).tobytes()
        if key not in self._known:
            self._known[key] = self._member(point[s:]).linearize(point[:s], drives=self.drives)
        return self._known[key]

    def _member(self, values: Array) -> ReducedModel:
        if not self.parameters:
            return self.model
        key = np.ascontiguousarray(values, dtype=float).tobytes()
        if key not in self._members:
            self._members[key] = self.model.at(**dict(zip(self.parameters, values.tolist(), strict=True)))
        return self._members[key]


def _family(linear: _Linear, grid: dict[str, Array]) -> LinearFamily:
    model = linear.model
    mesh = np.stack(np.meshgrid(*grid.values(), indexing="ij"), axis=-1)
    shape = mesh.shape[:-1]
    made = [linear(point) for point in mesh.reshape(-1, len(grid))]
    first = made[0]
    A, B, C, D = (
        np.array([getattr(item, name) for item in made]).reshape(*shape, *getattr(first, name).shape)
        for name in MATRICES
    )
    at = {
        name: np.array([[item.at[name].get(key, 0.0) for key in getattr(first, name)] for item in made])
        for name in POINTS
    }
    at = {name: values.reshape(*shape, -1) for name, values in at.items()}
    names = Names(first.states, first.inputs, first.outputs)
    return LinearFamily(model.name, grid, A, B, C, D, at, names, np.nan, model.basis, model.units)


def _coarse_coordinates(
    linear: _Linear,
    family: LinearFamily,
    free: list[bool],
    tolerance: float,
    random: np.random.Generator,
) -> set[int]:
    """Return the coordinates along which the middles of random edges exceed their share of the tolerance."""
    axes, found = list(family.grid.values()), set()
    for i, x in enumerate(axes):
        if not free[i]:
            continue
        middles = 0.5 * (x[1:] + x[:-1])
        for _ in range(_EDGES):
            theta = np.array([values[random.integers(len(values))] for values in axes])
            theta[i] = middles[random.integers(len(middles))]
            if response_gap(family.model_at(theta), linear(theta)) > tolerance / len(axes):
                found.add(i)
                break
    return found
