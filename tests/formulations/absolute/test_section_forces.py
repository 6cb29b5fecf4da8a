"""Section forces along a motion: a cantilever under a tip load, a beam that spins, weight, and joints at its ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple

LENGTH, FORCE = 2.0, 40.0
MATERIAL = """
materials: {steel: {youngs_modulus: 210 GPa, density: 7800, poisson: 0.3}}
sections: {bar: {rectangle: [40 mm, 20 mm]}}
"""
AREA, DENSITY = 0.04 * 0.02, 7800.0

HELD = f"""
supple: 1
name: cantilever
PLANE
points: {{O: ORIGIN, P: TIP}}
{MATERIAL}
bodies: {{beam: {{beam: [O, P], section: bar, material: steel, elements: 6}}}}
joints: {{clamp: {{weld: [ground, beam], at: O}}}}
REST
"""


def cantilever(planar: bool, rest: str):
    origin, tip = ("[0, 0]", f"[{LENGTH}, 0]") if planar else ("[0, 0, 0]", f"[{LENGTH}, 0, 0]")
    text = HELD.replace("ORIGIN", origin).replace("TIP", tip).replace("REST", rest)
    return supple.loads(text.replace("PLANE", "plane: xy" if planar else ""))


SPUN = f"""
supple: 1
name: spun
plane: xy
points: {{O: [0, 0], P: [{LENGTH}, 0]}}
{MATERIAL}
bodies: {{beam: {{beam: [O, P], section: bar, material: steel, elements: 6}}}}
joints: {{spin: {{revolute: [ground, beam], at: O}}}}
actuators: {{spin: {{joint: spin}}}}
damping: {{rayleigh: [0, 1e-4]}}
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::supple.diagnostics.SuppleNote")  # of its damping in time
def test_a_cantilever_under_a_load_at_its_tip():
    """Q = -F and M = -F (L - x), once damping has brought it to rest; bent as it is, to 1e-3."""
    made = cantilever(True, f"forces: {{tip: {{at: beam.P, force: [0, -{FORCE}]}}}}\ndamping: {{rayleigh: [60, 1e-3]}}")
    run = supple.simulate(made, until=1.5, step=2e-3)
    for place in (0.0, 0.25, 0.5, 0.9, 1.0):
        found = run.section("beam", place)
        assert set(found) == {"N", "Q", "M"}
        assert_allclose(found["Q"][-1], -FORCE, rtol=1e-3)
        assert_allclose(found["M"][-1], -FORCE * LENGTH * (1.0 - place), rtol=1e-3, atol=1e-6 * FORCE)
    assert_allclose(run.section("beam", "P")["Q"], -FORCE, rtol=1e-3)
    # Half of what the load works as it grows: ½ F w, w = F L³ / 3EI.
    bent = 0.5 * FORCE**2 * LENGTH**3 / (3.0 * 210e9 * 0.04 * 0.02**3 / 12.0)
    assert_allclose(run.strain_energy["beam"][-1], bent, rtol=1e-3)
    assert_allclose(run.strain_energy["beam"], run.energy["strain"], rtol=1e-12)


def test_a_section_at_the_clamp_bears_what_the_joint_does():
    """At every instant of a motion in space under weight and a load that comes suddenly."""
    made = cantilever(False, "gravity: [0, 0, -9.81]\nforces: {tip: {at: beam.P, force: [0, 15, 8]}}")
    run = supple.simulate(made, until=0.05, step=1e-3)
    found, clamp = run.section("beam", 0.0), run.reaction("clamp")
    for letters, vector in ((("N", "Qy", "Qz"), clamp.force), (("T", "My", "Mz"), clamp.moment)):
        shown, size = np.stack([found[letter] for letter in letters], axis=1), np.abs(vector).max()
        assert_allclose(np.linalg.norm(shown, axis=1), np.linalg.norm(vector, axis=1), atol=1e-9 * size)
        assert_allclose(shown, -vector, atol=1e-2 * size)  # the axes of the element turn a little


def test_a_beam_that_spins_is_pulled_by_what_lies_beyond():
    """N = ½ ρA Ω² (L² - x²), M = 0: it is 1e-5 longer then, and turns that much slower."""
    run = supple.simulate(supple.loads(SPUN), rates={"spin": 12.0}, until=0.1, step=5e-4)
    speed = run.rates["spin"][-1]
    for x in (0.0, 1.0 / 3.0, 0.5, 5.0 / 6.0):
        found = run.section("beam", x)
        expected = 0.5 * DENSITY * AREA * speed**2 * LENGTH**2 * (1.0 - x**2)
        assert_allclose(found["N"][-1], expected, rtol=3e-5)
        assert abs(found["M"][-1]) < 1e-4 * expected * LENGTH


@pytest.mark.parametrize(
    ("body", "place", "beam", "said"),
    [
        ("beam", 1.5, None, r'"beam".*fraction .*0 to 1 .*1\.5.*name a point'),
        ("beam", 0.5, 2, "beam 2"),
        ("crank", 0.5, None, "no beams"),
    ],
)
def test_places_that_are_none(body, place, beam, said):
    run = supple.simulate(supple.loads(SPUN), until=1e-3, step=5e-4)
    with pytest.raises(supple.InputError, match=said):
        run.section(body, place, beam)
