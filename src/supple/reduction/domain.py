"""What a model is a function of: θ in boxes, or the arclength of a path."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.analyses.trajectory import Trajectory
from supple.approximation.box import Box
from supple.description.mechanism import Mechanism
from supple.description.motion import Motion
from supple.formats.motion_file import SampledMotion
from supple.formulations.coefficients import carried
from supple.kinematics.rest import rest
from supple.parameterization.layout import Layout
from supple.reduction.path import ARCLENGTH, Path, path_of
from supple.reduction.path_rows import path_layout, path_rows
from supple.reduction.region import Interval, Region, coordinate_limits, region_boxes
from supple.reduction.sampling import Sampling

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Domain:
    """Boxes of x, and what x is.

    coordinates : names of x; outputs : of the model; limits : of x, where there are any
    path        : x is its arclength; without one x is θ
    """

    boxes: list[Box]
    coordinates: tuple[str, ...]
    outputs: tuple[str, ...]
    limits: dict[str, Interval]
    path: Path | None = None

    def layout(self, sampling: Sampling) -> Layout:
        """Where coefficients stand in a row of `rows`."""
        return sampling.layout if self.path is None else path_layout(sampling.layout)

    def rows(self, sampling: Sampling, x: Array) -> tuple[Array, Flags]:
        """Coefficients at x (N, dimension), and where they exist. Samples are kept by θ, whatever x is."""
        if self.path is None:
            return sampling.rows(x)
        curve = self.path.at(x[:, 0])
        rows, valid = sampling.rows(curve.theta)
        return path_rows(rows, sampling.layout, curve), valid

    def options(self) -> dict[str, Any]:
        """The region as provenance keeps it."""
        found: dict[str, Any] = {"region": [[list(box.lower), list(box.upper)] for box in self.boxes]}
        return found if self.path is None else found | {"path": self.path.data()}


def domain_of(mechanism: Mechanism, region: Region) -> Domain:
    """The domain of a region: boxes of θ by name, or a path (see `path_of`)."""
    if _is_path(region):
        return path_domain(mechanism, region if isinstance(region, Path) else path_of(mechanism, region))  # type: ignore[arg-type]
    return theta_domain(mechanism, region_boxes(mechanism, region))  # type: ignore[arg-type]


def theta_domain(mechanism: Mechanism, boxes: list[Box]) -> Domain:
    """θ as the coordinates."""
    names, sensed = rest(mechanism).numbering.coordinates, tuple(carried(rest(mechanism)).outputs)
    return Domain(boxes, names, sensed, coordinate_limits(mechanism))


def path_domain(mechanism: Mechanism, path: Path) -> Domain:
    """The arclength as the one coordinate; θ is among the outputs, so that the model itself tells where it is."""
    sensed = tuple(carried(rest(mechanism)).outputs)
    led = tuple(f"{name}.coordinate" if name in sensed else name for name in path.coordinates)
    return Domain(path.boxes, (ARCLENGTH,), sensed + led, {ARCLENGTH: (0.0, path.length)}, path)


def _is_path(region: Region) -> bool:
    if isinstance(region, str | File | Path | Motion | Trajectory | SampledMotion | np.ndarray) or callable(region):
        return True
    return isinstance(region, list | tuple) and len(region) > 0 and isinstance(region[0], list | tuple | np.ndarray)
