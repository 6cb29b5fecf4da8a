"""Elastic bodies as rows of the table of beams: one beam behind the other, the first from the origin of the body's row.

A body may be written so if its beams make one chain that begins on the axis of its joint.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.drawing import Drawing, Pose
from supple.description.elastic.placed_beam import PlacedBeam, placed_beams
from supple.diagnostics import InputError
from supple.formats.khalil_kleinfinger.beams import distance_from

HEADINGS = (
    "body", "beam", "length", "S", "Iy", "Iz", "torsion", "E", "G", "rho", "phi", "theta", "psi", "elements",
)  # fmt: skip
_NEAR = 1e-9  # of a beam's length: ends that are closer are one, and a place is on the axis
_UPRIGHT = 1e-9  # cos θ below which φ and ψ turn about one axis


class Chain(NamedTuple):
    """Beams of a body in their order, each with its axes (x along the chain); nodes (n + 1, 3); all in body axes."""

    beams: tuple[PlacedBeam, ...]
    axes: tuple[Array, ...]
    nodes: Array

    def touches(self, place: Array) -> bool:
        """Whether a place, in body axes, lies on one of the beams."""
        return any(distance_from(place, a, b) <= _NEAR * float(np.linalg.norm(b - a)) for a, b in self.spans)

    @property
    def spans(self) -> list[tuple[Array, Array]]:
        return list(zip(self.nodes[:-1], self.nodes[1:], strict=True))

    def reversed(self) -> Chain:
        """The same from its other end; x and y of the sections turn round, z stays."""
        turned = tuple(R * np.array([-1.0, -1.0, 1.0]) for R in reversed(self.axes))
        return Chain(tuple(reversed(self.beams)), turned, self.nodes[::-1].copy())

    def starting_on(self, origin: Array, axis: Array) -> Chain | None:
        """From the end that lies at the origin or, failing that, on the axis through it; None if neither end does."""
        ways = (self, self.reversed())
        size = _NEAR * max(beam.length for beam in self.beams)
        for chain in ways:
            if np.linalg.norm(chain.nodes[0] - origin) <= size:
                return chain
        for chain in ways:
            away = chain.nodes[0] - origin
            if np.linalg.norm(away - (away @ axis) * axis) <= size:
                return chain
        return None

    def rows(self, label: str, frame: Pose) -> list[tuple[Any, ...]]:
        """Of the table, in the frame of the body's row."""
        found = []
        for i, (beam, axes) in enumerate(zip(self.beams, self.axes, strict=True)):
            section, material = beam.sections[0], beam.material
            found.append(
                (
                    label, i + 1, beam.length, section.area, section.Iy, section.Iz, section.torsion,
                    material.youngs_modulus, material.G, material.density, *angles_of(frame.axes.T @ axes),
                    beam.elements,
                )
            )  # fmt: skip
        return found


def chain_of(drawing: Drawing, body: str) -> Chain:
    """The beams of an elastic body as a chain; what no row can say of them is refused."""
    described, part = drawing.mechanism.bodies[body], f'body "{body}"'
    if described.superelement is not None:
        raise InputError("its matrices are no beams, and a table knows beams alone", part=part)
    if described.attach is not None:
        raise InputError("rigid arms beside its beams (attach) have no place in a table", part=part)
    beams = placed_beams(drawing, body)
    for beam in beams:
        _require_plain(beam)
    return _ordered(beams, part)


def angles_of(R: Array) -> tuple[float, float, float]:
    """(φ, θ, ψ) of R = rot(z, φ) rot(y, θ) rot(x, ψ); ψ = 0 where θ is a right angle."""
    cosine = float(np.hypot(R[0, 0], R[1, 0]))
    theta = float(np.arctan2(-R[2, 0], cosine))
    if cosine > _UPRIGHT:
        return float(np.arctan2(R[1, 0], R[0, 0])), theta, float(np.arctan2(R[2, 1], R[2, 2]))
    return float(np.arctan2(-R[0, 1], R[1, 1])), theta, 0.0


def _require_plain(beam: PlacedBeam) -> None:
    said = {
        "it tapers": beam.sections[0] != beam.sections[1],
        "it is of Timoshenko's theory": beam.theory != "euler-bernoulli",
        "it is shifted (offset)": bool(beam.arm.any()),
        "its material has damping of its own": beam.material.damping is not None,
        "it weighs nothing": beam.material.density == 0.0,
    }
    wrong = next((what for what, so in said.items() if so), None)
    if wrong is not None:
        raise InputError(
            f"{wrong}, and a row of beams is straight, slender and uniform, with mass", part=f'beam "{beam.name}"'
        )


def _ordered(beams: tuple[PlacedBeam, ...], part: str) -> Chain:
    """Along the chain, from the first beam's end that no other beam shares."""
    nodes: list[Array] = []
    ends = [[_node(nodes, place, beam.length) for place in beam.places] for beam in beams]
    counts = np.bincount([end for pair in ends for end in pair], minlength=len(nodes))
    if len(nodes) != len(beams) + 1 or counts.max() > 2:
        raise InputError("its beams branch, and those of a table follow one another", part=part,
                         hint="weld bodies of one chain each")  # fmt: skip
    at = next(end for end in ends[0] + [end for pair in ends for end in pair] if counts[end] == 1)
    order, axes, way, left = [], [], [nodes[at]], dict(enumerate(ends))
    while left:
        number = next((i for i, pair in left.items() if at in pair), None)
        if number is None:
            raise InputError("its beams are not connected", part=part)
        pair = left.pop(number)
        forward = pair[0] == at
        at = pair[1] if forward else pair[0]
        order.append(beams[number])
        axes.append(beams[number].axes * (1.0 if forward else np.array([-1.0, -1.0, 1.0])))
        way.append(nodes[at])
    return Chain(tuple(order), tuple(axes), np.array(way))


def _node(nodes: list[Array], place: Array, length: float) -> int:
    for i, other in enumerate(nodes):
        if np.linalg.norm(place - other) <= _NEAR * length:
            return i
    nodes.append(place)
    return len(nodes) - 1
