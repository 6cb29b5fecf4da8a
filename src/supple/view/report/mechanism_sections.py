"""Report sections about a mechanism: sketch, tables of its parts, mobility, and distance to singularities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism
from supple.formulations.coefficients import units_of
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import At, Configuration
from supple.kinematics.inspection import Inspection
from supple.kinematics.rest import rest
from supple.kinematics.row_arrays import row_sizes
from supple.reduction.region import coordinate_limits
from supple.results.units import force
from supple.view.house_style import PALETTE, in_house_style, label, new_figure
from supple.view.panels import Panels, panels
from supple.view.report.page import (
    Html,
    ReportSection,
    beside,
    bullets,
    fold_parts,
    html_table,
    paragraph,
    report_section,
)
from supple.view.report.report_picture import Drawings

_HOME = "home"
MOST = 12  # largest number of coordinates that are followed over their ranges, unless more are requested


@dataclass(frozen=True, eq=False)
class Stance:
    """Posture of a mechanism in a report, and the coordinates that vary about it.

    at     : name of the posture
    ranges : coordinates that vary -> limits, rad or m
    left   : coordinates with a range that are not followed, since there are too many
    """

    configuration: Configuration
    at: str
    ranges: dict[str, tuple[float, float]]
    left: tuple[str, ...] = ()

    @property
    def mechanism(self) -> Mechanism:
        return self.configuration.mechanism

    @property
    def closed(self) -> bool:
        """True if rank can be lost: joints close loops, or coordinates are other measures than those of joints."""
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
        """Coordinates without a known range, which stay fixed."""
        return [name for name in self.units if name not in self.ranges and name not in self.left]

    def line(self, name: str, count: int) -> Array:
        """Return values of one coordinate over its range."""
        return np.linspace(*self.ranges[name], count)

    def along(self, name: str, count: int) -> Configuration:
        """Return postures along one coordinate, with the others fixed; those that cannot be assembled are marked."""
        stays = {key: float(value) for key, value in self.configuration.coordinates.items()}
        return assemble(self.mechanism, stays | {name: self.line(name, count)}, failures="mark")

    def corners(self) -> Configuration:
        """Return postures at the ends of every range, with the posture of the report last."""
        here = {name: float(value) for name, value in self.configuration.coordinates.items()}
        rows = [here | {name: end} for name, ends in self.ranges.items() for end in ends] + [here]
        return assemble(self.mechanism, {name: np.array([row[name] for row in rows]) for name in here}, failures="mark")


def stance(mechanism: Mechanism, at: At = None, region: Mapping[str, tuple[float, float]] | None = None) -> Stance:
    """Return the posture and ranges of a report.

    The posture is `at`, else `home`, the first named configuration, or rest. Ranges are `region`, or the known limits.
    """
    named = _HOME if _HOME in mechanism.configurations else next(iter(mechanism.configurations), None)
    chosen = named if at is None else at
    at_name = chosen if isinstance(chosen, str) else "rest" if chosen is None else "the requested posture"
    known = rest(mechanism).numbering.coordinates
    limits = coordinate_limits(mechanism) | dict(region or {}) if known else {}
    ranges = {name: limits[name] for name in known if name in limits and limits[name][0] < limits[name][1]}
    # Requested coordinates come first; each one needs figures over its range.
    order = sorted(ranges, key=lambda name: name not in (region or {}))
    kept = set(order[: max(MOST, len(set(region or {}) & set(ranges)))])
    shown = {name: ends for name, ends in ranges.items() if name in kept}
    return Stance(assemble(mechanism, chosen), at_name, shown, tuple(name for name in ranges if name not in kept))


_MANY = 12  # largest number of rows of a table that is not folded
_POINTS = 41  # points along a coordinate
_COLUMNS = 3


def mechanism_sections(stance: Stance, seen: Inspection, draw: Drawings) -> list[ReportSection]:
    """Return the sections about the mechanism and its range of motion."""
    mechanism = stance.mechanism
    what = report_section(
        "Mechanism",
        paragraph(mechanism.description) if mechanism.description else None,
        draw.picture(stance.configuration.plot(labels=True), f"{mechanism.name} at {posture_words(stance)}."),
        html_table(("", ""), _counts(seen), texts=(0, 1)),
        bullets(seen.notes),
        beside(
            _long("bodies", ("body", "", "mass / kg"), _bodies(mechanism, seen), (0, 1)),
            _long(
                "joints",
                ("joint", "kind", "between", "limits", "compliant in"),
                _joints(mechanism, seen),
                (0, 1, 2, 3, 4),
            ),
        ),
        beside(
            _long("actuators", ("actuator", "drives", "limits", "drive"), _actuators(stance, seen), (0, 1, 2, 3)),
            _long("outputs", ("output", "unit", "instrument"), _outputs(mechanism, seen), (0, 1, 2)),
        ),
    )
    return [what, _room(stance, draw)]


def posture_words(stance: Stance) -> str:
    """Return a text such as `home (lift = 1.15 m, elbow = 1 m)`."""
    values = ", ".join(
        f"{name} = {in_unit(float(value), stance.units[name])}"
        for name, value in stance.configuration.coordinates.items()
    )
    return f"{stance.at} ({values})" if values else stance.at


def in_unit(value: float, unit: str) -> str:
    """Return a text such as `1.15 m` or `40°`."""
    return f"{np.degrees(value):.4g}°" if unit == "rad" else f"{value:.4g} {unit}".strip()


def range_text(ends: Sequence[float] | None, unit: str) -> str:
    """Return a text such as `-20° to 85°`."""
    return "" if ends is None else f"{in_unit(float(ends[0]), unit)} to {in_unit(float(ends[1]), unit)}"


def _counts(seen: Inspection) -> list[tuple[str, str]]:
    found = [
        ("mobility", f"{seen.mobility} (degrees of freedom minus constraints, Grübler count: {seen.gruebler})"),
        ("coordinates θ", ", ".join(seen.coordinates) or "none"),
        ("actuated", ", ".join(seen.actuated) or "none"),
        ("loops", f"{len(seen.loops)}" + "".join(f"; {' – '.join(loop)}" for loop in seen.loops)),
        ("redundant constraints", f"{seen.redundant_constraints}" + _write_joints(seen.redundant_joints, " in ")),
        ("singularity in the drawn posture", f"{seen.singularity:.3g} (0 is singular)"),
    ]
    return found + ([("couplings", ", ".join(seen.couplings))] if seen.couplings else [])


def _write_joints(names: Sequence[str], before: str) -> str:
    if len(names) > _MANY:
        return f"{before}{len(names)} joints"
    return f"{before}{', '.join(names)}" if names else ""


def _bodies(mechanism: Mechanism, seen: Inspection) -> list[tuple[str, ...]]:
    masses = mass_properties(rest(mechanism).numbering.drawing)
    elastic = {part.name: part for part in seen.elastic_bodies}
    rows = []
    for name in mechanism.bodies:
        part = elastic.get(name)
        made = "rigid" if part is None else str(part).removeprefix(f"{name}: ").rpartition(", ")[0]
        rows.append((name, made, f"{masses[name].mass:.4g}"))
    return [*rows, ("total", "", f"{sum(item.mass for item in masses.values()):.4g}")]


def _joints(mechanism: Mechanism, seen: Inspection) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for name, joint in mechanism.joints.items():
        limits = []
        for coordinate in joint.coordinates(mechanism.plane):
            ends = joint.value("limits", coordinate, mechanism.plane)
            unit = "m" if coordinate == joint.slide(mechanism.plane) else "rad"
            limits += [range_text(ends, unit)] if ends is not None else []
        ways = ", ".join(seen.elastic_joints.get(name, ()))
        rows.append((name, joint.kind, " – ".join(joint.bodies), "; ".join(limits), ways))
    return rows


def _actuators(stance: Stance, seen: Inspection) -> list[tuple[str, ...]]:
    mechanism, units = stance.mechanism, units_of(rest(stance.mechanism)).inputs
    rows: list[tuple[str, ...]] = []
    for name, part in mechanism.actuators.items():
        unit = next((own for own in ("m", "rad") if force(own) == units.get(name)), "")
        places = part.joint if part.joint is not None else " – ".join(part.between or ())
        bounds = [range_text(part.limits, unit)] if part.limits is not None else []
        if part.force_limits is not None:
            bounds.append(f"{part.force_limits[0]:.4g} to {part.force_limits[1]:.4g} {units.get(name, '')}")
        rows.append((name, str(places), "; ".join(bounds), seen.drives.get(name, "")))
    return rows


def _outputs(mechanism: Mechanism, seen: Inspection) -> list[tuple[str, ...]]:
    units = units_of(rest(mechanism)).outputs
    return [(name, unit, seen.instruments.get(name, "")) for name, unit in units.items()]


def _long(what: str, heads: Sequence[str], rows: Sequence[Sequence[str]], texts: Sequence[int]) -> Html | None:
    """Return a table, folded if it is long, without empty columns."""
    kept = [k for k in range(len(heads)) if k == 0 or any(row[k] for row in rows)]
    made = html_table(
        [heads[k] for k in kept], [[row[k] for k in kept] for row in rows],
        texts=[i for i, k in enumerate(kept) if k in texts],
    )  # fmt: skip
    return fold_parts(f"{len(rows)} {what}", made) if len(rows) > _MANY else made


def _room(stance: Stance, draw: Drawings) -> ReportSection:
    rows = [(name, range_text(ends, stance.units[name])) for name, ends in stance.ranges.items()]
    notes: list[str] = []
    if stance.others:
        notes.append(f"No limits are known for {', '.join(stance.others)}, which stay fixed: give limits in the file, "
                     "or --region.")  # fmt: skip
    if stance.left:
        notes.append(f"{len(stance.left)} more coordinates stay fixed: the report follows {len(stance.ranges)} "
                     "coordinates, those of --region first.")  # fmt: skip
    quiet = bullets(notes)
    if not rows:
        return report_section(
            "Range of motion", quiet or paragraph("The mechanism has no coordinates: it is a structure.")
        )
    parts: list[Html | None] = [html_table(("coordinate", "region"), rows, texts=(0, 1)), quiet]
    postures = stance.corners()
    if postures.assembled[-1] and postures.assembled.sum() > 1:
        caption = "Posture of the report, and ghosts at the ends of each coordinate's range with the others fixed."
        parts.append(draw.picture(postures.plot(labels=False), caption))
    if stance.closed:  # a tree has no singularities
        caption = (
            "Distance to singularity: smallest over largest singular value of the constraint rows of joints and "
            "coordinates; it is 0 in a singular posture. The other coordinates are fixed."
        )
        parts.append(draw.picture(_singularity(stance), caption))
    return report_section("Range of motion", *parts)


def along_each(stance: Stance, height: float = 2.7) -> tuple[Any, dict[str, Any]]:
    """Return a figure with one panel per coordinate, by name."""
    figure, shown = small_panels(len(stance.ranges), height)
    return figure, dict(zip(stance.ranges, shown, strict=True))


def small_panels(count: int, height: float) -> tuple[Any, list[Any]]:
    """Return a figure with a number of panels of one height, inches, that share their vertical axis."""
    columns = min(_COLUMNS, count)
    rows = -(-count // columns)
    figure = new_figure(8.4 if count == 1 else 3.6 * columns, height * rows + 0.2)
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for axes in grid[count:]:
        axes.set_visible(False)
    return figure, list(grid[:count])


def from_zero(shared: Sequence[Any]) -> None:
    """Let panels with a common scale begin at zero; call it after all of them are drawn."""
    shared[0].set_ylim(0.0, 1.05 * max(axes.dataLim.y1 for axes in shared))


def in_degrees(values: Any, unit: str) -> tuple[Any, str]:
    """Return angles in degrees for the reader."""
    return (np.degrees(values), "°") if unit == "rad" else (values, unit)


@in_house_style
def _singularity(stance: Stance) -> Panels:
    figure, by_name = along_each(stance, 2.2)
    for i, (name, axes) in enumerate(by_name.items()):
        found = stance.along(name, _POINTS)
        value = np.where(found.assembled, found.singularity, np.nan)
        x, unit = in_degrees(stance.line(name, _POINTS), stance.units[name])
        axes.plot(x, value, color=PALETTE[0])
        here, _ = in_degrees(float(stance.configuration.coordinates[name]), stance.units[name])
        axes.axvline(here, color=PALETTE[1], linewidth=0.9, linestyle="--")
        axes.set_xlabel(label(name, unit))
        axes.set_ylabel(label("singularity", "1") if i % _COLUMNS == 0 else "")
    from_zero(list(by_name.values()))
    return panels(figure)
