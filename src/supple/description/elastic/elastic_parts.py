"""What is elastic in a mechanism, counted: bodies with their beams, and the sections of these."""

from __future__ import annotations

from dataclasses import dataclass

from supple.description.drawing import Drawing
from supple.description.mass_properties import mass_properties
from supple.description.mechanism import Mechanism


@dataclass(frozen=True)
class ElasticPart:
    """An elastic body as described.

    beams, elements : as the file says; places that something touches divide beams further. None for a superelement
    nodes           : of a superelement, None for beams
    mass            : of the body, point masses included, kg
    """

    name: str
    beams: int | None
    elements: int | None
    nodes: int | None
    mass: float

    def __str__(self) -> str:
        if self.beams is None:
            return f"{self.name}: superelement of {self.nodes} nodes, {self.mass:.4g} kg"
        several = f"{self.beams} beams" if self.beams != 1 else "beam"
        return f"{self.name}: {several} of {self.elements} element{'s' * (self.elements != 1)}, {self.mass:.4g} kg"


@dataclass(frozen=True)
class SectionPart:
    """A cross-section as described.

    shape     : its shape and lengths, in words
    area      : m²
    line_mass : kg/m of a beam, by material
    """

    name: str
    shape: str
    area: float
    line_mass: dict[str, float]

    def __str__(self) -> str:
        masses = "".join(f", {value:.4g} kg/m of {material}" for material, value in self.line_mass.items())
        return f"{self.name}: {self.shape}: {1e6 * self.area:.4g} mm²{masses}"


def section_parts(mechanism: Mechanism) -> tuple[SectionPart, ...]:
    """The sections of beams, in the order of the file, with the materials that they are used with."""
    used: dict[str, list[str]] = {name: [] for name in mechanism.sections}
    for body in mechanism.bodies.values():
        for beam in body.all_beams:
            for name in beam.sections:
                used[name].append(beam.material)
    found = []
    for name, section in mechanism.sections.items():
        area = float(section.properties().area)
        masses = {material: mechanism.materials[material].density * area for material in dict.fromkeys(used[name])}
        found.append(SectionPart(name, section.in_words, area, masses))
    return tuple(found)


def elastic_parts(drawing: Drawing) -> tuple[ElasticPart, ...]:
    """The elastic bodies, in the order of the file."""
    bodies = {name: body for name, body in drawing.mechanism.bodies.items() if body.elastic}
    if not bodies:
        return ()
    properties = mass_properties(drawing)
    found = []
    for name, body in bodies.items():
        beams, nodes = body.all_beams, None
        if body.superelement is not None:
            from supple.description.elastic.superelement_files import superelement_arrays
            from supple.description.elastic.superelement_modes import modal_arrays

            path = ("bodies", name, "superelement")
            modal = modal_arrays(body.superelement, path)
            nodes = len(superelement_arrays(body.superelement, path).numbers if modal is None else modal.numbers)
        elements = sum(beam.elements for beam in beams)
        mass = float(properties[name].mass)
        found.append(ElasticPart(name, len(beams) or None, elements or None, nodes, mass))
    return tuple(found)
