"""Varied parameters: their ranges, and the check that the mechanism is the same machine over all of them.

x = (θ, μ): a parameter μ of the mechanism file is a coordinate of the region like θ, but constant in time. It may
change numbers of the equations only. Bodies, joints, coordinates, elements, drives, instruments, and the branch on
which loops are closed must be the same everywhere.
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
from supple.diagnostics import InputError, SuppleWarning, require_known
from supple.diagnostics.errors import quote
from supple.formats.mechanism_file import with_parameters
from supple.formats.mechanism_text import to_yaml
from supple.formats.source import reader_of
from supple.formats.varied_mechanism import VariedMechanism, vary_mechanism, written_data
from supple.formulations.coefficients import get_coefficients
from supple.formulations.described_hardware import hardware_of
from supple.kinematics.closure import assemble
from supple.kinematics.rest import rest
from supple.reduced.family import FamilyParameter
from supple.reduction.region import coordinate_limits

Vary = Mapping[str, Sequence[float | str]]
"""{parameter: (lower, upper)}, as numbers in SI units or texts with units."""

_LEVELS, _FREE = 32, 8  # steps of a range; one point in `_FREE` keeps its own μ
_CHECKED = 32  # values of μ at which errors are checked
_CORNERS = 16  # largest number of corners of the ranges that are tested before the reduction
_STEPS, _HALVINGS = 4, 6  # from the nominal values to a corner; halvings of a step that looks like a jump
_FAR = 0.02  # of the mechanism's size: motion of a body in one step above which the step is halved
_NAMED = ("configurations", "motions", "scenarios")  # sections that a model carries by name


class ParameterSpace(NamedTuple):
    """Mechanism with variable parameters, and their ranges in the order of μ."""

    mechanism: VariedMechanism
    parameters: tuple[FamilyParameter, ...] = ()

    def place_points(self, x: Array) -> Array:
        """Move most points x (N, s + p) to levels of μ, because another μ costs more than many θ.

        One point in eight stays, so that the space between levels is fitted and checked as well.
        """
        found = self.on_levels(x)
        free = [zlib.crc32(point.tobytes()) % _FREE == 0 for point in np.ascontiguousarray(x)]
        found[free] = x[free]
        return found

    def on_levels(self, x: Array) -> Array:
        """Return points x (N, s + p) with μ at the nearest of 33 levels of each range, both ends included."""
        found, count = x.copy(), len(self.parameters)
        if not count:
            return found
        lower, upper = (np.array([item[k] for item in self.parameters]) for k in (1, 2))
        share = np.round(_LEVELS * (x[:, -count:] - lower) / (upper - lower)) / _LEVELS
        found[:, -count:] = np.where(share >= 1.0, upper, lower + share * (upper - lower))
        return found

    def check_points(self, x: Array) -> Array:
        """Return uniform points x (N, s + p) that share a few values of μ.

        The values form a Latin hypercube: one in each of equal parts of the range of each parameter. They are used in
        turn, so that both θ and μ are uniform.
        """
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
        """Return the corners of the ranges, or a part of them if there are many."""
        found = list(product(*((item.lower, item.upper) for item in self.parameters))) if self.parameters else []
        return [found[i] for i in np.linspace(0, len(found) - 1, min(len(found), _CORNERS)).astype(int)]


def parameter_space(mechanism: Mechanism, vary: Vary | None) -> ParameterSpace:
    """Return the parameter space for given ranges; InputError if a parameter cannot be varied."""
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
                f"parameter {quote(item.name)} is {item.nominal:.6g} in the file, outside its range {item.range}; the "
                f"model uses the middle of the range, {item.format_value(item.start)}",
                SuppleWarning, stacklevel=4,
            )  # fmt: skip
    return space


def _parameter(mechanism: Mechanism, name: str, ends: Any) -> FamilyParameter:
    part = f"vary {quote(name)}"
    require_known("parameter", name, mechanism.parameters, part="vary")
    if name in rest(mechanism).numbering.coordinates:
        raise InputError("a coordinate has the same name", part=part, hint="give the parameter another name")
    if isinstance(ends, str | bytes) or not isinstance(ends, Sequence | np.ndarray) or len(ends) != 2:
        raise InputError(f"{quote(ends)} is not a range", part=part, hint="give two values, the lower and the upper")
    lower, upper = (_value(mechanism, name, end) for end in ends)
    if not lower < upper:
        raise InputError(
            f"the range {lower:g} to {upper:g} is empty", part=part, hint="give a lower value below the upper one"
        )
    known = [value for value in (mechanism.parameters[name], lower, upper) if isinstance(value, Measured)]
    unit = si_unit(known[0].dimension) if known else ""
    return FamilyParameter(name, float(lower), float(upper), float(mechanism.parameters[name]), unit)


def _value(mechanism: Mechanism, name: str, given: Any) -> float:
    """Return an end of a range, in the dimension that the parameter has in the file."""
    value = given if isinstance(given, str) else float(given)
    data = with_parameters(written_data(mechanism), {name: value})
    return resolve_parameters(data["parameters"])[name]


def _require_fitting(mechanism: Mechanism, name: str, ends: Any) -> None:
    """Require a unit that the parameter can have in the file."""
    value = _value(mechanism, name, ends[0])
    if isinstance(value, Measured):
        try:
            VariedMechanism(mechanism, (name,)).build([value])
        except InputError as error:
            what = ": ".join(text for text in (error.part, error.message) if text)
            raise InputError(
                f"{quote(value.text)} is not a valid value ({what})", part=f"vary {quote(name)}", hint=error.hint
            ) from None


def _require_influence(mechanism: Mechanism, space: ParameterSpace) -> None:
    """Require that each parameter changes the mechanism."""
    first = _bare(space.mechanism.nominal)
    for n, item in enumerate(space.parameters):
        other = list(space.mechanism.values)
        other[n] = item.upper if item.upper != other[n] else item.lower
        found = _bare(_build_mechanism(space, other))
        _require_followed(mechanism, item.name, dict(zip(space.mechanism.names, other, strict=True)), found)
        if found == first:
            raise InputError(
                "the mechanism does not depend on this parameter", part=f"vary {quote(item.name)}",
                hint="write numbers of the file as expressions in it, or vary another parameter",
            )  # fmt: skip


def _require_followed(mechanism: Mechanism, name: str, values: Mapping[str, float], found: str) -> None:
    """Require that all numbers of a robot read from tables or a URDF follow the parameter."""
    if reader_of(mechanism) is not None and _bare(vary_mechanism(mechanism, values)) != found:
        raise InputError(
            "numbers of the table or robot file were computed from this parameter when the file was read",
            part=f"vary {quote(name)}",
            hint="convert the file (supple convert) and write these numbers as expressions in the parameter",
        )  # fmt: skip


def _bare(mechanism: Mechanism) -> str:
    """Return as text all of the mechanism that a reduced model depends on."""
    return to_yaml(
        mechanism.replace(parameters={}, configurations={}, motions={}, scenarios={}, description=None, name="")
    )


def _build_mechanism(space: ParameterSpace, values: Sequence[float]) -> Mechanism:
    """Return the mechanism at given values, with its rest posture; errors name the values."""
    try:
        found = space.mechanism.at(values)
        rest(found)
    except InputError as error:
        at = ", ".join(item.format_value(value) for item, value in zip(space.parameters, values, strict=True))
        what = ": ".join(text for text in (error.part, error.message) if text)
        raise InputError(
            f"the mechanism cannot be built at {at} ({what})",
            part="vary",
            hint="choose ranges in which it can be built",
        ) from None
    return found


def _require_same_machine(space: ParameterSpace) -> None:
    nominal = space.mechanism.nominal
    first, limits = _structure(nominal), coordinate_limits(nominal)
    middle = [0.5 * (item.lower + item.upper) for item in space.parameters]
    moved: set[str] = set()
    for values in (middle, *space.corners()):
        other = _build_mechanism(space, values)
        for what, found in _structure(other).items():
            if found != first[what]:
                at = ", ".join(item.format_value(value) for item, value in zip(space.parameters, values, strict=True))
                raise InputError(
                    f"{what} are not the same over the ranges: they differ at {at}",
                    part=f"vary {', '.join(space.mechanism.names)}",
                    hint="vary masses, lengths, sections or stiffnesses only; otherwise reduce each variant separately",
                )  # fmt: skip
        moved |= {f"limits of {name}" for name, pair in coordinate_limits(other).items() if pair != limits[name]}
        moved |= {section for section in _NAMED if getattr(other, section) != getattr(nominal, section)}
    if moved:
        warnings.warn(
            f"{', '.join(sorted(moved))} change with the varied parameters; the model keeps those of the file",
            SuppleWarning, stacklevel=5,
        )  # fmt: skip


def _structure(mechanism: Mechanism) -> dict[str, Any]:
    """Return the properties that must be the same over the ranges, with the names used in errors."""
    position = rest(mechanism)
    numbering, load = position.numbering, get_coefficients(position)
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
    """Require that the configuration at θ (s,) moves continuously over the parameter ranges.

    It is followed from the nominal parameters to every corner of the ranges. A drawing that is closed again for other
    lengths may close on another branch.
    """
    start = np.array(space.mechanism.values)
    for corner in space.corners():
        way = [start + t * (np.array(corner) - start) for t in np.linspace(0.0, 1.0, _STEPS + 1)]
        poses = [_poses(space, values, theta) for values in way]
        for (a, X), (b, Y) in zip(zip(way, poses, strict=True), list(zip(way, poses, strict=True))[1:], strict=False):
            jump = _jump(space, theta, a, X, b, Y)
            if jump is not None:
                at = ", ".join(item.format_value(value) for item, value in zip(space.parameters, jump, strict=True))
                raise InputError(
                    f"near {at} the loops close on another branch than at the nominal values", part="vary",
                    hint="choose a smaller range, or make the drawing and `rest:` depend on the parameters",
                )  # fmt: skip


def _jump(space: ParameterSpace, theta: Array, a: Array, X: Array | None, b: Array, Y: Array | None) -> Array | None:
    """Return where between a and b the poses jump: a step that is halved repeatedly and does not become shorter."""
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
    """Return the poses of all bodies, lengths relative to the mechanism's size; None if it cannot be assembled."""
    mechanism = _build_mechanism(space, values.tolist())
    found = assemble(mechanism, theta[None], failures="mark")
    if not found.assembled[0]:
        return None
    X = found.X[0].copy()
    X[..., :3] /= rest(space.mechanism.nominal).numbering.arrays.extent
    return np.asarray(X)
