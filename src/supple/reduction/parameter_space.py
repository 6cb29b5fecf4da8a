"""Parameters that are varied: their ranges as asked, and whether the mechanism is one machine all over them.

x = (θ, μ): a parameter μ of the mechanism file is a coordinate of the region like θ, but constant in time. What it may
change is numbers of the equations. Which bodies, joints, coordinates and elements there are, drives and instruments,
and on which branch loops are closed, must be the same everywhere.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.description.quantities.dimension import Measured, si_unit
from supple.description.quantities.expression import resolve_parameters
from supple.diagnostics import InputError, SuppleWarning, nearest
from supple.diagnostics.errors import quoted
from supple.formats.mechanism_file import with_parameters
from supple.formats.mechanism_text import to_yaml
from supple.formats.source import reader_of
from supple.formats.varied_mechanism import VariedMechanism, varied, written_data
from supple.formulations.coefficients import carried
from supple.formulations.described_hardware import hardware_of
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.reduced.family import FamilyParameter
from supple.reduction.region import coordinate_limits

Vary = Mapping[str, Sequence[float | str]]
"""{parameter: (lower, upper)}, numbers in SI units or texts with their own."""

_LEVELS, _FREE = 32, 8  # steps of a range; one in so many points keeps its own μ
_CHECKED = 32  # values of μ at which errors are checked
_CORNERS = 16  # of the ranges, at most, that are looked at before any work
_STEPS, _HALVINGS = 4, 6  # of the way from the nominal values to a corner, and of a step that looks like a jump
_FAR = 0.02  # of the mechanism's size: what a step may move a body by without a closer look
_NAMED = ("configurations", "motions", "scenarios")  # that a model knows by name


class ParameterSpace(NamedTuple):
    """mechanism : with the parameters open; parameters : their ranges, in the order of μ."""

    mechanism: VariedMechanism
    parameters: tuple[FamilyParameter, ...] = ()

    def placed(self, x: Array) -> Array:
        """Points x (N, s + p) with most of μ on levels of the ranges: a mechanism at another μ costs more than many θ.
        One in eight stays where it is, so that what lies between levels is fitted and checked as well."""
        found = self.on_levels(x)
        free = [zlib.crc32(point.tobytes()) % _FREE == 0 for point in np.ascontiguousarray(x)]
        found[free] = x[free]
        return found

    def on_levels(self, x: Array) -> Array:
        """Points x (N, s + p) with μ at the nearest of 33 levels of each range, its ends among them."""
        found, count = x.copy(), len(self.parameters)
        if not count:
            return found
        lower, upper = (np.array([item[k] for item in self.parameters]) for k in (1, 2))
        share = np.round(_LEVELS * (x[:, -count:] - lower) / (upper - lower)) / _LEVELS
        found[:, -count:] = np.where(share >= 1.0, upper, lower + share * (upper - lower))
        return found

    def check_points(self, x: Array) -> Array:
        """Uniform points x (N, s + p) with μ at few values of their own, one in each of equal parts of the range of
        each parameter (a Latin hypercube), in turn: θ is uniform, and so is μ."""
        if not self.parameters:
            return x
        lower, upper = (np.array([item[k] for item in self.parameters]) for k in (1, 2))
        rng, count = np.random.default_rng(_CHECKED), len(self.parameters)
        cells = np.stack([rng.permutation(_CHECKED) for _ in range(count)], axis=1)
        levels = lower + (cells + rng.uniform(size=cells.shape)) / _CHECKED * (upper - lower)
        found = x.copy()
        found[:, -count:] = levels[np.arange(len(x)) % _CHECKED]
        return found

    def corners(self) -> list[tuple[float, ...]]:
        """Corners of the ranges, a share of them where there are many."""
        found = list(product(*((item.lower, item.upper) for item in self.parameters))) if self.parameters else []
        return [found[i] for i in np.linspace(0, len(found) - 1, min(len(found), _CORNERS)).astype(int)]


def parameter_space(mechanism: Mechanism, vary: Vary | None) -> ParameterSpace:
    """The ranges as asked, and the mechanism over them; InputError for what cannot be varied."""
    if not vary:
        return ParameterSpace(VariedMechanism(mechanism))
    parameters = tuple(_parameter(mechanism, name, ends) for name, ends in vary.items())
    names = tuple(vary)
    for name, ends in vary.items():
        _require_fitting(mechanism, name, ends)
    space = ParameterSpace(VariedMechanism(mechanism, names, [item.start for item in parameters]), parameters)
    _require_influence(mechanism, space)
    _require_same_machine(space)
    for item in parameters:
        if item.start != item.nominal:
            warnings.warn(
                f"parameter {quoted(item.name)} is {item.nominal:.6g} in the file, outside its range {item.range}: the "
                f"model is given at the middle, {item.said(item.start)}",
                SuppleWarning, stacklevel=4,
            )  # fmt: skip
    return space


def _parameter(mechanism: Mechanism, name: str, ends: Any) -> FamilyParameter:
    part = f"vary {quoted(name)}"
    if name not in mechanism.parameters:
        raise InputError(f"there is no parameter {quoted(name)}", part="vary", hint=nearest(name, mechanism.parameters))
    if name in rest(mechanism).numbering.coordinates:
        raise InputError("it is the name of a coordinate too", part=part, hint="give the parameter another name")
    if isinstance(ends, str | bytes) or not isinstance(ends, Sequence | np.ndarray) or len(ends) != 2:
        raise InputError(f"{quoted(ends)} is no range", part=part, hint="give two values, the lower and the upper one")
    lower, upper = (_value(mechanism, name, end) for end in ends)
    if not lower < upper:
        raise InputError(f"from {lower:g} to {upper:g} there is nothing", part=part, hint="let it rise")
    known = [value for value in (mechanism.parameters[name], lower, upper) if isinstance(value, Measured)]
    unit = si_unit(known[0].dimension) if known else ""
    return FamilyParameter(name, float(lower), float(upper), float(mechanism.parameters[name]), unit)


def _value(mechanism: Mechanism, name: str, given: Any) -> float:
    """An end of a range, of the dimension that the parameter has in the file."""
    value = given if isinstance(given, str) else float(given)
    data = with_parameters(written_data(mechanism), {name: value})
    return resolve_parameters(data["parameters"])[name]


def _require_fitting(mechanism: Mechanism, name: str, ends: Any) -> None:
    """A unit that is given is one that the numbers of the file can take."""
    value = _value(mechanism, name, ends[0])
    if isinstance(value, Measured):
        try:
            VariedMechanism(mechanism, (name,)).built([value])
        except InputError as error:
            what = ": ".join(words for words in (error.part, error.message) if words)
            raise InputError(
                f"{quoted(value.text)} does not do for it ({what})", part=f"vary {quoted(name)}", hint=error.hint
            ) from None


def _require_influence(mechanism: Mechanism, space: ParameterSpace) -> None:
    """Each of them changes something."""
    first = _bare(space.mechanism.nominal)
    for n, item in enumerate(space.parameters):
        other = list(space.mechanism.values)
        other[n] = item.upper if item.upper != other[n] else item.lower
        found = _bare(_built(space, other))
        _require_followed(mechanism, item.name, dict(zip(space.mechanism.names, other, strict=True)), found)
        if found == first:
            raise InputError(
                "nothing in the mechanism depends on it", part=f"vary {quoted(item.name)}",
                hint="write numbers of the file as expressions in it, or vary another",
            )  # fmt: skip


def _require_followed(mechanism: Mechanism, name: str, values: Mapping[str, float], found: str) -> None:
    """Of a robot that is described by tables or a URDF: what was worked out when these were read follows no more."""
    if reader_of(mechanism) is not None and _bare(varied(mechanism, values)) != found:
        raise InputError(
            "numbers of a table, or of a robot's own file, were worked out from it when they were read",
            part=f"vary {quoted(name)}",
            hint="write it as a file of its own (supple convert), and there numbers as expressions in the parameter",
        )  # fmt: skip


def _bare(mechanism: Mechanism) -> str:
    """All that a reduced model depends on."""
    return to_yaml(
        mechanism.replace(parameters={}, configurations={}, motions={}, scenarios={}, description=None, name="")
    )


def _built(space: ParameterSpace, values: Sequence[float]) -> Mechanism:
    """The mechanism at values, its rest found; what is wrong there is told with the values."""
    try:
        found = space.mechanism.at(values)
        rest(found)
    except InputError as error:
        said = ", ".join(item.said(value) for item, value in zip(space.parameters, values, strict=True))
        what = ": ".join(words for words in (error.part, error.message) if words)
        raise InputError(
            f"at {said} there is no such mechanism ({what})", part="vary", hint="choose ranges in which it can be built"
        ) from None
    return found


def _require_same_machine(space: ParameterSpace) -> None:
    nominal = space.mechanism.nominal
    first, limits = _structure(nominal), coordinate_limits(nominal)
    middle = [0.5 * (item.lower + item.upper) for item in space.parameters]
    moved: set[str] = set()
    for values in (middle, *space.corners()):
        other = _built(space, values)
        for what, found in _structure(other).items():
            if found != first[what]:
                said = ", ".join(item.said(value) for item, value in zip(space.parameters, values, strict=True))
                raise InputError(
                    f"{what} change with it: they are others at {said}",
                    part=f"vary {', '.join(space.mechanism.names)}",
                    hint="vary numbers of masses, lengths, sections, stiffnesses; make a model of each of the others",
                )  # fmt: skip
        moved |= {f"limits of {name}" for name, pair in coordinate_limits(other).items() if pair != limits[name]}
        moved |= {section for section in _NAMED if getattr(other, section) != getattr(nominal, section)}
    if moved:
        warnings.warn(
            f"{', '.join(sorted(moved))} change with what is varied; the model keeps those of the file",
            SuppleWarning, stacklevel=5,
        )  # fmt: skip


def _structure(mechanism: Mechanism) -> dict[str, Any]:
    """What has to be the same all over the ranges, by the words it is refused with."""
    position = rest(mechanism)
    numbering, load = position.numbering, carried(position)
    return {
        "bodies, joints or coordinates": (
            numbering.bodies, tuple(mechanism.joints), numbering.coordinates, numbering.constraints,
            tuple(mechanism.actuators), tuple(mechanism.coordinate_names()),
        ),
        "elastic parts or their elements": (
            mechanism.elastic_names,
            tuple((beam.elements, beam.theory) for body in mechanism.bodies.values() for beam in body.all_beams),
        ),
        "outputs": (load.observation.data(), tuple(load.measured)),
        "drives and instruments": hardware_of(mechanism).data(),
        "forces of dry friction": dict(load.dry_forces),
    }  # fmt: skip


def require_one_branch(space: ParameterSpace, theta: Array) -> None:
    """The configuration at θ (s,) must move continuously from the nominal parameters to every corner of the ranges: a
    drawing that is closed anew for other lengths may close another way."""
    start = np.array(space.mechanism.values)
    for corner in space.corners():
        way = [start + t * (np.array(corner) - start) for t in np.linspace(0.0, 1.0, _STEPS + 1)]
        poses = [_poses(space, values, theta) for values in way]
        for (a, X), (b, Y) in zip(zip(way, poses, strict=True), list(zip(way, poses, strict=True))[1:], strict=False):
            jump = _jump(space, theta, a, X, b, Y)
            if jump is not None:
                said = ", ".join(item.said(value) for item, value in zip(space.parameters, jump, strict=True))
                raise InputError(
                    f"near {said} its loops close another way than at the nominal values", part="vary",
                    hint="choose a smaller range, or let the drawing and `rest:` follow the parameters",
                )  # fmt: skip


def _jump(space: ParameterSpace, theta: Array, a: Array, X: Array | None, b: Array, Y: Array | None) -> Array | None:
    """Where between a and b poses jump: a step that is halved again and again, and stays as far."""
    if X is None or Y is None:
        return None
    first = far = float(np.abs(X - Y).max())
    for _ in range(_HALVINGS):
        if far < _FAR:
            return None
        middle = 0.5 * (a + b)
        Z = _poses(space, middle, theta)
        if Z is None:
            return None
        below, above = float(np.abs(X - Z).max()), float(np.abs(Z - Y).max())
        a, X, b, Y, far = (a, X, middle, Z, below) if below > above else (middle, Z, b, Y, above)
    return b if far > 0.5 * first else None


def _poses(space: ParameterSpace, values: Array, theta: Array) -> Array | None:
    """Of all bodies, lengths in units of the mechanism's size; None where it cannot be assembled."""
    mechanism = _built(space, values.tolist())
    found = assemble(mechanism, theta[None], failures="mark")
    if not found.assembled[0]:
        return None
    X = found.X[0].copy()
    X[..., :3] /= rest(space.mechanism.nominal).numbering.arrays.extent
    return np.asarray(X)
