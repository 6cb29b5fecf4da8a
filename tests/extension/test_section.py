"""A shape of cross-sections from one file: an ellipse, against a table of its constants."""

from __future__ import annotations

from math import pi

from numpy.testing import assert_allclose

ELLIPSE = """
from math import pi

import supple
from supple.description.elastic.cross_section import section


def ellipse(w, h):
    torsion = pi * (w * h / 4) ** 3 / ((w / 2) ** 2 + (h / 2) ** 2)
    return section(pi * w * h / 4, pi * w * h**3 / 64, pi * h * w**3 / 64, torsion, 0.9, 0.9)


ELLIPSE = supple.SectionShape("ellipse", "Width, height.", dimensions=2, properties=ellipse)
"""
W, H = 0.02, 0.03
TORSION = pi * (W * H / 4) ** 3 / ((W / 2) ** 2 + (H / 2) ** 2)
TABLE = f"{{area: {pi * W * H / 4}, Iy: {pi * W * H**3 / 64}, Iz: {pi * H * W**3 / 64}, torsion: {TORSION}, "
TABLE += "shear_y: 0.9, shear_z: 0.9}"
CANTILEVER = """
supple: 1
name: cantilever
materials: {steel: {youngs_modulus: 2.1e11, poisson: 0.3, density: 7800}}
sections: {s: SECTION}
points: {A: [0, 0, 0], B: [0.5, 0, 0]}
bodies: {bar: {beam: [A, B], material: steel, section: s, elements: 4}}
joints: {A: {weld: [ground, bar]}}
"""
USED = """
import json
import supple
found = [supple.modes(supple.load(name), count=4).frequencies_hz for name in ("shape.yaml", "table.yaml")]
print(json.dumps([hz.tolist() for hz in found]))
"""


def test_a_shape_bends_as_its_constants_do(installed):
    found = installed(ELLIPSE, "ELLIPSE")
    (found.folder / "shape.yaml").write_text(CANTILEVER.replace("SECTION", f"{{ellipse: [{W}, {H}]}}"))
    (found.folder / "table.yaml").write_text(CANTILEVER.replace("SECTION", TABLE))
    shape, table = found.python(USED)
    assert_allclose(shape, table, rtol=1e-12)
    (found.folder / "wrong.yaml").write_text(CANTILEVER.replace("SECTION", "{ellipse: [1]}"))
    assert '"ellipse"' in found.supple("check", "wrong.yaml", status=1)
