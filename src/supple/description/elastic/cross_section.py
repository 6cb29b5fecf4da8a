"""Cross-sections of beams by shape or by table, and the beam constants that follow from them.

Section axes: x along the beam, y across (width), z up (height); Iy = ∫ z² dA for bending in the x-z plane. The shear
factors k (of the shear stiffness k G A) of a rectangle, ring and box are those of [Cowper 1966] at ν = 0, a few per
cent below those of a metal, so that a section does not depend on its material; those of an I-beam count only its web or
its flanges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple, Self

from pydantic import model_validator

from supple.description.part_of_kind import Key, PartOfKind
from supple.description.quantities.dimension import AREA, RATIO, SECOND_MOMENT
from supple.description.quantities.named_lengths import Alternative, NamedLengths
from supple.description.quantities.quantity import Positive, of
from supple.kinds.registry import Registry

# Constants of a section.


class SectionProperties(NamedTuple):
    """Constants of a section about its centre, m² and m⁴; NaN for a constant that a table does not give.

    polar   : Iy + Iz, the rotary inertia of twist for unit density
    torsion : J of the torsional stiffness G J
    shear_y, shear_z : k of the shear stiffness k G A for forces along y and z
    """

    area: float
    Iy: float
    Iz: float
    torsion: float
    polar: float
    shear_y: float
    shear_z: float


def section(area: float, Iy: float, Iz: float, torsion: float, shear_y: float, shear_z: float) -> SectionProperties:
    """Return the constants of a section whose axes are its principal ones."""
    return SectionProperties(area, Iy, Iz, torsion, Iy + Iz, shear_y, shear_z)


Outlines = list[list[list[float]]]
"""Loops of points (y, z), m: around the section, and around its hole if it has one."""


# Shapes.


@dataclass(frozen=True, eq=False)
class SectionShape:
    """Record of a section shape: everything in which shapes differ.

    Parameters
    ----------
    name : str
        Key in the mechanism file, whose value is the dimensions.
    description : str
        The dimensions, in one sentence.
    dimensions : int
        Number of lengths.
    properties : callable
        ``properties(*lengths) -> SectionProperties``, with lengths in m.
    fault : callable, optional
        ``fault(*lengths)``: what is wrong with the lengths, as text, or None. Default: nothing.
    outline : callable, optional
        ``outline(*lengths)``: loops of points (y, z) around the section and its hole, m. Default: drawn as a rectangle.
    names : tuple of str, optional
        Names of the lengths, with which they can be given by name. Default: by position only.
    alternatives : mapping of str to Alternative, optional
        Lengths that may be given by name instead of others. Default: none.
    question : callable, optional
        ``question(*lengths)``: what is unusual about the lengths and may be a mistake, as text, or None. Default:
        nothing.
    """

    name: str
    description: str
    dimensions: int
    properties: Callable[..., SectionProperties]
    fault: Callable[..., str | None] = lambda *lengths: None
    outline: Callable[..., Outlines] | None = None
    names: tuple[str, ...] = ()
    alternatives: Mapping[str, Alternative] = field(default_factory=dict)
    question: Callable[..., str | None] = lambda *lengths: None

    @cached_property
    def lengths(self) -> NamedLengths:
        """Format of its lengths in the file."""
        names = self.names or tuple(str(i) for i in range(self.dimensions))
        return NamedLengths("section", self.name, names, self.alternatives)

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Keys that this shape adds to a section."""
        return {self.name: Key(self.lengths.either if self.names else self.lengths.positional, self.description)}


def _rectangle(w: float, h: float) -> SectionProperties:
    a, b = max(w, h), min(w, h)
    torsion = a * b**3 * (1.0 / 3.0 - 0.21 * (b / a) * (1.0 - (b / a) ** 4 / 12.0))
    return section(w * h, w * h**3 / 12.0, h * w**3 / 12.0, torsion, 5.0 / 6.0, 5.0 / 6.0)


def _ring(outer: float, inner: float = 0.0) -> SectionProperties:
    """Return the constants of a ring.

    k = 6 (1 + m²)² / (7 (1 + m²)² + 20 m²), m = inner/outer  [Cowper 1966, at ν = 0].
    """
    I = math.pi * (outer**4 - inner**4) / 64.0  # noqa: E741 - the letter of the second moment
    m = (inner / outer) ** 2
    k = 6.0 * (1.0 + m) ** 2 / (7.0 * (1.0 + m) ** 2 + 20.0 * m)
    return section(math.pi * (outer**2 - inner**2) / 4.0, I, I, 2.0 * I, k, k)


def _ring_fault(outer: float, inner: float) -> str | None:
    return (
        f"the inner diameter {inner:g} m must be smaller than the outer diameter {outer:g} m"
        if inner >= outer
        else None
    )


_THIN = 1.0 / 3.0  # inner over outer diameter: a tube below this is nearly a bar, which may be a mistake


def tube_question(outer: float, inner: float) -> str | None:
    """Return a question whether the second of two diameters (or radii, m) is the wall thickness, or None."""
    if inner >= _THIN * outer:
        return None
    share = 100.0 * (1.0 - (inner / outer) ** 2)
    return (
        f"inner {1e3 * inner:g} mm is less than a third of outer {1e3 * outer:g} mm, so {share:.3g} % of the circle is "
        f"material; if {1e3 * inner:g} mm is the wall thickness, write tube: {{outer: ..., wall: ...}}"
    )


TUBE_ALTERNATIVES = {
    "outer_radius": Alternative("outer", lambda of: 2.0 * of["outer_radius"]),
    "inner_radius": Alternative("inner", lambda of: 2.0 * of["inner_radius"]),
    "wall": Alternative("inner", lambda of: of["outer"] - 2.0 * of["wall"]),
}
ROUND_ALTERNATIVES = {"radius": Alternative("diameter", lambda of: 2.0 * of["radius"])}


def _box(w: float, h: float, t: float) -> SectionProperties:
    inner_w, inner_h = w - 2.0 * t, h - 2.0 * t
    # Bredt: a thin closed wall, 4 (enclosed area)² t / perimeter, along its middle line
    torsion = 2.0 * t * ((w - t) * (h - t)) ** 2 / (w + h - 2.0 * t)
    return section(
        w * h - inner_w * inner_h,
        (w * h**3 - inner_w * inner_h**3) / 12.0,
        (h * w**3 - inner_h * inner_w**3) / 12.0,
        torsion,
        _box_shear(h - t, w - t),
        _box_shear(w - t, h - t),
    )


def _box_shear(across: float, along: float) -> float:
    """Return the shear factor of a thin-walled box of uniform thickness, loaded along its side `along`.

    [Cowper 1966, at ν = 0]
    """
    m = across / along
    return 10.0 * (1.0 + 3.0 * m) ** 2 / (12.0 + 72.0 * m + 150.0 * m**2 + 90.0 * m**3 + 30.0 * m**2 * (m + m**2))


def _box_fault(w: float, h: float, t: float) -> str | None:
    return f"two walls of {t:g} m do not fit into a box of {w:g} m by {h:g} m" if 2.0 * t >= min(w, h) else None


def _i_beam(w: float, h: float, f: float, web: float) -> SectionProperties:
    clear = h - 2.0 * f
    area = 2.0 * w * f + clear * web
    Iy = (w * h**3 - (w - web) * clear**3) / 12.0
    Iz = (2.0 * f * w**3 + clear * web**3) / 12.0
    # an open thin wall: the sum of b t³ / 3; shear is carried by the web, or by the two flanges
    torsion = (2.0 * w * f**3 + (h - f) * web**3) / 3.0
    return section(area, Iy, Iz, torsion, 5.0 / 6.0 * 2.0 * w * f / area, h * web / area)


def _i_beam_fault(w: float, h: float, f: float, web: float) -> str | None:
    open_or_full = 2.0 * f >= h or web >= w
    return "its flanges leave no room for the web, or its web is as wide as the flanges" if open_or_full else None


def _corners(w: float, h: float) -> list[list[float]]:
    return [[-0.5 * w, -0.5 * h], [0.5 * w, -0.5 * h], [0.5 * w, 0.5 * h], [-0.5 * w, 0.5 * h]]


def _around(diameter: float, sides: int = 24) -> list[list[float]]:
    turns = [2.0 * math.pi * k / sides for k in range(sides)]
    return [[0.5 * diameter * math.cos(turn), 0.5 * diameter * math.sin(turn)] for turn in turns]


def _i_beam_corners(w: float, h: float, f: float, web: float) -> list[list[float]]:
    right = [[0.5 * w, -0.5 * h], [0.5 * w, f - 0.5 * h], [0.5 * web, f - 0.5 * h]]
    right += [[y, -z] for y, z in reversed(right)]
    return right + [[-y, -z] for y, z in right]


SECTION_SHAPES = Registry(
    "section shape", SectionShape,
    SectionShape(
        "rectangle", "Rectangle: width (along y) and height (along z), as `[width, height]` or by these names.", 2,
        _rectangle,
        outline=lambda w, h: [_corners(w, h)], names=("width", "height"),
    ),
    SectionShape(
        "circle", "Circle: diameter; or `{diameter: ...}` or `{radius: ...}`.", 1, _ring,
        outline=lambda outer: [_around(outer)], names=("diameter",), alternatives=ROUND_ALTERNATIVES,
    ),
    SectionShape(
        "tube",
        "Tube: outer and inner diameter `[outer, inner]`, `{outer: ..., inner: ...}` or `{outer: ..., wall: ...}` with "
        "the wall thickness; also `outer_radius`, `inner_radius`.", 2, _ring, _ring_fault,
        outline=lambda outer, inner: [_around(outer), _around(inner)],
        names=("outer", "inner"), alternatives=TUBE_ALTERNATIVES, question=tube_question,
    ),
    SectionShape(
        "box", "Box: outer width, outer height and wall thickness, as `[width, height, wall]` or by these names.", 3,
        _box, _box_fault, outline=lambda w, h, t: [_corners(w, h), _corners(w - 2.0 * t, h - 2.0 * t)],
        names=("width", "height", "wall"),
    ),
    SectionShape(
        "i_beam", "I-beam: width, height, thickness of the flanges and of the web (along z), as "
        "`[width, height, flange, web]` or by these names.", 4,
        _i_beam, _i_beam_fault, outline=lambda *lengths: [_i_beam_corners(*lengths)],
        names=("width", "height", "flange", "web"),
    ),
)  # fmt: skip


# The section of a description.


_TABLE_SHEAR = 5.0 / 6.0


class CrossSection(PartOfKind):
    """Cross-section of a beam: one shape, or `area` with the other constants.

    Examples
    --------
    >>> import supple
    >>> tube = supple.CrossSection(tube={"outer": 0.016, "wall": 0.001})
    >>> round(tube.properties().area * 1e6, 2)  # mm²
    47.12
    """

    kinds: ClassVar = SECTION_SHAPES

    area: Annotated[Positive, of(AREA)] | None = None
    """Area A of a section by its constants, m²."""
    Iy: Annotated[Positive, of(SECOND_MOMENT)] | None = None
    """Second moment of area ∫ z² dA, m⁴: bending in the section's x-z plane; in a planar mechanism bending in its
    plane."""
    Iz: Annotated[Positive, of(SECOND_MOMENT)] | None = None
    """Second moment of area ∫ y² dA, m⁴. Optional only in the plane."""
    torsion: Annotated[Positive, of(SECOND_MOMENT)] | None = None
    """Torsion constant J, m⁴. Optional only in the plane."""
    shear_y: Annotated[Positive, of(RATIO)] | None = None
    """Shear factor k for forces along y. Default: that of the shape, or 5/6 for a section by constants."""
    shear_z: Annotated[Positive, of(RATIO)] | None = None
    """Shear factor k for forces along z. Default: that of the shape, or 5/6 for a section by constants."""

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        shapes = self._kinds()
        if len(shapes) + (self.area is not None) != 1:
            *others, last = SECTION_SHAPES
            raise ValueError(
                f"a section needs exactly one shape: {', '.join(others)} or {last}, or the constants area, Iy, Iz and "
                "torsion"
            )
        if shapes and self.chosen("Iy", "Iz", "torsion"):
            raise ValueError("Iy, Iz and torsion are only allowed with area; a shape determines its own")
        if not shapes and self.Iy is None:
            raise ValueError("a section with area needs Iy (and in space Iz and torsion)")
        fault = SECTION_SHAPES[shapes[0]].fault(*self._lengths()) if shapes else None
        if fault is not None:
            raise ValueError(fault)
        return self

    def properties(self, instead: Mapping[str, Any] = MappingProxyType({})) -> SectionProperties:
        """Return the constants of the section.

        instead : other values of its numbers, by name. Lengths of a shape are named by the shape and the length's name
        or
                  number as given, `tube.wall`, `tube.1`
        """
        of = {name: instead.get(name, getattr(self, name)) for name in ("area", "Iy", "Iz", "torsion")}
        if self.area is not None:
            Iz, torsion = (math.nan if value is None else value for value in (of["Iz"], of["torsion"]))
            found = section(of["area"], of["Iy"], Iz, torsion, _TABLE_SHEAR, _TABLE_SHEAR)
        else:
            changed = {key.removeprefix(f"{self.kind}."): value for key, value in instead.items()}
            shape = SECTION_SHAPES[self.kind]
            found = shape.properties(*shape.lengths.values(self.kind_value, changed))
        shear = {name: instead.get(name, getattr(self, name)) for name in ("shear_y", "shear_z")}
        return found._replace(shear_y=shear["shear_y"] or found.shear_y, shear_z=shear["shear_z"] or found.shear_z)

    @property
    def lengths(self) -> tuple[float, ...]:
        """Dimensions of its shape, m; empty for a section by its constants."""
        return () if self.area is not None else self._lengths()

    @property
    def in_words(self) -> str:
        """Shape and lengths as text: `tube, outer 16 mm, inner 14 mm`."""
        if self.area is not None:
            return "by its constants"
        shape = SECTION_SHAPES[self.kind]
        named = zip(shape.names or ("",) * shape.dimensions, self._lengths(), strict=True)
        return ", ".join([self.kind, *(f"{name} {1e3 * value:.6g} mm".strip() for name, value in named)])

    @property
    def question(self) -> str | None:
        """Question about unusual dimensions that may be a mistake, in one sentence, or None."""
        if self.area is not None or getattr(self.kind_value, "wall", None) is not None:
            return None
        return SECTION_SHAPES[self.kind].question(*self._lengths())

    def _lengths(self) -> tuple[float, ...]:
        return SECTION_SHAPES[self.kind].lengths.values(self.kind_value)
