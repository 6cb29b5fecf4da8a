"""A damper along a coordinate does not move with the modes: what rounding leaves of it there is not fitted."""

import pytest

import supple


@pytest.mark.slow
def test_a_damped_slide_under_a_beam_takes_one_box():
    mechanism = supple.Mechanism(
        name="cart", plane="xz", gravity=[0, -9.81],
        materials={"metal": {"youngs_modulus": 7e10, "density": 2700}}, sections={"pole": {"rectangle": [0.02, 0.02]}},
        points={"O": [0, 0], "X": [0.3, 0], "Q": [0.2, -0.9]},
        bodies={
            "cart": {"rod": ["O", "X"], "mass": 5},
            "pole": {"beam": ["O", "Q"], "section": "pole", "material": "metal", "elements": 3},
        },
        joints={
            "slide": {"prismatic": ["ground", "cart"], "at": "O", "axis": [1, 0], "viscous": 2},
            "swing": {"revolute": ["cart", "pole"], "at": "O"},
        },
        actuators={"slide": {"joint": "slide"}, "swing": {"joint": "swing"}},
    )  # fmt: skip
    region = {"slide": (-0.5, 0.5), "swing": (-0.5, 0.5)}
    model = supple.reduce(mechanism, region=region, internal_modes=2, tolerance=1e-3, store=False)
    assert model.met
    assert model.provenance["boxes"] == 1
    assert abs(model.evaluate([0.1, 0.2]).damping[0, 0] - 2.0) < 1e-12
