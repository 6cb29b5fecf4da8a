"""Branches of a mechanism: all assemblies at given coordinates θ that are found from random starting positions.

Bodies hang on a spanning tree of their joints, whose freedoms get random values (with a seed). From there,
`close_scattered` closes the loops and sets θ. Each assembly whose axes point the right way is kept once. Assemblies
that differ only in rods turned about their own line, as universal joints allow, count as one; the one nearest to the
branch of the file is kept. If θ leaves a motion free at an assembly, it belongs to a family, of which one is kept.
Assemblies in which a slide runs further than a mechanism can (a cylinder turned end for end) are omitted, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compile_kernel, kernel
from supple.compilation.threads import in_parts
from supple.description.joints.joint import Joint
from supple.description.joints.joint_kind import directions
from supple.description.joints.joint_kinds import JOINT_KINDS
from supple.description.mechanism import GROUND, Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import values_text
from supple.diagnostics.limits import require_within
from supple.kinematics.closing import bulk, close_all
from supple.kinematics.closure_kernel import Correction, row_of_terms, unwrap_angle, update
from supple.kinematics.completion import close_drawing
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.elimination import factor, solve, workspace
from supple.kinematics.far_closure import joint_gaps, posture_distance
from supple.kinematics.jacobian import measured_values, row_values, scaled_values
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.joint_tree import freedoms, move_tree, numbered_tree
from supple.kinematics.posture_coordinates import coordinate_values
from supple.kinematics.primitives import ANGLE, KIND, NONE, SCALE, THEN
from supple.kinematics.rest import Rest, rest
from supple.kinematics.row_arrays import row_sizes
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text, number_text

# Assemblies from random starting positions: Newton's method with bounded steps at a given θ.
#
#     x = -(Φ_q; A)⁺ (Φ, θ(q) - θ_d),   no longer than LONGEST, until it vanishes                     (kinematics, 18)
#
# Unlike closure from rest it follows no branch: each start may end on another one, or nowhere.


LONGEST = 0.5  # rad, or extents
ITERATIONS = 80
CLOSED = 1e-12  # size of a correction at which the iteration has converged
SMALL = 1e-2  # size of a correction after which a singular position may still belong to a family

OPEN, ASSEMBLED, SINGULAR = 0, 1, 2


@kernel
def largest_of(x, bodies, width):
    """Return the largest scaled velocity of x (bodies + 1, d, 1); nan if one is nan."""
    largest = 0.0
    for b in range(bodies):
        for c in range(width):
            if not abs(x[b, c, 0]) <= largest:
                largest = abs(x[b, c, 0])
    return largest


@kernel(purpose="assemblies from scattered starts")
def close_scattered(rows, selected, target, w, X_all, status):
    """Move each of X_all (N, bodies + 1, 12) in place to an assembly at θ = target (s,), and set its `status` (N,).

    w : (measures,) at rest, by which turns of geared angles are counted
    """
    sizes, rows_i, rows_f = row_sizes(rows), rows.rows_i, rows.rows_f
    nb, d, mc, s = sizes.bodies, sizes.width, sizes.joint_rows, sizes.coordinates
    work = workspace(rows)
    correction = Correction(np.empty((mc + s, 1)), np.empty((nb + 1, d, 1)), np.empty((mc + s, 1)))
    rho, x = correction.rho, correction.x
    for n in range(X_all.shape[0]):
        X = X_all[n]
        status[n] = OPEN
        size, before = 1.0, 1.0
        for _ in range(ITERATIONS):
            regular, _sign = factor(rows, selected, X, work)
            if not regular:
                status[n] = SINGULAR if size < SMALL else OPEN
                break
            for i in range(mc + s):
                gap = -row_of_terms(rows_i, rows_f, i, work.values, w)
                if i >= mc:
                    gap += target[i - mc]
                    if rows_i[i, KIND] == ANGLE and rows_i[i, THEN] == NONE:
                        gap = unwrap_angle(gap, 0.0)
                rho[i, 0] = gap / rows_f[i, SCALE]
            solve(rows, work, rho, 1, x, correction.g)
            before, size = size, largest_of(x, nb, d)
            if not size < 1e6:
                break
            if size > LONGEST:
                for b in range(nb):
                    for c in range(d):
                        x[b, c, 0] *= LONGEST / size
            update(rows, X, x)
            if size < CLOSED or (size < 1e-9 and size > 0.5 * before):
                status[n] = ASSEMBLED
                break


_CLOSED_JOINT = 1e-10  # extents or rad: largest gap of a closed joint
_APART = 1e-5  # extents or rad: smallest distance between different assemblies
_TURNED = 0.1  # rad: axes of a closed joint that are further apart point the wrong way
_FREE = 1e-7  # smallest over largest singular value: θ leaves a motion free
_TURN = 4.0  # rad: range of a random rotation to either side; above half a turn, since joints share rotations
_SLIDE = 0.7  # extents: random range of a translation
_RUN = 0.5  # extents: largest travel of a slide from rest
_SPREADS = (1.0, 0.5, 0.2)  # factors on these ranges, in turn: long chains close only from nearby
_FEW = 6  # largest number of singular starts that are examined


@dataclass(frozen=True, eq=False, repr=False)
class Branches(Result):
    """Assemblies of a mechanism at given coordinates θ, returned by `branches`; the branch of the file comes first.

    Attributes
    ----------
    configurations : Configuration
        Batch of the N assemblies.
    of_file : bool
        Whether the first assembly is on the branch of the file, reached along the segment from rest to θ.
    families : ndarray of bool, shape (N,)
        Whether θ leaves a motion free at the assembly, so that it is one of infinitely many.
    hits : ndarray of int, shape (N,)
        Number of starts that ended at the assembly.
    starts : int
        Number of starting positions.
    seed : int
        Random seed of the starting positions.
    overrun : int
        Number of starts that ended at an omitted assembly, in which a slide runs further than half the extent of the
        mechanism from rest.

    See Also
    --------
    branches : Find all assemblies at given coordinates.
    """

    configurations: Configuration
    of_file: bool
    families: NDArray[np.bool_]
    hits: NDArray[np.int64]
    starts: int
    seed: int
    overrun: int

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def mechanism(self) -> Mechanism:
        """Mechanism of the assemblies."""
        return self.configurations.mechanism

    @cached_property
    def separators(self) -> tuple[str, ...]:
        """Joint coordinates that distinguish all assemblies, as few as possible."""
        return separating_coordinates(self.configurations)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Description of each assembly: the sides on which its elbows lie, if they differ, and values of separators."""
        return describe_sides(self.configurations, self.separators)

    def rest(self, number: int) -> dict[str, float]:
        """Return the entry `rest:` of the file that selects a branch.

        Parameters
        ----------
        number : int
            Number of the branch, from 0.

        Returns
        -------
        dict of str to float
            Values of coordinates and joints at rest, rad or m. They have been tested to lead to this branch.

        Raises
        ------
        InputError
            If no such values are found.
        """
        return rest_entry(self.mechanism, self.configurations, number, self.separators)

    def summary(self) -> str:
        """Return a one-line summary."""
        at = ", ".join(f"{key}={value[0]:.6g}" for key, value in self.configurations.coordinates.items())
        return f'"{self.mechanism.name}" at {at}: {len(self)} from {self.starts} starts'

    def table(self) -> Table:
        """Return a table with one row per assembly: joint coordinates, number of hits, and singularity measure."""
        columns: dict[str, NDArray[Any]] = dict(self.configurations.joint_coordinates)
        columns["branch"] = np.arange(1, len(self) + 1)
        columns["hits"] = self.hits
        columns["singularity"] = np.asarray(self.configurations.singularity)
        return Table(columns, index="branch")

    @cached_property
    def rests(self) -> list[dict[str, float] | InputError]:
        """Entry `rest:` of each assembly, or the error that explains why none leads to it."""
        found: list[dict[str, float] | InputError] = []
        for i in range(len(self)):
            try:
                found.append(self.rest(i))
            except InputError as error:
                found.append(error)
        return found

    def data(self) -> dict[str, Any]:
        """Return the data that `--json` prints."""
        every = self.configurations
        listed = [
            {
                "words": words, "of_file": self.of_file and i == 0, "family": self.families[i], "hits": self.hits[i],
                "rest": None if isinstance(self.rests[i], InputError) else self.rests[i],
                "singularity": every.singularity[i],
                "joint_coordinates": {name: values[i] for name, values in every.joint_coordinates.items()},
                "frames": {name: pose.position[i] for name, pose in every.frames.items()},
            }
            for i, words in enumerate(self.words)
        ]  # fmt: skip
        return {
            "branches": listed,
            "starts": self.starts,
            "seed": self.seed,
            "at": dict(next(every.each()).coordinates),
        }

    def text(self) -> Text:
        """Return a report of all assemblies: description, number of hits, and the entry `rest:` that selects it."""
        at = ", ".join(f"{name}={number_text(value[0])}" for name, value in self.configurations.coordinates.items())
        many = len(self) != 1
        count = f"{len(self)} assembl{'ies' if many else 'y'}"
        out = Text(f"{self.mechanism.name} at {at}: {count} from {self.starts} starts")
        for i, (words, resting) in enumerate(zip(self.words, self.rests, strict=True)):
            facts = [f"found {self.hits[i]} times"]
            facts += ["the branch of the file"] if self.of_file and i == 0 else []
            facts += ["one of a family: a motion is left free"] if self.families[i] else []
            out.line(f"\n{i + 1:4}  {words or 'the only one'} ({', '.join(facts)})")
            if many and not isinstance(resting, InputError):
                out.line("      rest: {" + ", ".join(f"{name}: {value:.9g}" for name, value in resting.items()) + "}")
        if many:
            out.line("\nto select a branch, copy its `rest:` into the file; every entry was tested")
        if self.hits.min() < 3:
            out.line("some branches were found less than three times: there may be more; increase --starts")
        return out

    def plot(self, **options: Any) -> Any:
        """Draw all assemblies with matplotlib and return the panels; for the options see `sketch`."""
        return picture("view.sketch.sketch")(self.configurations, **options)


def branches(mechanism: Mechanism, at: At = None, *, count: int = 300, seed: int = 0) -> Branches:
    """Find the assemblies (branches) of a mechanism at given coordinates.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism to assemble.
    at : str, mapping or array_like, optional
        Posture, as for `assemble`; one posture, not a batch. Default: rest.
    count : int, optional
        Number of random starting positions. Default: 300.

        Every start ends at an assembly or at none. Branches that few starts lead to may be missed.
    seed : int, optional
        Random seed of the starting positions. Default: 0.

    Returns
    -------
    Branches
        Assemblies that were found, that of the file first.

    Raises
    ------
    InputError
        If `at` is not one posture of a mechanism with coordinates, or no assembly is found.

    See Also
    --------
    assemble : Assemble a mechanism on the branch of its rest configuration.

    Notes
    -----
    Newton's method with bounded steps closes the loops from each starting position, x = -(Φ_q; A)⁺ (Φ, θ(q) - θ_d), see
    equation 18 of docs/theory/kinematics.md.

    Examples
    --------
    >>> import supple
    >>> found = supple.branches(supple.load("four-bar"), "home")
    >>> len(found)
    2
    >>> found.words[1]
    'B above the line A-E, E below the line B-D, B = -85.5°'
    >>> found.rest(1)
    {'crank': 0.0, 'B': -1.4917676}
    """
    require_arguments(branches, locals())
    if count < 1:
        raise InputError(f"must be at least 1 (got {count})", part="count", hint="increase the number of starts")
    require_within("starts", count, part="count")
    theta = coordinate_values(mechanism, at)
    if theta.ndim != 1 or not len(theta):
        raise InputError("branches are found at one posture of a mechanism with coordinates",
                         part=f'mechanism "{mechanism.name}"', hint="give one posture")  # fmt: skip
    position = rest(mechanism)
    own, _, along = close_all(position, theta[None])
    X, status = _close_all(position, theta, _starts(position, own[0] if along[0] >= 1.0 else position.X, count, seed))
    X = np.concatenate([own[along >= 1.0], X[status == ASSEMBLED], _families(position, theta, X[status == SINGULAR])])
    overrun = ~_slides_within(position, X)
    X = X[~overrun]
    order, times = _distinct(position, X, theta) if len(X) else ([], [])
    if not order:
        raise InputError(
            f"no assembly was found from {count} starts",
            part=f'mechanism "{mechanism.name}" at ' + values_text(position.numbering.coordinates, theta),
            hint="give values within reach, or increase the number of starts",
        )  # fmt: skip
    measures = np.array([_measures(position, X[n], theta) for n in order])
    found = Configuration(position, np.tile(theta, (len(order), 1)), X[order].copy(), measures, np.ones(len(order)))
    hits = np.array(times)
    of_file = bool(along[0] >= 1.0)
    hits[0] -= of_file
    free = np.atleast_1d(found.singularity) < _FREE
    only = np.flatnonzero(~free | (np.cumsum(free) == 1))  # one of each family
    hits[free & (np.cumsum(free) == 1)] = hits[free].sum() if free.any() else 0
    shared = (free & (free.sum() > 1))[only]
    return Branches(found.part(only), of_file, shared, hits[only], count, seed, int(overrun.sum()))


def _starts(position: Rest, X: Array, count: int, seed: int) -> Array:
    """Return random starting positions (count, bodies + 1, 12): the joint tree with random values of its freedoms."""
    found = position.numbering
    tree = numbered_tree(found)
    bases = freedoms(found, tree, X)
    turning = found.arrays.column >= 3
    reach = [np.where(np.abs(basis[turning]).max(axis=0, initial=0.0) > 1e-6, _TURN, _SLIDE) for basis in bases]
    scale = np.concatenate(reach) if reach else np.zeros(0)
    dice = np.random.default_rng(seed)
    thrown = [spread * scale * dice.uniform(-1.0, 1.0, len(scale)) for spread in np.resize(_SPREADS, count)]
    return np.array([move_tree(found, tree, X, bases, z) for z in thrown])


def _close_all(position: Rest, theta: Array, X: Array) -> tuple[Array, NDArray[np.int64]]:
    status = np.zeros(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        run = compile_kernel(close_scattered, count=(stop - start) * bulk(position.numbering))
        arrays = position.numbering.arrays
        run(arrays, position.selected, theta, position.w, X[start:stop], status[start:stop])

    in_parts(part, len(X))
    return X, status


def _families(position: Rest, theta: Array, X: Array) -> Array:
    """Return those of the positions with dependent rows that close, by the least change."""
    found = []
    for start in X[:_FEW]:
        try:
            found.append(close_drawing(position.numbering, start.copy(), dict(enumerate(theta.tolist()))))
        except InputError:
            continue
    return np.array(found).reshape(-1, *position.X.shape)


def _distinct(position: Rest, X: Array, theta: Array) -> tuple[list[int], list[int]]:
    """Return the numbers of the different closed positions and how often each was found; the first stays the first."""
    shapes = _shape(position, X)
    near = np.linalg.norm((X - X[:1])[:, :, 3:].reshape(len(X), -1), axis=1)  # turns, from the first
    order = np.concatenate([[0], 1 + np.argsort(near[1:], kind="stable")]).astype(int)
    kept: list[int] = []
    times: list[int] = []
    dropped: list[int] = []
    for n in order.tolist():
        away = np.abs(shapes[kept] - shapes[n]).max(axis=1) if kept else np.zeros(0)
        if len(away) and away.min() < _APART:
            times[int(away.argmin())] += 1
        elif not dropped or np.abs(shapes[dropped] - shapes[n]).max(axis=1).min() >= _APART:
            if _is_assembled(position, X[n], theta):
                kept.append(n)
                times.append(1)
            else:
                dropped.append(n)
    return kept, times


def _slides_within(position: Rest, X: Array) -> NDArray[np.bool_]:
    """Return (N,) whether no slide outside θ runs further than half the extent from rest."""
    found = position.numbering
    s, angles = len(found.coordinates), found.angles()[found.constraints :]
    slides = [row - found.constraints for key, row in found.measures.items() if key[0] == "joint"]
    slides = [number for number in slides if number >= s and not angles[number]]
    inside = np.ones(len(X), dtype=bool)
    for n in range(len(X) if slides else 0):
        w = row_values(found, X[n], [found.constraints + number for number in slides])
        inside[n] = np.abs(w - position.w[slides]).max() <= _RUN * found.arrays.extent
    return inside


def _shape(position: Rest, X: Array) -> Array:
    """Return (N, k) positions of bodies and joints, in extents, and rotations except of rods about their line."""
    found, extent = position.numbering, float(position.numbering.arrays.extent)
    places: dict[int, list[Array]] = {number: [] for number in range(len(found.bodies))}
    for name, joint in found.mechanism.joints.items():
        if JOINT_KINDS[joint.kind].marker is not None:  # other kinds have no location
            frames = joint_frames(found.drawing, name)
            for body, place in zip(joint.bodies, (frames.pa, frames.pb), strict=True):
                if body != GROUND:
                    places[found.body_index(body)].append(place)
    parts = []
    for number, points in places.items():
        x, R = X[:, number, :3], X[:, number, 3:].reshape(-1, 3, 3)
        parts += [x / extent, *((x + R @ place) / extent for place in points)]
        if found.mechanism.planar or not _on_a_line(points, extent):
            parts.append(R.reshape(len(X), 9))
    return np.concatenate(parts, axis=1)


def _on_a_line(points: list[Array], extent: float) -> bool:
    """Return whether the points span a line and no more."""
    apart = np.array(points) - points[0] if points else np.zeros((1, 3))
    values = np.linalg.svd(apart, compute_uv=False) / extent
    return bool(values[0] > _APART and values[1:].max(initial=0.0) <= _APART)


def _is_assembled(position: Rest, X: Array, theta: Array) -> bool:
    """Return whether the position is closed, with coinciding axes that point the same way and not opposite ways."""
    found = position.numbering
    residual = scaled_values(found, X)
    scale = found.arrays.rows_f[found.constraints : found.constraints + len(theta), SCALE]
    apart = residual[found.constraints :] - theta / scale
    apart = np.where(found.turns, (apart + np.pi) % (2.0 * np.pi) - np.pi, apart)
    closed = max(np.abs(residual[: found.constraints]).max(initial=0.0), np.abs(apart).max(initial=0.0)) < _CLOSED_JOINT
    return bool(closed and max(joint_gaps(found, X).values(), default=0.0) < _TURNED)


def _measures(position: Rest, X: Array, theta: Array) -> Array:
    """Return the values of all measures: angles within half a turn, θ as requested."""
    found = position.numbering
    w = measured_values(found, X)
    turns = found.angles()[found.constraints :]
    w = np.where(turns, (w + np.pi) % (2.0 * np.pi) - np.pi, w)
    w[: len(theta)] = theta
    return w


# Descriptions that distinguish branches, and the entries of the file that select them.


_SAME = 1e-4  # rad, or extents: values that do not differ
_FLAT = 1e-6  # extents: an elbow this close to its line lies on it
_ROUNDING = 1e-12  # relative to the largest entry, or 1: smaller entries of the file are zero
_DIGITS = 9  # significant digits of the entries for the file


def separating_coordinates(found: Configuration) -> tuple[str, ...]:
    """Return joint coordinates that take different values in any two of the configurations.

    Each is the one that leaves the fewest pairs that look alike. If all of them together do not suffice, some pairs
    remain.
    """
    values = {name: _steps(found, name, column) for name, column in found.joint_coordinates.items()}
    values = {name: steps for name, steps in values.items() if len(set(steps)) > 1}
    chosen: list[str] = []
    groups = [0] * len(found.theta)
    while values and len(set(groups)) < len(groups):
        best = max(values, key=lambda name: len(set(zip(groups, values[name], strict=True))))
        labels = list(zip(groups, values[best], strict=True))
        if len(set(labels)) == len(set(groups)):
            break
        groups = [sorted(set(labels)).index(label) for label in labels]
        chosen.append(best)
    return tuple(chosen)


def _steps(found: Configuration, name: str, column: Array) -> list[int]:
    """Return numbers of the values of a column, equal for values that do not differ."""
    size = 1.0 if is_angle(found, name) else float(found.rest.numbering.arrays.extent)
    known: list[float] = []
    steps = []
    for value in column.tolist():
        near = [i for i, other in enumerate(known) if abs(_between(value, other, size == 1.0)) < _SAME * size]
        if not near:
            known.append(value)
        steps.append(near[0] if near else len(known) - 1)
    return steps


def is_angle(found: Configuration, name: str) -> bool:
    """Return whether a joint coordinate is an angle."""
    numbering = found.rest.numbering
    joint = found.mechanism.joint_coordinate(name)
    assert joint is not None
    return bool(numbering.angles()[numbering.measures["joint", *joint]])


def _between(value: float, other: float, angle: bool) -> float:
    return (value - other + np.pi) % (2.0 * np.pi) - np.pi if angle else value - other


def describe_sides(found: Configuration, separators: tuple[str, ...]) -> tuple[str, ...]:
    """Describe each configuration by planar elbows that differ, and separators: `E below the line B-D, B = -95.2°`."""
    elbows = _elbows(found) if found.mechanism.planar else {}
    descriptions = []
    for n, one in enumerate(found.each()):
        parts = [words[n] for words in elbows.values() if len(set(words)) > 1]
        for name in separators:
            value = one.joint_coordinates[name]
            parts.append(f"{name} = {np.degrees(value):.1f}°" if is_angle(found, name) else f"{name} = {value:.4g} m")
        descriptions.append(", ".join(parts))
    return tuple(descriptions)


def _elbows(found: Configuration) -> dict[str, list[str]]:
    """Describe for each joint between two others of a planar loop on which side of their line it lies."""
    numbering, mechanism = found.rest.numbering, found.mechanism
    points = set(numbering.drawing.joint_points)
    elbows: dict[str, list[str]] = {}
    for loop in numbering.topology.loops:
        for (before, joint), (_, after) in zip(
            pairwise([*loop, *loop]), pairwise([*loop[1:], *loop, loop[0]]), strict=False
        ):
            if joint in elbows or not {before, joint, after} <= points or len({before, joint, after}) < 3:
                continue
            if GROUND in mechanism.joints[joint].bodies:  # it does not move: another elbow describes the same
                continue
            a, e, b = ((found.frame(name).position @ mechanism.plane_axes())[:, :2] for name in (before, joint, after))
            elbows[joint] = [_side(joint, f"{before}-{after}", *place, float(numbering.arrays.extent))
                             for place in zip(a, e, b, strict=True)]  # fmt: skip
    return elbows


def _side(joint: str, line: str, a: Array, e: Array, b: Array, extent: float) -> str:
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)
    off = (e - a) - along * float(along @ (e - a))
    if np.linalg.norm(off) < _FLAT * extent:
        return f"{joint} on the line {line}"
    if abs(off[1]) >= abs(off[0]):
        return f"{joint} {'above' if off[1] > 0.0 else 'below'} the line {line}"
    return f"{joint} {'right' if off[0] > 0.0 else 'left'} of the line {line}"


def rest_entry(
    mechanism: Mechanism, found: Configuration, number: int, separators: tuple[str, ...]
) -> dict[str, float]:
    """Return the entry `rest:` that leads to one of the configurations: θ, and joints that distinguish it.

    If the few joints do not suffice, all joints are given. The entry is tested: its rest is on that branch.
    """
    one = list(found.each())[number]
    theta = {name: float(value) for name, value in one.coordinates.items()}
    joints = {name: float(value) for name, value in one.joint_coordinates.items()}
    known = {mechanism.joint_coordinate(name) or _joint_of(mechanism, name) for name in theta}
    joints = {name: value for name, value in joints.items() if mechanism.joint_coordinate(name) not in known}
    few = {name: joints[name] for name in separators if name in joints}
    complete = all(_fully_measured(mechanism, joint) for joint in mechanism.joints.values())
    for hints in (few, joints) if complete else (joints,):
        values = theta | hints
        zero = _ROUNDING * max(1.0, *(abs(value) for value in values.values()))
        given = {name: float(f"{value:.{_DIGITS}g}") if abs(value) > zero else 0.0 for name, value in values.items()}
        if _leads_there(mechanism, given, one):
            return given
    raise InputError(
        f"no joint values lead to branch {number + 1}", part=f'mechanism "{mechanism.name}"',
        hint="draw the mechanism on that branch",
    )  # fmt: skip


def _fully_measured(mechanism: Mechanism, joint: Joint) -> bool:
    """Return whether the joint coordinates cover all freedoms of the joint."""
    form = joint.form(mechanism.plane)
    return len(form.rows) + len(form.measures) == len(directions(mechanism.plane))


def _joint_of(mechanism: Mechanism, name: str) -> tuple[str, str] | None:
    actuator = mechanism.actuators.get(name)
    return None if actuator is None or actuator.joint is None else mechanism.joint_coordinate(actuator.joint)


def _leads_there(mechanism: Mechanism, given: dict[str, float], one: Configuration) -> bool:
    try:
        X = rest(mechanism.replace(rest=given)).X
    except InputError:
        return False
    return posture_distance(one.rest.numbering, X, one.X) < _SAME
