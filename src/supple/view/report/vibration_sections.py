"""Report sections about vibration: modes at one posture, and their frequencies over the region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.array_types import Array
from supple.diagnostics import NumericalError
from supple.maps.frequency_map import FrequencyMap, frequency_map
from supple.maps.grid import posture_grid
from supple.maps.map import Map
from supple.modal_analysis.mode_set import ModeSet
from supple.modal_analysis.modes import modes
from supple.view.house_style import PALETTE, in_house_style, label, legend_beside
from supple.view.panels import Panels, panels
from supple.view.report.mechanism_sections import Stance, along_each, from_zero, in_degrees, posture_words, small_panels
from supple.view.report.page import ReportSection, html_table, paragraph, report_section
from supple.view.report.report_picture import Drawings

COUNT = 6  # modes in the report
_DRAWN = 3
_MAPPED = 3
_SIDE, _LINE = 17, 41  # postures along a coordinate: for a map, for a curve


@dataclass(frozen=True, eq=False)
class Vibration:
    """Modes at the posture, and frequencies over all varying coordinates or along each of them."""

    here: ModeSet
    maps: tuple[FrequencyMap, ...]

    @property
    def bands_hz(self) -> np.ndarray:
        """Lowest and highest frequency of each mode over all postures, (k, 2)."""
        count = min(item.frequencies_hz.shape[-1] for item in self.maps)
        found = np.vstack([item.frequencies_hz[..., :count].reshape(-1, count) for item in self.maps])
        return np.column_stack([np.nanmin(found, axis=0), np.nanmax(found, axis=0)])


def vibration_of(stance: Stance, progress: bool | None) -> Vibration | None:
    """Return the vibration data; None for a mechanism without elastic parts."""
    if not stance.mechanism.elastic:
        return None
    here = modes(stance.mechanism, stance.configuration, count=COUNT)
    stays = {name: float(value) for name, value in stance.configuration.coordinates.items()}
    names = list(stance.ranges)
    if len(names) == 2:
        grids = [{name: stance.line(name, _SIDE) for name in names}]
    else:
        grids = [{name: stance.line(name, _LINE)} for name in names]
    return Vibration(here, tuple(_map_frequencies(stance, grid, stays, progress) for grid in grids))


def _map_frequencies(
    stance: Stance, grid: dict[str, Array], stays: dict[str, float], progress: bool | None
) -> FrequencyMap:
    """Return frequencies over a grid; empty if the solver converges at none of its postures."""
    try:
        return frequency_map(stance.mechanism, grid, at=stays, count=COUNT, progress=progress)
    except NumericalError:
        postures = posture_grid(stance.mechanism, grid, stays)
    names = tuple(f"mode {i + 1}" for i in range(COUNT))
    return FrequencyMap(Map(postures, np.full((*postures.shape, COUNT), np.nan), names, ("Hz",) * COUNT, "frequency"))


def vibration_sections(stance: Stance, found: Vibration | None, draw: Drawings) -> list[ReportSection]:
    """Return the sections about modes at the posture and over the region; a sentence for rigid mechanisms."""
    if found is None:
        return [
            report_section(
                "Vibration", paragraph("The mechanism has no elastic parts and cannot move with locked actuators.")
            )
        ]
    bands = found.bands_hz if found.maps else None
    rows = []
    for i, (hertz, words) in enumerate(zip(found.here.frequencies_hz, found.here.descriptions, strict=True)):
        span = "" if bands is None or i >= len(bands) else f"{bands[i, 0]:.4g} to {bands[i, 1]:.4g}"
        rows.append((str(i + 1), f"{hertz:.4g}", span, words))
    heads = ("mode", "frequency / Hz", "over the region / Hz", "description")
    sections = [
        report_section(
            "Vibration",
            paragraph(f"Actuators locked, at {posture_words(stance)}."),
            html_table(heads, rows, texts=(0, 3)),
            draw.picture(
                found.here.plot(which=range(min(_DRAWN, len(found.here))), nodes=False),
                "Lowest modes over the undeformed mechanism. The amplitude of a mode is arbitrary: titles give the "
                "drawn length of its largest displacement.",
            ),
        )
    ]
    if found.maps:
        first = found.maps[0]
        drawn = (
            first.plot(count=_MAPPED, units=_degrees(stance)) if len(first.coordinates) == 2 else _curves(stance, found)
        )
        empty = sum(int(np.isnan(item.frequencies_hz[..., 0]).sum()) for item in found.maps)
        missing = (
            f" Empty: the mechanism cannot be assembled or is singular ({empty} of the postures)." if empty else ""
        )
        sections.append(
            report_section(
                "Frequencies over the region",
                draw.picture(
                    drawn, f"Natural frequencies with locked actuators; other coordinates are fixed.{missing}"
                ),
            )
        )
    return sections


def _degrees(stance: Stance) -> dict[str, str]:
    return {name: "deg" for name in stance.ranges if stance.units[name] == "rad"}


@in_house_style
def _curves(stance: Stance, found: Vibration) -> Panels:
    figure, by_name = along_each(stance, 3.1)
    for (name, axes), item in zip(by_name.items(), found.maps, strict=True):
        x, unit = in_degrees(stance.line(name, _LINE), stance.units[name])
        for i, curve in enumerate(item.frequencies_hz.T):
            axes.plot(x, curve, color=PALETTE[i % len(PALETTE)], label=f"mode {i + 1}")
        axes.set_xlabel(label(name, unit))
    shown = list(by_name.values())
    from_zero(shown)
    shown[0].set_ylabel(label("frequency", "Hz"))
    legend_beside(shown[min(len(shown), 3) - 1])
    return panels(figure)


@in_house_style
def frequencies_beside(curves: list[tuple[str, str, np.ndarray, np.ndarray, np.ndarray]]) -> Panels:
    """Plot full and reduced frequencies along each coordinate.

    curves : (name, unit, values, full (N, k), reduced (N, k)) of each panel
    """
    figure, grid = small_panels(len(curves), 3.1)
    for axes, (name, unit, values, full, reduced) in zip(grid, curves, strict=True):
        x, in_words = in_degrees(values, unit)
        for i in range(full.shape[1]):
            axes.plot(x, full[:, i], color="#cfcfcf", linewidth=4.0, label="mechanism" if i == 0 else None)
        for i in range(reduced.shape[1]):
            axes.plot(x, reduced[:, i], color=PALETTE[0], label="reduced model" if i == 0 else None)
        axes.set_xlabel(label(name, in_words))
    from_zero(grid)
    grid[0].set_ylabel(label("frequency", "Hz"))
    legend_beside(grid[min(len(grid), 3) - 1])
    return panels(figure)
