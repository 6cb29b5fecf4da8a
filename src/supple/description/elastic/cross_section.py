"""Cross-sections of beams: a shape, or a table of its constants.

Section axes: x along the beam, y across (width), z up (height); Iy = ∫ z² dA bends in the x-z plane. The shear factors
k (of the shear stiffness k G A) of a rectangle, ring and box are those of [Cowper 1966] at ν = 0, a few per cent below
those of a metal, so that a section does not depend on its material; an I-beam's are of its web and its flanges alone.
`shear_y` and `shear_z` set others.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple, Self

from pydantic import model_validator

from supple.description.quantities.dimension import AREA, RATIO, SECOND_MOMENT
from supple.description.quantities.quantity import Part, Positive, PositiveLength, of

SHAPES = ("rectangle", "circle", "tube", "box", "i_beam", "area")


class SectionProperties(NamedTuple):
    """Constants of a section about its centre, m² and m⁴; NaN is a constant that a table does not give.

    polar   : Iy + Iz, the rotary inertia of twist for unit density
    torsion : J of the torsional stiffness G J
    shear_y, shear_z : k of the shear stiffness k G A against forces along y and z
    """

    area: float
    Iy: float
    Iz: float
    torsion: float
    polar: float
    shear_y: float
    shear_z: float


class CrossSection(Part):
    """One shape, or `area` with the other constants."""

    rectangle: tuple[PositiveLength, PositiveLength] | None = None
    """Width (along y), height (along z)."""
    circle: PositiveLength | None = None
    """Diameter."""
    tube: tuple[PositiveLength, PositiveLength] | None = None
    """Outer and inner diameter."""
    box: tuple[PositiveLength, PositiveLength, PositiveLength] | None = None
    """Outer width, outer height, thickness of the wall."""
    i_beam: tuple[PositiveLength, PositiveLength, PositiveLength, PositiveLength] | None = None
    """Width, height, thickness of the flanges, thickness of the web (upright, along z)."""
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
        if len(self.chosen(*SHAPES)) != 1:
            raise ValueError(
                "a section has exactly one shape: rectangle, circle, tube, box or i_beam, or is a table of area, Iy, "
                "Iz and torsion"
            )
        if self.area is None and self.chosen("Iy", "Iz", "torsion"):
            raise ValueError("Iy, Iz and torsion belong to a section by its area; a shape brings its own")
        if self.area is not None and self.Iy is None:
            raise ValueError("a section by its area needs Iy (and in space Iz and torsion)")
        if self.tube is not None and self.tube[1] >= self.tube[0]:
            raise ValueError(f"the inner diameter {self.tube[1]:g} must be below the outer {self.tube[0]:g}")
        if self.box is not None and 2.0 * self.box[2] >= min(self.box[:2]):
            raise ValueError(
                f"two walls of {self.box[2]:g} do not fit into a box of {self.box[0]:g} by {self.box[1]:g}"
            )
        if self.i_beam is not None and (2.0 * self.i_beam[2] >= self.i_beam[1] or self.i_beam[3] >= self.i_beam[0]):
            raise ValueError("its flanges leave no web, or its web is as wide as the flanges")
        return self

    @property
    def shape(self) -> str:
        """Which of the shapes it is; `area` for a table."""
        return self.chosen(*SHAPES)[0]

    def properties(self) -> SectionProperties:
        """The constants of the section."""
        found = getattr(self, f"_{self.shape}")()
        return found._replace(shear_y=self.shear_y or found.shear_y, shear_z=self.shear_z or found.shear_z)

    def _area(self) -> SectionProperties:
        assert self.area is not None
        assert self.Iy is not None
        Iz = math.nan if self.Iz is None else self.Iz
        torsion = math.nan if self.torsion is None else self.torsion
        return _section(self.area, self.Iy, Iz, torsion, 5.0 / 6.0, 5.0 / 6.0)

    def _rectangle(self) -> SectionProperties:
        w, h = self.rectangle or (0.0, 0.0)
        a, b = max(w, h), min(w, h)
        torsion = a * b**3 * (1.0 / 3.0 - 0.21 * (b / a) * (1.0 - (b / a) ** 4 / 12.0))
        return _section(w * h, w * h**3 / 12.0, h * w**3 / 12.0, torsion, 5.0 / 6.0, 5.0 / 6.0)

    def _circle(self) -> SectionProperties:
        return _annulus(self.circle or 0.0, 0.0)

    def _tube(self) -> SectionProperties:
        return _annulus(*(self.tube or (0.0, 0.0)))

    def _box(self) -> SectionProperties:
        w, h, t = self.box or (0.0, 0.0, 0.0)
        inner_w, inner_h = w - 2.0 * t, h - 2.0 * t
        # Bredt: a thin closed wall, 4 (enclosed area)² t / perimeter, along its middle line
        torsion = 2.0 * t * ((w - t) * (h - t)) ** 2 / (w + h - 2.0 * t)
        return _section(
            w * h - inner_w * inner_h,
            (w * h**3 - inner_w * inner_h**3) / 12.0,
            (h * w**3 - inner_h * inner_w**3) / 12.0,
            torsion,
            _box_shear(h - t, w - t),
            _box_shear(w - t, h - t),
        )

    def _i_beam(self) -> SectionProperties:
        w, h, f, web = self.i_beam or (0.0, 0.0, 0.0, 0.0)
        clear = h - 2.0 * f
        area = 2.0 * w * f + clear * web
        Iy = (w * h**3 - (w - web) * clear**3) / 12.0
        Iz = (2.0 * f * w**3 + clear * web**3) / 12.0
        # an open thin wall: the sum of b t³ / 3; shear is carried by the web, or by the two flanges
        torsion = (2.0 * w * f**3 + (h - f) * web**3) / 3.0
        return _section(area, Iy, Iz, torsion, 5.0 / 6.0 * 2.0 * w * f / area, h * web / area)


def _section(area: float, Iy: float, Iz: float, torsion: float, shear_y: float, shear_z: float) -> SectionProperties:
    return SectionProperties(area, Iy, Iz, torsion, Iy + Iz, shear_y, shear_z)


def _annulus(outer: float, inner: float) -> SectionProperties:
    """A ring; k = 6 (1 + m²)² / (7 (1 + m²)² + 20 m²), m = inner/outer  [Cowper 1966, at ν = 0]."""
    I = math.pi * (outer**4 - inner**4) / 64.0  # noqa: E741 - the letter of the second moment
    m = (inner / outer) ** 2
    k = 6.0 * (1.0 + m) ** 2 / (7.0 * (1.0 + m) ** 2 + 20.0 * m)
    return _section(math.pi * (outer**2 - inner**2) / 4.0, I, I, 2.0 * I, k, k)


def _box_shear(across: float, along: float) -> float:
    """Shear factor of a thin-walled box of one thickness, loaded along its side `along`  [Cowper 1966, at ν = 0]."""
    m = across / along
    return 10.0 * (1.0 + 3.0 * m) ** 2 / (12.0 + 72.0 * m + 150.0 * m**2 + 90.0 * m**3 + 30.0 * m**2 * (m + m**2))
