"""Beams as drawn, in numbers: ends and section axes in the body's axes, stiffness and mass along the beam."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.body import Beam
from supple.description.drawing import Drawing, Path
from supple.description.elastic.cross_section import SectionProperties
from supple.description.elastic.material import Material
from supple.diagnostics.errors import fault_at
from supple.geometry.inertia import MassProperties
from supple.geometry.rotation import axes_from_x

_NEAR = 1e-6  # of a beam's length: a point closer than this is on the beam
_PARALLEL = 1e-6  # rad, least angle between `up` and the beam


class PlacedBeam(NamedTuple):
    """Beam on its body.

    name     : name of the body, or `body.1`, `body.2`, ... if the body has several beams
    path     : path in the mechanism file
    places   : (2, 3) local positions of its two points, m
    axes     : (3, 3) columns are the section's x (along the beam), y, z, in body axes
    arm      : (3,) offset from the points to the ends of its axis, in body axes
    sections : constants at both ends, with linear variation between them
    """

    name: str
    path: Path
    places: Array
    axes: Array
    arm: Array
    sections: tuple[SectionProperties, SectionProperties]
    material: Material
    elements: int
    theory: str

    @property
    def ends(self) -> Array:
        """Both ends of its axis, (2, 3) in body axes."""
        return self.places + self.arm

    @property
    def length(self) -> float:
        """Length, m."""
        return float(np.linalg.norm(self.places[1] - self.places[0]))

    def fraction(self, position: Array) -> float | None:
        """Return the position along the beam, 0 to 1, of a point on its axis or at its two points; None for others."""
        for end, place in enumerate(self.places):
            if np.linalg.norm(position - place) <= _NEAR * self.length:
                return float(end)
        along_axis = self.ends[1] - self.ends[0]
        t = float((position - self.ends[0]) @ along_axis) / self.length**2
        off = float(np.linalg.norm(position - self.ends[0] - t * along_axis))
        return min(max(t, 0.0), 1.0) if off <= _NEAR * self.length and -_NEAR <= t <= 1.0 + _NEAR else None


def placed_beams(drawing: Drawing, body: str) -> tuple[PlacedBeam, ...]:
    """Return the beams of an elastic body, computed once; none for a rigid body or a superelement."""
    return drawing.mechanism.compute_once(f"beams of {body}", lambda: _placed_beams(drawing, body))


def _placed_beams(drawing: Drawing, body: str) -> tuple[PlacedBeam, ...]:
    described = drawing.mechanism.bodies[body]
    beams = described.all_beams
    base: Path = ("bodies", body)
    paths = [base] if described.beam is not None else [(*base, "beams", i) for i in range(len(beams))]
    names = [body] if len(beams) == 1 else [f"{body}.{i + 1}" for i in range(len(beams))]
    return tuple(_place_beam(drawing, body, *each) for each in zip(names, paths, beams, strict=True))


def beam_mass(beam: PlacedBeam) -> MassProperties:
    """Return the mass properties, in body axes, of a beam whose mass per length varies linearly from m₀ to m₁.

    m = L (m₀ + m₁)/2, centre at L (m₀ + 2 m₁)/(3 (m₀ + m₁)), second moment about the first end L³ (m₀ + 3 m₁)/12. The
    rotary inertia per length is ρ (Iy + Iz) for twist. For bending it is ρ Iy and ρ Iz in Timoshenko's theory and zero
    in Euler and Bernoulli's, as in the mass matrices of their elements.
    """
    rho, L = beam.material.density, beam.length
    first, second = beam.sections
    m0, m1 = rho * first.area, rho * second.area
    mass = 0.5 * L * (m0 + m1)
    distance = L * (m0 + 2.0 * m1) / (3.0 * (m0 + m1)) if mass > 0.0 else 0.5 * L
    across = L**3 * (m0 + 3.0 * m1) / 12.0 - mass * distance**2
    turning = 0.5 * rho * L * np.array([getattr(first, key) + getattr(second, key) for key in ("polar", "Iy", "Iz")])
    turning = np.nan_to_num(turning)  # constants that a planar table omits are for rotations about axes of the plane
    if beam.theory == "euler-bernoulli":
        turning[1:] = 0.0
    inertia = np.diag(turning + np.array([0.0, across, across]))
    center = beam.ends[0] + distance * beam.axes[:, 0]
    return MassProperties(mass, center, beam.axes @ inertia @ beam.axes.T)


def _place_beam(drawing: Drawing, body: str, name: str, path: Path, beam: Beam) -> PlacedBeam:
    places = np.array([_end(drawing, body, beam, key, path) for key in ("from", "to")])
    along = places[1] - places[0]
    length = float(np.linalg.norm(along))
    if length < 1e-12:
        raise fault_at(path, "its two end points are drawn at the same position", "draw them apart")
    axes = _section_axes(drawing, body, beam, along / length, (*path, "up"))
    sections = [drawing.mechanism.section(section).properties() for section in beam.sections]
    for section_name, section in zip(beam.sections, sections, strict=True):
        allowed = drawing.mechanism.bodies[body].allow
        if allowed is None or allowed.section is None:
            _require_slender(section, section_name, length, (*path, "section"))
    return PlacedBeam(
        name,
        path,
        places,
        axes,
        _arm(drawing, beam, axes, (*path, "offset")),
        (sections[0], sections[1]),
        drawing.mechanism.material(beam.material),
        beam.elements,
        beam.theory,
    )


def _arm(drawing: Drawing, beam: Beam, axes: Array, path: Path) -> Array:
    arm = axes @ np.array([0.0, *(beam.offset or (0.0, 0.0))])
    if drawing.mechanism.planar and abs(arm[2]) > 1e-12 * np.abs(arm).max():
        raise fault_at(
            path,
            f"the beam is shifted out of the plane by {abs(arm[2]):g} m",
            "in the plane offset: [0, dz] shifts it to the left (height lies in the plane)",
        )
    return arm


def _end(drawing: Drawing, body: str, beam: Beam, key: str, path: Path) -> Array:
    place = beam.start if key == "from" else beam.to
    frame = drawing.frames.get(place) if isinstance(place, str) else None
    if frame is not None and frame.body != body:
        raise fault_at(
            (*path, key),
            f'its end "{place}" is a frame of "{frame.body}", but a beam lies within one body',
            "end it at a point of its own body, and connect the two bodies with a weld joint",
        )
    return drawing.on_body(body, place, (*path, key))


def _section_axes(drawing: Drawing, body: str, beam: Beam, x: Array, path: Path) -> Array:
    """Return the columns x, y, z of the section in body axes; z points `up`, perpendicular to the beam."""
    if beam.up is None:
        if drawing.mechanism.planar:  # height in the plane, to the left of the beam
            z = np.array([-x[1], x[0], 0.0])
            return np.column_stack([x, np.cross(z, x), z])
        # A single beam has the body's axes; each of several has the axes that a rod would have as drawn.
        if drawing.mechanism.bodies[body].beam is not None:
            return np.eye(3)
        R = drawing.bodies[body].axes
        return R.T @ axes_from_x(R @ x)
    up = drawing.bodies[body].axes.T @ _up(drawing, beam.up, path)
    z = up - (up @ x) * x
    size = float(np.linalg.norm(z))
    if size < _PARALLEL:
        raise fault_at(path, "up is parallel to the beam", "give a direction across the beam")
    z /= size
    return np.column_stack([x, np.cross(z, x), z])


def _up(drawing: Drawing, value: Any, path: Path) -> Array:
    """Return a direction of the drawing, or the normal of a plane by the letter of the axis that the plane omits."""
    plane = drawing.mechanism.plane
    if plane is not None and isinstance(value, str) and value.lstrip("+-") in set("xyz") - set(plane):
        normal = drawing.mechanism.plane_axes()[:, 2]
        sign = normal["xyz".index(value[-1])] * (-1.0 if value.startswith("-") else 1.0)
        return np.array([0.0, 0.0, sign])
    return drawing.direction(value, path)


def _require_slender(section: SectionProperties, name: str, length: float, path: Path) -> None:
    """Refuse a section larger than the beam is long, which is usually millimetres written as metres."""
    reason = _too_large(section, name, length)
    if reason is not None:
        raise fault_at(
            path,
            reason,
            'lengths are in metres: write 20 mm or 0.02; for a short connector add allow: {section: "reason"}',
        )


def _too_large(section: SectionProperties, name: str, length: float) -> str | None:
    radius = float(np.sqrt(section.Iy / section.area))
    if radius <= length:
        return None
    return f'section "{name}" is too large for a beam of {length:.4g} m (radius of gyration {radius:.4g} m)'


def find_oversized(drawing: Drawing, body: str) -> str | None:
    """Return the text about the first section of a body that is larger than its beam is long, or None."""
    for beam, placed in zip(drawing.mechanism.bodies[body].all_beams, placed_beams(drawing, body), strict=True):
        for name, section in zip(beam.sections, placed.sections, strict=True):
            reason = _too_large(section, name, placed.length)
            if reason is not None:
                return reason
    return None
