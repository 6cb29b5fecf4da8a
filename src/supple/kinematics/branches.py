"""The branches of a mechanism at a θ: all assemblies that are found from scattered starts.

Bodies hang on a spanning tree of their joints, whose freedoms are thrown at random (seeded); from there loops and θ are
closed by `scattered_closure`. What closes with all axes as they should be is kept once; so are those that differ only
in rods turned about their own line, as universal joints allow, of which the one nearest to the file's branch stays.
Where θ leaves a motion free at an assembly, it is one of a family, and only one of those is kept. Assemblies that need
a slide to run further than a mechanism can (a cylinder turned end for end) are left out, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.compilation import compiled, kernel
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
from supple.kinematics.closure_kernel import Correction, row_of_terms, unwrapped, update
from supple.kinematics.completion import close_drawing
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.elimination import factor, solve, workspace
from supple.kinematics.far_closure import joint_gaps, posture_distance
from supple.kinematics.jacobian import measured_values, row_values, scaled_values
from supple.kinematics.joint_frames import joint_frames
from supple.kinematics.joint_tree import freedoms, moved_by, numbered_tree
from supple.kinematics.posture_coordinates import coordinate_values
from supple.kinematics.primitives import ANGLE, KIND, NONE, SCALE, THEN
from supple.kinematics.rest import Rest, rest
from supple.kinematics.row_arrays import row_sizes
from supple.results.result import Result, picture
from supple.results.table import Table
from supple.results.text import Text, number_text

# Assemblies from scattered starts: Newton's method with bounded steps at a given θ, from anywhere.
#
#     x = -(Φ_q; A)⁺ (Φ, θ(q) - θ_d),   no longer than LONGEST, until it vanishes                     (kinematics, 18)
#
# Unlike closure from rest it follows no branch: each start may end on another one, or nowhere.


LONGEST = 0.5  # rad, or extents
ITERATIONS = 80
CLOSED = 1e-12  # a correction that leaves nothing to do
SMALL = 1e-2  # a correction after which a position that is not regular may still be one of a family

OPEN, ASSEMBLED, SINGULAR = 0, 1, 2


@kernel
def largest_of(x, bodies, width):
    """The largest scaled velocity of x (bodies + 1, d, 1); nan if one is."""
    largest = 0.0
    for b in range(bodies):
        for c in range(width):
            if not abs(x[b, c, 0]) <= largest:
                largest = abs(x[b, c, 0])
    return largest


@kernel(purpose="assemblies from scattered starts")
def close_scattered(rows, selected, target, w, X_all, status):
    """Each of X_all (N, bodies + 1, 12) moved in place to an assembly at θ = target (s,), and its `status` (N,).

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
                        gap = unwrapped(gap, 0.0)
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


_CLOSED_JOINT = 1e-10  # extents or rad: what is left of any joint
_APART = 1e-5  # extents or rad, of all bodies together: two assemblies
_TURNED = 0.1  # rad: axes of a closed joint that are further apart point the wrong way
_FREE = 1e-7  # smallest over largest singular value: θ leaves a motion free
_TURN = 4.0  # rad: how far a freedom of rotation is thrown to either side; more than half a turn, for others share it
_SLIDE = 0.7  # extents, of translation
_RUN = 0.5  # extents: how far a slide may run from rest
_SPREADS = (1.0, 0.5, 0.2)  # of these, in turn: long chains close only from nearby
_FEW = 6  # singular starts that are looked into


@dataclass(frozen=True, eq=False, repr=False)
class Branches(Result):
    """Assemblies at one θ, that of the file first.

    configurations : of all (N, ...)
    of_file        : whether the first is the one that θ's segment from rest leads to
    families       : (N,) those at which θ leaves a motion free: one of many
    hits           : (N,) how many of the `starts` ended there
    overrun        : how many starts ended where a slide runs further than half the extent from rest; left out
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
        return self.configurations.mechanism

    @cached_property
    def separators(self) -> tuple[str, ...]:
        """Joint coordinates by which all of them can be told apart, as few as are found."""
        return separating(self.configurations)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Of each: on which side its elbows lie where that differs, and the values of the separators."""
        return sides(self.configurations, self.separators)

    def rest(self, number: int) -> dict[str, float]:
        """What to write as `rest:` in the file, to have this branch (numbers from 0); it is tried out before."""
        return rest_entry(self.mechanism, self.configurations, number, self.separators)

    def summary(self) -> str:
        at = ", ".join(f"{key}={value[0]:.6g}" for key, value in self.configurations.coordinates.items())
        return f'of "{self.mechanism.name}" at {at}: {len(self)} from {self.starts} starts'

    def table(self) -> Table:
        """A row for each: all joint coordinates, how often it was found, and its singularity."""
        columns: dict[str, NDArray[Any]] = dict(self.configurations.joint_coordinates)
        columns["branch"] = np.arange(1, len(self) + 1)
        columns["hits"] = self.hits
        columns["singularity"] = np.asarray(self.configurations.singularity)
        return Table(columns, index="branch")

    @cached_property
    def rests(self) -> list[dict[str, float] | InputError]:
        """Of each: what to write as `rest:`, or why nothing leads there."""
        found: list[dict[str, float] | InputError] = []
        for i in range(len(self)):
            try:
                found.append(self.rest(i))
            except InputError as error:
                found.append(error)
        return found

    def data(self) -> dict[str, Any]:
        """What `--json` prints."""
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
        """Each in words, how often it was found, and how to have it."""
        at = ", ".join(f"{name}={number_text(value[0])}" for name, value in self.configurations.coordinates.items())
        many = len(self) != 1
        count = f"{len(self)} assembl{'ies' if many else 'y'}"
        out = Text(f"{self.mechanism.name} at {at}: {count} from {self.starts} starts")
        for i, (words, resting) in enumerate(zip(self.words, self.rests, strict=True)):
            said = [f"found {self.hits[i]} times"]
            said += ["the branch of the file"] if self.of_file and i == 0 else []
            said += ["a motion is left free: one of many"] if self.families[i] else []
            out.line(f"\n{i + 1:4}  {words or 'the only one'} ({', '.join(said)})")
            if many and not isinstance(resting, InputError):
                out.line("      rest: {" + ", ".join(f"{name}: {value:.9g}" for name, value in resting.items()) + "}")
        if many:
            out.line("\nwrite the `rest:` of the one you mean into the file: each was tried, and leads there")
        if self.hits.min() < 3:
            out.line("some were found less than three times: there may be more; ask for more --starts")
        return out

    def plot(self, **options: Any) -> Any:
        """Draw them all (matplotlib), see `sketch`; returns the panels."""
        return picture("view.sketch.sketch")(self.configurations, **options)


def branches(mechanism: Mechanism, at: At = None, *, count: int = 300, seed: int = 0) -> Branches:
    """The assemblies that exist at θ, as far as they are found.                                     [kinematics, 18]

    at    : as for `assemble`, one posture
    count : how many starts are thrown; each ends at an assembly or nowhere
    seed  : of these
    """
    require_arguments(branches, locals())
    if count < 1:
        raise InputError(f"{count} starts are asked for", part="count", hint="ask for one at least")
    require_within("starts", count, part="count")
    theta = coordinate_values(mechanism, at)
    if theta.ndim != 1 or not len(theta):
        raise InputError("branches are those at one configuration of a mechanism with coordinates",
                         part=f'mechanism "{mechanism.name}"', hint="give one posture")  # fmt: skip
    position = rest(mechanism)
    own, _, along = close_all(position, theta[None])
    X, status = _closed(position, theta, _starts(position, own[0] if along[0] >= 1.0 else position.X, count, seed))
    X = np.concatenate([own[along >= 1.0], X[status == ASSEMBLED], _families(position, theta, X[status == SINGULAR])])
    overrun = ~_slides_within(position, X)
    X = X[~overrun]
    order, times = _distinct(position, X, theta) if len(X) else ([], [])
    if not order:
        raise InputError(
            f"no assembly was found from {count} starts",
            part=f'mechanism "{mechanism.name}" at ' + values_text(position.numbering.coordinates, theta),
            hint="give values within reach, or more starts",
        )  # fmt: skip
    measures = np.array([_measures(position, X[n], theta) for n in order])
    found = Configuration(position, np.tile(theta, (len(order), 1)), X[order].copy(), measures, np.ones(len(order)))
    hits = np.array(times)
    of_file = bool(along[0] >= 1.0)
    hits[0] -= of_file
    free = np.atleast_1d(found.singularity) < _FREE
    only = np.flatnonzero(~free | (np.cumsum(free) == 1))  # of a family one
    hits[free & (np.cumsum(free) == 1)] = hits[free].sum() if free.any() else 0
    shared = (free & (free.sum() > 1))[only]
    return Branches(found.part(only), of_file, shared, hits[only], count, seed, int(overrun.sum()))


def _starts(position: Rest, X: Array, count: int, seed: int) -> Array:
    """(count, bodies + 1, 12): the tree of joints with its freedoms thrown at random."""
    found = position.numbering
    tree = numbered_tree(found)
    bases = freedoms(found, tree, X)
    turning = found.arrays.column >= 3
    reach = [np.where(np.abs(basis[turning]).max(axis=0, initial=0.0) > 1e-6, _TURN, _SLIDE) for basis in bases]
    scale = np.concatenate(reach) if reach else np.zeros(0)
    dice = np.random.default_rng(seed)
    thrown = [spread * scale * dice.uniform(-1.0, 1.0, len(scale)) for spread in np.resize(_SPREADS, count)]
    return np.array([moved_by(found, tree, X, bases, z) for z in thrown])


def _closed(position: Rest, theta: Array, X: Array) -> tuple[Array, NDArray[np.int64]]:
    status = np.zeros(len(X), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        run = compiled(close_scattered, count=(stop - start) * bulk(position.numbering))
        arrays = position.numbering.arrays
        run(arrays, position.selected, theta, position.w, X[start:stop], status[start:stop])

    in_parts(part, len(X))
    return X, status


def _families(position: Rest, theta: Array, X: Array) -> Array:
    """Of positions at which rows depend on one another those that close, by the least change."""
    found = []
    for start in X[:_FEW]:
        try:
            found.append(close_drawing(position.numbering, start.copy(), dict(enumerate(theta.tolist()))))
        except InputError:
            continue
    return np.array(found).reshape(-1, *position.X.shape)


def _distinct(position: Rest, X: Array, theta: Array) -> tuple[list[int], list[int]]:
    """Numbers of those that differ and are closed, and how often each was found; the first stays the first."""
    seen = _shape(position, X)
    near = np.linalg.norm((X - X[:1])[:, :, 3:].reshape(len(X), -1), axis=1)  # turns, from the first
    order = np.concatenate([[0], 1 + np.argsort(near[1:], kind="stable")]).astype(int)
    kept: list[int] = []
    times: list[int] = []
    dropped: list[int] = []
    for n in order.tolist():
        away = np.abs(seen[kept] - seen[n]).max(axis=1) if kept else np.zeros(0)
        if len(away) and away.min() < _APART:
            times[int(away.argmin())] += 1
        elif not dropped or np.abs(seen[dropped] - seen[n]).max(axis=1).min() >= _APART:
            if _assembled(position, X[n], theta):
                kept.append(n)
                times.append(1)
            else:
                dropped.append(n)
    return kept, times


def _slides_within(position: Rest, X: Array) -> NDArray[np.bool_]:
    """(N,) whether no slide that is not θ runs further than half the extent from rest."""
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
    """(N, k) where bodies and their joints are, in extents, and how bodies are turned but for rods about their line."""
    found, extent = position.numbering, float(position.numbering.arrays.extent)
    places: dict[int, list[Array]] = {number: [] for number in range(len(found.bodies))}
    for name, joint in found.mechanism.joints.items():
        if JOINT_KINDS[joint.kind].marker is not None:  # the others have no place of their own
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
    """Whether they span a line and no more."""
    apart = np.array(points) - points[0] if points else np.zeros((1, 3))
    values = np.linalg.svd(apart, compute_uv=False) / extent
    return bool(values[0] > _APART and values[1:].max(initial=0.0) <= _APART)


def _assembled(position: Rest, X: Array, theta: Array) -> bool:
    """Whether it closes, with axes that coincide pointing the same way and not opposite ones."""
    found = position.numbering
    residual = scaled_values(found, X)
    scale = found.arrays.rows_f[found.constraints : found.constraints + len(theta), SCALE]
    apart = residual[found.constraints :] - theta / scale
    apart = np.where(found.turns, (apart + np.pi) % (2.0 * np.pi) - np.pi, apart)
    closed = max(np.abs(residual[: found.constraints]).max(initial=0.0), np.abs(apart).max(initial=0.0)) < _CLOSED_JOINT
    return bool(closed and max(joint_gaps(found, X).values(), default=0.0) < _TURNED)


def _measures(position: Rest, X: Array, theta: Array) -> Array:
    """Values of all measures, angles within half a turn, θ as it is asked for."""
    found = position.numbering
    w = measured_values(found, X)
    turns = found.angles()[found.constraints :]
    w = np.where(turns, (w + np.pi) % (2.0 * np.pi) - np.pi, w)
    w[: len(theta)] = theta
    return w


# What tells branches apart, in words, and what to write in the file to have one of them.


_SAME = 1e-4  # rad, or extents: values that do not differ
_FLAT = 1e-6  # extents: an elbow this close to its line lies on it
_DIGITS = 9  # significant, of what is written to be pasted


def separating(found: Configuration) -> tuple[str, ...]:
    """Joint coordinates that take different values in any two of the configurations: at each turn the one that leaves
    the fewest pairs that look alike. All of them where that is not enough."""
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
    """Numbers of the different values, equal for those that do not differ."""
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
    """Whether a joint coordinate is one."""
    numbering = found.rest.numbering
    joint = found.mechanism.joint_coordinate(name)
    assert joint is not None
    return bool(numbering.angles()[numbering.measures["joint", *joint]])


def _between(value: float, other: float, angle: bool) -> float:
    return (value - other + np.pi) % (2.0 * np.pi) - np.pi if angle else value - other


def sides(found: Configuration, separators: tuple[str, ...]) -> tuple[str, ...]:
    """`E below the line B-D, B = -95.2°` of each: elbows that differ, in the plane, then values of the separators."""
    elbows = _elbows(found) if found.mechanism.planar else {}
    told = []
    for n, one in enumerate(found.each()):
        parts = [words[n] for words in elbows.values() if len(set(words)) > 1]
        for name in separators:
            value = one.joint_coordinates[name]
            parts.append(f"{name} = {np.degrees(value):.1f}°" if is_angle(found, name) else f"{name} = {value:.4g} m")
        told.append(", ".join(parts))
    return tuple(told)


def _elbows(found: Configuration) -> dict[str, list[str]]:
    """For a joint between two others of a loop in the plane, on which side of the line through them it lies."""
    numbering, mechanism = found.rest.numbering, found.mechanism
    points = set(numbering.drawing.joint_points)
    told: dict[str, list[str]] = {}
    for loop in numbering.topology.loops:
        for (before, joint), (_, after) in zip(
            pairwise([*loop, *loop]), pairwise([*loop[1:], *loop, loop[0]]), strict=False
        ):
            if joint in told or not {before, joint, after} <= points or len({before, joint, after}) < 3:
                continue
            if GROUND in mechanism.joints[joint].bodies:  # it does not move: another elbow says the same
                continue
            a, e, b = ((found.frame(name).position @ mechanism.plane_axes())[:, :2] for name in (before, joint, after))
            told[joint] = [_side(joint, f"{before}-{after}", *place, float(numbering.arrays.extent))
                           for place in zip(a, e, b, strict=True)]  # fmt: skip
    return told


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
    """`rest:` for one of the configurations: θ, and joints that tell it apart; more of them if the few do not lead
    there. It is tried out: what comes back is that branch."""
    one = list(found.each())[number]
    theta = {name: float(value) for name, value in one.coordinates.items()}
    joints = {name: float(value) for name, value in one.joint_coordinates.items()}
    known = {mechanism.joint_coordinate(name) or _joint_of(mechanism, name) for name in theta}
    joints = {name: value for name, value in joints.items() if mechanism.joint_coordinate(name) not in known}
    few = {name: joints[name] for name in separators if name in joints}
    told = all(_told(mechanism, joint) for joint in mechanism.joints.values())
    for hints in (few, joints) if told else (joints,):
        given = {name: float(f"{value:.{_DIGITS}g}") for name, value in (theta | hints).items()}
        if _leads_there(mechanism, given, one):
            return given
    raise InputError(
        f"no values of its joints lead to branch {number + 1}", part=f'mechanism "{mechanism.name}"',
        hint="draw it there",
    )  # fmt: skip


def _told(mechanism: Mechanism, joint: Joint) -> bool:
    """Whether its coordinates tell all of its freedoms."""
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
