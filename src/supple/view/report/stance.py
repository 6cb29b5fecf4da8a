"""Where a report looks at a mechanism: one posture, and the coordinates that vary about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.rest import rest
from supple.kinematics.row_arrays import row_sizes
from supple.reduction.region import coordinate_limits

_HOME = "home"
MOST = 12  # coordinates that a report follows over their ranges, unless more are asked for


@dataclass(frozen=True, eq=False)
class Stance:
    """at : what the posture is called, in words; ranges : coordinates that vary -> from where to where, rad or m;
    left : coordinates with a range that are not followed, since there are many."""

    configuration: Configuration
    at: str
    ranges: dict[str, tuple[float, float]]
    left: tuple[str, ...] = ()

    @property
    def mechanism(self) -> Mechanism:
        return self.configuration.mechanism

    @property
    def closed(self) -> bool:
        """Whether rank can be lost: joints close loops, or coordinates are other measures than those of joints."""
        numbering = self.configuration.rest.numbering
        sizes = row_sizes(numbering.arrays)
        own = {row for (kind, *_), row in numbering.measures.items() if kind == "joint"}
        first = range(sizes.joint_rows, sizes.joint_rows + sizes.coordinates)
        return sizes.joint_rows > sizes.tree_rows or not own.issuperset(first)

    @cached_property
    def units(self) -> dict[str, str]:
        return rest(self.mechanism).numbering.coordinate_units

    @property
    def others(self) -> list[str]:
        """Coordinates that stay where they are: nothing says how far they go."""
        return [name for name in self.units if name not in self.ranges and name not in self.left]

    def line(self, name: str, count: int) -> Array:
        """Values of one coordinate over its range."""
        return np.linspace(*self.ranges[name], count)

    def along(self, name: str, count: int) -> Configuration:
        """Postures along one coordinate, the others as here; what cannot be assembled is marked."""
        stays = {key: float(value) for key, value in self.configuration.coordinates.items()}
        return assemble(self.mechanism, stays | {name: self.line(name, count)}, failures="mark")

    def corners(self) -> Configuration:
        """The ends of every range, and here last, as they are sketched."""
        here = {name: float(value) for name, value in self.configuration.coordinates.items()}
        rows = [here | {name: end} for name, ends in self.ranges.items() for end in ends] + [here]
        return assemble(self.mechanism, {name: np.array([row[name] for row in rows]) for name in here}, failures="mark")


def stance(mechanism: Mechanism, at: At = None, region: Mapping[str, tuple[float, float]] | None = None) -> Stance:
    """`at`, or `home`, or the first named configuration, or rest; over the region, or the limits there are."""
    named = _HOME if _HOME in mechanism.configurations else next(iter(mechanism.configurations), None)
    chosen = named if at is None else at
    said = chosen if isinstance(chosen, str) else "rest" if chosen is None else "the posture asked for"
    known = rest(mechanism).numbering.coordinates
    limits = coordinate_limits(mechanism) | dict(region or {}) if known else {}
    ranges = {name: limits[name] for name in known if name in limits and limits[name][0] < limits[name][1]}
    # Those that were asked for come first; each one takes pictures over its range.
    order = sorted(ranges, key=lambda name: name not in (region or {}))
    kept = set(order[: max(MOST, len(set(region or {}) & set(ranges)))])
    shown = {name: ends for name, ends in ranges.items() if name in kept}
    return Stance(assemble(mechanism, chosen), said, shown, tuple(name for name in ranges if name not in kept))
