"""Outlines of cross-sections, as the page sweeps them along beams.

A shape draws itself from its dimensions; a table of constants is drawn as the rectangle that has its area's radii of
gyration.
"""

from __future__ import annotations

import numpy as np

from supple.description.elastic.cross_section import CrossSection
from supple.description.elastic.section_shapes import SECTION_SHAPES


def outline(section: CrossSection) -> dict[str, list[list[float]]]:
    """Points (y, z) in m around the section, and around its hole where it has one."""
    lengths = section.lengths
    drawn = SECTION_SHAPES[section.kind].outline if lengths else None
    if drawn is None:
        found = section.properties()
        height = float(np.sqrt(12.0 * found.Iy / found.area))
        width = height if np.isnan(found.Iz) else float(np.sqrt(12.0 * found.Iz / found.area))
        return {"outer": [[y * 0.5 * width, z * 0.5 * height] for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))]}
    loops = drawn(*lengths)
    return {"outer": loops[0]} | ({"inner": loops[1]} if len(loops) > 1 else {})
