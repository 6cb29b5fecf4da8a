"""Domain of a model: θ in boxes, or the arclength of a path."""

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
from supple.formulations.coefficients import get_coefficients
from supple.kinematics.rest import rest
from supple.reduction.parameter_space import ParameterSpace, Vary, parameter_space
from supple.reduction.path import ARCLENGTH, Path, path_layout, path_of, path_rows
from supple.reduction.region import Interval, Region, coordinate_limits, fixed_coordinates, region_boxes
from supple.reduction.sampling import Sampling
from supple.reduction.scanned_region import PathScan, Scanned, VariedScan
from supple.time_functions.function_of_time import Trajectory


@dataclass(frozen=True, eq=False)
class Domain:
    """Boxes of the fitted variables x, and the meaning of x.

    boxes       : boxes of x; varied parameters come last
    coordinates : names of x without the parameters
    observation : outputs of the model
    limits      : limits of x, where there are any
    actuators   : actuators of the mechanism
    theta_names : names of all θ
    space       : varied parameters, and the mechanism over them
    path        : path with x as its arclength; None: x is θ without the fixed coordinates
    held        : fixed coordinates of θ and their values
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
        """Names of all of x, parameters included."""
        return (*self.coordinates, *self.space.mechanism.names)

    def theta(self, x: Array) -> Array:
        """Return θ (N, s) at x (N, dimension)."""
        if self.path is not None:
            return self.path.at(x[:, 0]).theta
        full = np.empty((len(x), len(self.theta_names)))
        full[:, self._varied_indices] = x[:, : len(self.coordinates)]
        for name, value in self.held.items():
            full[:, self.theta_names.index(name)] = value
        return full

    def whole(self, x: Array) -> Array:
        """Return (θ, μ) (N, s + p) at x, by which samples are stored."""
        if self.path is None and not self.held:
            return x
        return np.hstack([self.theta(x), x[:, len(self.coordinates) :]])

    @property
    def theta_boxes(self) -> list[Box]:
        """Boxes in θ, of zero width along fixed coordinates; not defined for a path."""
        assert self.path is None
        if not self.held and not self.space.parameters:
            return self.boxes
        ends = [self.theta(np.array([box.lower, box.upper])).tolist() for box in self.boxes]
        return [Box(tuple(lower), tuple(upper)) for lower, upper in ends]

    @property
    def scans(self) -> Sequence[Scanned]:
        """Parts of (θ, μ) that a scan of modes visits."""
        return [self.scan_of(box) for box in self.boxes]

    def scan_of(self, box: Box) -> Scanned:
        """Return the part of (θ, μ) that a scan visits for one box of x."""
        if self.path is not None:
            return PathScan(self.path, box)
        lower, upper = self.whole(np.array([box.lower, box.upper])).tolist()
        found = Box(tuple(lower), tuple(upper))
        return VariedScan(found, len(self.space.parameters)) if self.space.parameters else found

    @property
    def inputs(self) -> tuple[str, ...]:
        """Actuators that are inputs; one that fixes its coordinate does no work and is none."""
        return tuple(name for name in self.actuators if name not in self.held)

    @property
    def _varied_indices(self) -> NDArray[np.int64]:
        return np.array([i for i, name in enumerate(self.theta_names) if name not in self.held], dtype=np.int64)

    def _narrow(self, layout: RowLayout) -> tuple[RowLayout, NDArray[np.int64]]:
        """Select from a row the coefficients without fixed coordinates. Loaded displacements stay inputs."""
        count = layout.shapes["input_map"][1]
        kept = [i for i in range(count) if i >= len(self.actuators) or self.actuators[i] not in self.held]
        return held_layout(layout, self._varied_indices, np.array(kept, dtype=np.int64))

    def layout(self, sampling: Sampling) -> RowLayout:
        """Return the layout of the rows that `rows` returns."""
        if self.path is not None:
            return path_layout(sampling.layout)
        return self._narrow(sampling.layout)[0] if self.held else sampling.layout

    def rows(self, sampling: Sampling, x: Array, *, check: bool = False) -> tuple[Array, Flags]:
        """Return the coefficients at x (N, dimension), and whether they exist.

        Samples are stored by θ, whatever x is. Points that only `check` an error need not be stored.
        """
        sampled = sampling.check_rows if check else sampling.rows
        if self.path is None:
            rows, valid = sampled(self.whole(x))
            if self.held:  # select from the coefficients and from the slopes that follow them
                kept, width = self._narrow(sampling.layout)[1], sampling.layout.width
                rows = rows.reshape(len(rows), -1, width)[:, :, kept].reshape(len(rows), -1)
            return rows, valid
        curve = self.path.at(x[:, 0])
        rows, valid = sampled(curve.theta)
        return path_rows(rows, sampling.layout, curve), valid

    def options(self) -> dict[str, Any]:
        """Return the region as provenance data."""
        s = len(self.coordinates)
        kept: dict[str, Any] = {"region": [[list(box.lower[:s]), list(box.upper[:s])] for box in self.boxes]}
        if self.path is not None:
            kept["path"] = self.path.data()
        if self.space.parameters:
            kept["vary"] = {item.name: [item.lower, item.upper] for item in self.space.parameters}
        return kept | ({"held": self.held} if self.held else {})


def domain_of(mechanism: Mechanism, region: Region, vary: Vary | None = None) -> Domain:
    """Return the domain of a region: boxes of θ, or a path (see `path_of`), with ranges of parameters."""
    if _is_path(region):
        if vary:
            raise InputError(
                "parameters cannot be varied along a path", part="vary", hint="give a region of coordinates instead"
            )
        return path_domain(mechanism, region if isinstance(region, Path) else path_of(mechanism, region))  # type: ignore[arg-type]
    boxes, held = region_boxes(mechanism, region), fixed_coordinates(mechanism, region)  # type: ignore[arg-type]
    return theta_domain(mechanism, boxes, held, parameter_space(mechanism, vary))


def theta_domain(
    mechanism: Mechanism, boxes: list[Box], held: dict[str, float] | None = None, space: ParameterSpace | None = None
) -> Domain:
    """Return a domain with θ as coordinates, without the fixed ones, followed by the parameters of the space.

    The actuator of a fixed coordinate is not an input.
    """
    held = held or {}
    space = parameter_space(mechanism, None) if space is None else space
    lower = tuple(item.lower for item in space.parameters)
    upper = tuple(item.upper for item in space.parameters)
    boxes = [Box((*box.lower, *lower), (*box.upper, *upper)) for box in boxes]
    names, sensed = rest(mechanism).numbering.coordinates, get_coefficients(rest(mechanism)).observation
    if held and sensed.efforts:
        raise InputError(
            "internal forces are not supported as outputs of a model with fixed coordinates", part="sensors",
            hint="remove reactions, sections, stresses and strains from the file, or let all coordinates vary",
        )  # fmt: skip
    limits = {name: pair for name, pair in coordinate_limits(mechanism).items() if name not in held}
    varied = tuple(name for name in names if name not in held)
    return Domain(boxes, varied, sensed, limits, tuple(mechanism.actuators), names, space, held=held)


def path_domain(mechanism: Mechanism, path: Path) -> Domain:
    """Return a domain with the arclength as its only coordinate; θ is among the outputs."""
    observation = get_coefficients(rest(mechanism)).observation
    along = [f"{name}.coordinate" if name in observation.outputs else name for name in path.coordinates]
    return Domain(
        path.boxes,
        (ARCLENGTH,),
        with_measures(observation, along),
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


# Coefficients of a mechanism with fixed coordinates, from those of the whole mechanism.
#
# With θ = (θ_v, θ_h) and θ_h constant, the equations of the varying coordinates are their own rows with θ̇_h = 0:
# M_vv, Γ_vvv, p_v, B_v and so on. Forces along θ_h are balanced by the constraint that fixes it. The row of the model
# is a selection from the row of the whole mechanism.


_AXES = {  # e: η, t: θ, i: inputs; axes marked "." are kept whole
    "M": "ee", "K": "ee", "damping": "ee", "christoffel": "eee", "potential": ".", "force": "e", "force_slope": "t.",
    "input_map": "ei", "outputs": ".", "rigid": ".t", "modes": "..", "friction_map": ".e", "stiffness_slope": "t..",
    "mass_gradient": "...", "mass_slope": "...", "mass_slope_gradient": "....",
    "mass_curvature": "tt..", "mass_curvature_gradient": ".....",
    "dM": "eee", "dforce_theta": "tt", "ddamping": "eet", "dinput_map": "eit", "bend": ".tt", "modes_slope": "..t",
    "dfriction_map": ".et", "efforts": "..", "defforts": "..t", "squares": ".", "overlap": ".", "places": ".",
}  # fmt: skip


def held_layout(layout: RowLayout, varied: Integers, inputs: Integers) -> tuple[RowLayout, Integers]:
    """Return the layout of a row without fixed coordinates, and the entries that it takes from the whole row.

    varied : indices of θ that vary
    inputs : indices of the inputs that remain
    """
    n, s = layout.shapes["M"][0], layout.shapes["dforce_theta"][0]
    kept = {"e": np.concatenate([varied, np.arange(s, n)]), "t": varied, "i": inputs}
    shapes, places = {}, []
    for name, whole in layout.split(np.arange(layout.width, dtype=float)).items():
        part = whole.astype(np.int64)
        for axis, kind in enumerate(_AXES[name]):
            if kind != "." and part.shape[axis]:  # a coefficient that the model lacks has no entries
                part = np.take(part, kept[kind], axis=axis)
        shapes[name] = part.shape
        places.append(part.ravel())
    return RowLayout(shapes), np.concatenate(places)
