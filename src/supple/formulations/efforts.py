"""Internal forces that sensors measure: joint reactions, section forces of beams, stress and strain.

A reaction consists of the force and the moment that a joint exerts on its second body, about the joint's position on
that body, in axes of the drawing or of the body. A section has axes x along the beam, y and z. There the part towards
the second end of the beam acts on the other part with (N, Q_y, Q_z) and (T, M_y, M_z); in the plane with N, Q to the
left of the beam and M about the normal. Stress along the beam at (y, z), and strain, follow:

    σ = N / A + M_y z / I_y - M_z y / I_z,     in the plane  σ = N / A - M z / I_y,     ε = σ / E
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing
from supple.description.elastic.placed_beam import PlacedBeam, placed_beams
from supple.description.mechanism import GROUND
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import part_name

_SECTION = {"N": 0, "Qy": 1, "Qz": 2, "T": 3, "My": 4, "Mz": 5}
_FLAT_SECTION = {"N": 0, "Q": 1, "M": 5}


class Effort(NamedTuple):
    """One component of a force or moment that a sensor measures, and its unit."""

    name: str
    sensor: str
    component: int

    @property
    def unit(self) -> str:
        return "N" if self.component < 3 else "N m"


class BeamSection(NamedTuple):
    """A section of a beam: position (3,) on its body, and axes (3, 3), x, y, z or in the plane x, left, normal.

    number : index of the beam among those of its body; t : fraction of its length
    """

    body: str
    beam: PlacedBeam
    number: int
    t: float
    position: Array
    axes: Array


class Inside(NamedTuple):
    """Efforts in order, and outputs as sums of efforts: (weight, index of the effort)."""

    efforts: tuple[Effort, ...]
    outputs: dict[str, tuple[tuple[float, int], ...]]
    units: dict[str, str]


def inside(drawing: Drawing) -> Inside:
    """Return the efforts and outputs of all sensors of internal forces."""
    efforts: list[Effort] = []
    outputs: dict[str, tuple[tuple[float, int], ...]] = {}
    units: dict[str, str] = {}
    for name, sensor in drawing.mechanism.sensors.items():
        kind = sensor.record.inside
        if not kind:
            continue
        letters = _letters(drawing, name)
        first = len(efforts)
        shown = kind in ("reaction", "section")
        efforts += [
            Effort(f"{name}.{letter}" if shown else f"[{name} {letter}]", name, component)
            for letter, component in letters.items()
        ]
        if shown:
            outputs |= {effort.name: ((1.0, i),) for i, effort in enumerate(efforts[first:], first)}
            units |= {effort.name: effort.unit for effort in efforts[first:]}
            continue
        weights = _stress(section_of(drawing, name), sensor.option("at"), drawing.mechanism.planar, kind)
        outputs[name] = tuple((weights[letter], first + i) for i, letter in enumerate(letters))
        units[name] = "Pa" if kind == "stress" else "1"
    return Inside(tuple(efforts), outputs, units)


def _letters(drawing: Drawing, name: str) -> dict[str, int]:
    """Return the suffixes of the sensor's outputs with their components."""
    sensor, plane = drawing.mechanism.sensors[name], drawing.mechanism.plane
    if sensor.record.inside == "reaction":
        path = ("sensors", name, sensor.kind)
        require_known("joint", sensor.kind_value, drawing.mechanism.joints, part=part_name(path), path=path)
        if plane:
            return {plane[0]: 0, plane[1]: 1, "m": 5}
        return {letter: i for i, letter in enumerate(("x", "y", "z", "mx", "my", "mz"))}
    section_of(drawing, name)
    if sensor.record.inside == "section":
        return _FLAT_SECTION if plane else _SECTION
    return {"N": 0, "M": 5} if plane else {"N": 0, "My": 4, "Mz": 5}


def section_of(drawing: Drawing, name: str) -> BeamSection:
    """Return the section of a sensor."""
    sensor, path = drawing.mechanism.sensors[name], ("sensors", name)
    frame = drawing.find_frame(sensor.kind_value, (*path, sensor.kind))
    beams = () if frame.body == GROUND else placed_beams(drawing, frame.body)
    if not beams:
        raise InputError(
            f'"{sensor.kind_value}" is on "{frame.body}", which has no beams', part=part_name(path),
            path=(*path, sensor.kind), hint="name a place on a beam",
        )  # fmt: skip
    position = frame.pose.position
    touching = {i: t for i, beam in enumerate(beams) if (t := beam.fraction(position)) is not None}
    asked = sensor.option("beam")
    if asked is not None and asked - 1 not in touching:
        raise InputError(
            f'"{sensor.kind_value}" is not on beam {asked} of "{frame.body}"',
            part=part_name(path), path=(*path, "beam"),
            hint=f"it is on beam {', '.join(str(i + 1) for i in touching) or 'none'}",
        )  # fmt: skip
    if asked is None and len(touching) != 1:
        on = ", ".join(str(i + 1) for i in touching)
        raise InputError(
            f'"{sensor.kind_value}" lies on {f"beams {on}" if touching else "none of the beams"} of "{frame.body}"',
            part=part_name(path), path=(*path, sensor.kind),
            hint=f"specify beam: {min(touching) + 1}" if touching else "put the place on a beam's axis",
        )  # fmt: skip
    number = min(touching) if asked is None else asked - 1
    beam = beams[number]
    axes = beam.axes
    if drawing.mechanism.planar:  # x, to the left, and the normal
        axes = np.column_stack([axes[:, 0], axes[:, 2], -axes[:, 1]])
    return BeamSection(frame.body, beam, number, touching[number], position, axes)


def _stress(section: BeamSection, at: tuple[float, float], planar: bool, kind: str) -> dict[str, float]:
    """Return the weights of the section forces in the stress or strain at (y, z)."""
    first, second = section.beam.sections
    area, Iy, Iz = ((1.0 - section.t) * getattr(first, key) + section.t * getattr(second, key) for key in _CONSTANTS)
    y, z = at
    scale = 1.0 if kind == "stress" else 1.0 / section.beam.material.youngs_modulus
    if planar:
        return {"N": scale / area, "M": -scale * z / Iy}
    return {"N": scale / area, "My": scale * z / Iy, "Mz": -scale * y / Iz}


_CONSTANTS = ("area", "Iy", "Iz")
