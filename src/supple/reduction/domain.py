"""What a model is a function of: θ in boxes, or the arclength of a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.approximation.refinement.box import Box
from supple.array_types import Array, Flags, Integers
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.diagnostics import InputError
from supple.equations.observation import Observation, with_measures
from supple.equations.row import RowLayout
from supple.formats.time_table import SampledMotion
from supple.formulations.coefficients import carried
from supple.kinematics.rest import rest
from supple.reduction.parameter_space import ParameterSpace, Vary, parameter_space
from supple.reduction.path import ARCLENGTH, Path, path_layout, path_of, path_rows
from supple.reduction.region import Interval, Region, coordinate_limits, fixed_coordinates, region_boxes
from supple.reduction.sampling import Sampling
from supple.reduction.scanned_region import PathScan, Scanned, VariedScan
from supple.time_functions.function_of_time import Trajectory


@dataclass(frozen=True, eq=False)
class Domain:
    """Boxes of x, and what x is.

    boxes       : of x, parameters that are varied last
    coordinates : names of x, without those of parameters; observation : outputs of the model
    actuators   : of the mechanism
    limits      : of x, where there are any
    path        : x is its arclength; without one x is θ, but for what is held
    held        : coordinates of θ that keep one value, and that value
    theta_names : of all θ
    space       : parameters that are varied beside, and the mechanism over them
    """

    boxes: list[Box]
    coordinates: tuple[str, ...]
    observation: Observation
    limits: dict[str, Interval]
    actuators: tuple[str, ...]
    theta_names: tuple[str, ...]
    space: ParameterSpace
    path: Path | None = None
    held: dict[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Of all of x, parameters too."""
        return (*self.coordinates, *self.space.mechanism.names)

    def theta(self, x: Array) -> Array:
        """θ (N, s) at x (N, dimension)."""
        if self.path is not None:
            return self.path.at(x[:, 0]).theta
        full = np.empty((len(x), len(self.theta_names)))
        full[:, self._varied] = x[:, : len(self.coordinates)]
        for name, value in self.held.items():
            full[:, self.theta_names.index(name)] = value
        return full

    def whole(self, x: Array) -> Array:
        """(θ, μ) (N, s + p) at x, by which samples are kept."""
        if self.path is None and not self.held:
            return x
        return np.hstack([self.theta(x), x[:, len(self.coordinates) :]])

    @property
    def theta_boxes(self) -> list[Box]:
        """The boxes in θ, flat where a coordinate is held; a path has none."""
        assert self.path is None
        if not self.held and not self.space.parameters:
            return self.boxes
        ends = [self.theta(np.array([box.lower, box.upper])).tolist() for box in self.boxes]
        return [Box(tuple(lower), tuple(upper)) for lower, upper in ends]

    @property
    def scanned(self) -> Sequence[Scanned]:
        """Where in (θ, μ) modes are looked at."""
        return [self.scan_of(box) for box in self.boxes]

    def scan_of(self, box: Box) -> Scanned:
        """The same of one box of x."""
        if self.path is not None:
            return PathScan(self.path, box)
        lower, upper = self.whole(np.array([box.lower, box.upper])).tolist()
        found = Box(tuple(lower), tuple(upper))
        return VariedScan(found, len(self.space.parameters)) if self.space.parameters else found

    @property
    def inputs(self) -> tuple[str, ...]:
        """The actuators that are left: one that holds its coordinate does no work."""
        return tuple(name for name in self.actuators if name not in self.held)

    @property
    def _varied(self) -> NDArray[np.int64]:
        return np.array([i for i, name in enumerate(self.theta_names) if name not in self.held], dtype=np.int64)

    def _narrow(self, layout: RowLayout) -> tuple[RowLayout, NDArray[np.int64]]:
        """Inputs of a row are the actuators, then loaded displacements, which nothing holds."""
        count = layout.shapes["input_map"][1]
        kept = [i for i in range(count) if i >= len(self.actuators) or self.actuators[i] not in self.held]
        return held_layout(layout, self._varied, np.array(kept, dtype=np.int64))

    def layout(self, sampling: Sampling) -> RowLayout:
        """Where coefficients stand in a row of `rows`."""
        if self.path is not None:
            return path_layout(sampling.layout)
        return self._narrow(sampling.layout)[0] if self.held else sampling.layout

    def rows(self, sampling: Sampling, x: Array, *, check: bool = False) -> tuple[Array, Flags]:
        """Coefficients at x (N, dimension), and where they exist. Samples are kept by θ, whatever x is; those that only
        `check` an error need not be kept."""
        sampled = sampling.check_rows if check else sampling.rows
        if self.path is None:
            rows, valid = sampled(self.whole(x))
            if self.held:  # of coefficients, and of their slopes behind them
                kept, width = self._narrow(sampling.layout)[1], sampling.layout.width
                rows = rows.reshape(len(rows), -1, width)[:, :, kept].reshape(len(rows), -1)
            return rows, valid
        curve = self.path.at(x[:, 0])
        rows, valid = sampled(curve.theta)
        return path_rows(rows, sampling.layout, curve), valid

    def options(self) -> dict[str, Any]:
        """The region as provenance keeps it."""
        s = len(self.coordinates)
        kept: dict[str, Any] = {"region": [[list(box.lower[:s]), list(box.upper[:s])] for box in self.boxes]}
        if self.path is not None:
            kept["path"] = self.path.data()
        if self.space.parameters:
            kept["vary"] = {item.name: [item.lower, item.upper] for item in self.space.parameters}
        return kept | ({"held": self.held} if self.held else {})


def domain_of(mechanism: Mechanism, region: Region, vary: Vary | None = None) -> Domain:
    """The domain of a region: boxes of θ by name, or a path (see `path_of`); and ranges of parameters beside."""
    if _is_path(region):
        if vary:
            raise InputError(
                "along a path no parameters are varied", part="vary", hint="give a region of coordinates instead"
            )
        return path_domain(mechanism, region if isinstance(region, Path) else path_of(mechanism, region))  # type: ignore[arg-type]
    boxes, held = region_boxes(mechanism, region), fixed_coordinates(mechanism, region)  # type: ignore[arg-type]
    return theta_domain(mechanism, boxes, held, parameter_space(mechanism, vary))


def theta_domain(
    mechanism: Mechanism, boxes: list[Box], held: dict[str, float] | None = None, space: ParameterSpace | None = None
) -> Domain:
    """θ as the coordinates, but for those held; the actuator that holds one is no input any more. Parameters of the
    space follow them."""
    held = held or {}
    space = parameter_space(mechanism, None) if space is None else space
    lower = tuple(item.lower for item in space.parameters)
    upper = tuple(item.upper for item in space.parameters)
    boxes = [Box((*box.lower, *lower), (*box.upper, *upper)) for box in boxes]
    names, sensed = rest(mechanism).numbering.coordinates, carried(rest(mechanism)).observation
    if held and sensed.efforts:
        raise InputError(
            "with coordinates held there are no forces inside among its outputs", part="sensors",
            hint="take reactions, sections, stresses and strains out of the file, or let all coordinates vary",
        )  # fmt: skip
    limits = {name: pair for name, pair in coordinate_limits(mechanism).items() if name not in held}
    varied = tuple(name for name in names if name not in held)
    return Domain(boxes, varied, sensed, limits, tuple(mechanism.actuators), names, space, held=held)


def path_domain(mechanism: Mechanism, path: Path) -> Domain:
    """The arclength as the one coordinate; θ is among the outputs, so that the model itself tells where it is."""
    seen = carried(rest(mechanism)).observation
    led = [f"{name}.coordinate" if name in seen.outputs else name for name in path.coordinates]
    return Domain(
        path.boxes,
        (ARCLENGTH,),
        with_measures(seen, led),
        {ARCLENGTH: (0.0, path.length)},
        tuple(mechanism.actuators),
        path.coordinates,
        parameter_space(mechanism, None),
        path,
    )


def _is_path(region: Region) -> bool:
    if isinstance(region, str | File | Path | Motion | Trajectory | SampledMotion | np.ndarray) or callable(region):
        return True
    return isinstance(region, list | tuple) and len(region) > 0 and isinstance(region[0], list | tuple | np.ndarray)


# Coefficients of a mechanism some of whose θ are held, from those of the whole mechanism.
#
# With θ = (θ_v, θ_h), θ_h constant, the equations of the coordinates that vary are their own rows with θ̇_h = 0:
# M_vv, Γ_vvv, p_v, B_v and so on. What acts along θ_h is borne by whatever holds it. A row of them is a selection from
# the row of the whole mechanism.


_AXES = {  # e: η, t: θ, i: inputs; what is not named is kept whole
    "M": "ee", "K": "ee", "damping": "ee", "christoffel": "eee", "potential": ".", "force": "e", "force_slope": "t.",
    "input_map": "ei", "outputs": ".", "rigid": ".t", "modes": "..", "friction_map": ".e", "stiffness_slope": "t..",
    "mass_gradient": "...", "mass_slope": "...", "mass_slope_gradient": "....",
    "mass_curvature": "tt..", "mass_curvature_gradient": ".....",
    "dM": "eee", "dforce_theta": "tt", "ddamping": "eet", "dinput_map": "eit", "bend": ".tt", "modes_slope": "..t",
    "dfriction_map": ".et", "efforts": "..", "defforts": "..t", "squares": ".", "overlap": ".", "places": ".",
}  # fmt: skip


def held_layout(layout: RowLayout, varied: Integers, inputs: Integers) -> tuple[RowLayout, Integers]:
    """Where coefficients stand in a row of the coordinates that vary, and which entries of a whole row these are.

    varied : which of θ vary; inputs : which inputs are left
    """
    n, s = layout.shapes["M"][0], layout.shapes["dforce_theta"][0]
    kept = {"e": np.concatenate([varied, np.arange(s, n)]), "t": varied, "i": inputs}
    shapes, places = {}, []
    for name, whole in layout.split(np.arange(layout.width, dtype=float)).items():
        part = whole.astype(np.int64)
        for axis, kind in enumerate(_AXES[name]):
            if kind != "." and part.shape[axis]:  # what a model does without has no entries to take
                part = np.take(part, kept[kind], axis=axis)
        shapes[name] = part.shape
        places.append(part.ravel())
    return RowLayout(shapes), np.concatenate(places)
