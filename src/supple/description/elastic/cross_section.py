"""Cross-sections of beams: a shape, or a table of its constants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

from pydantic import model_validator

from supple.description.elastic.section_shapes import SECTION_SHAPES, SectionProperties, section
from supple.description.part_of_kind import PartOfKind
from supple.description.quantities.dimension import AREA, RATIO, SECOND_MOMENT
from supple.description.quantities.quantity import Positive, of

_TABLE_SHEAR = 5.0 / 6.0


class CrossSection(PartOfKind):
    """One shape, or `area` with the other constants."""

    kinds: ClassVar = SECTION_SHAPES

    area: Annotated[Positive, of(AREA)] | None = None
    """A, m²: a section by its constants."""
    Iy: Annotated[Positive, of(SECOND_MOMENT)] | None = None
    """∫ z² dA, m⁴: bending in the x-z plane of the section, in the plane that of the drawing."""
    Iz: Annotated[Positive, of(SECOND_MOMENT)] | None = None
    """∫ y² dA, m⁴; left out only in the plane."""
    torsion: Annotated[Positive, of(SECOND_MOMENT)] | None = None
    """Torsion constant J, m⁴; left out only in the plane."""
    shear_y: Annotated[Positive, of(RATIO)] | None = None
    """Shear factor k for forces along y; of a table 5/6 if left out."""
    shear_z: Annotated[Positive, of(RATIO)] | None = None
    """Shear factor k for forces along z."""

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        shapes = self._kinds()
        if len(shapes) + (self.area is not None) != 1:
            *others, last = SECTION_SHAPES
            raise ValueError(
                f"a section has exactly one shape: {', '.join(others)} or {last}, or is a table of area, Iy, Iz and "
                "torsion"
            )
        if shapes and self.chosen("Iy", "Iz", "torsion"):
            raise ValueError("Iy, Iz and torsion belong to a section by its area; a shape brings its own")
        if not shapes and self.Iy is None:
            raise ValueError("a section by its area needs Iy (and in space Iz and torsion)")
        fault = SECTION_SHAPES[shapes[0]].fault(*self._lengths()) if shapes else None
        if fault is not None:
            raise ValueError(fault)
        return self

    def properties(self, instead: Mapping[str, Any] = MappingProxyType({})) -> SectionProperties:
        """The constants of the section.

        instead : other values of its numbers, by name; of a shape by its name and the length's name or number as it
                  was written, `tube.wall`, `tube.1`
        """
        of = {name: instead.get(name, getattr(self, name)) for name in ("area", "Iy", "Iz", "torsion")}
        if self.area is not None:
            Iz, torsion = (math.nan if value is None else value for value in (of["Iz"], of["torsion"]))
            found = section(of["area"], of["Iy"], Iz, torsion, _TABLE_SHEAR, _TABLE_SHEAR)
        else:
            changed = {key.removeprefix(f"{self.kind}."): value for key, value in instead.items()}
            shape = SECTION_SHAPES[self.kind]
            found = shape.properties(*shape.lengths.values(self.said, changed))
        shear = {name: instead.get(name, getattr(self, name)) for name in ("shear_y", "shear_z")}
        return found._replace(shear_y=shear["shear_y"] or found.shear_y, shear_z=shear["shear_z"] or found.shear_z)

    @property
    def lengths(self) -> tuple[float, ...]:
        """The dimensions of its shape, m; none of a table."""
        return () if self.area is not None else self._lengths()

    @property
    def in_words(self) -> str:
        """Its shape and lengths: `tube, outer 16 mm, inner 14 mm`."""
        if self.area is not None:
            return "by its constants"
        shape = SECTION_SHAPES[self.kind]
        named = zip(shape.names or ("",) * shape.dimensions, self._lengths(), strict=True)
        return ", ".join([self.kind, *(f"{name} {1e3 * value:.6g} mm".strip() for name, value in named)])

    @property
    def question(self) -> str | None:
        """What is unusual about its dimensions and may be a mistake, in one sentence."""
        if self.area is not None or getattr(self.said, "wall", None) is not None:
            return None
        return SECTION_SHAPES[self.kind].question(*self._lengths())

    def _lengths(self) -> tuple[float, ...]:
        return SECTION_SHAPES[self.kind].lengths.values(self.said)
