"""Random elastic mechanisms reduce with defaults, in a bounded number of samples, to what they promise."""

import numpy as np
import pytest
from elastic_mechanisms import NAMES, mechanism

import supple
from supple.kinematics.rest import rest

TOLERANCE = 1e-3
REACH = {"loop 5": 0.03}  # rad; 0.1 away it meets a dead point, where M grows without bound
BUCKLED = {"spatial 3"}  # by its own weight, nine times more than it bears: taken without the stiffness of loads


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_random_loops_reduce_without_help(name):
    made = mechanism(name)
    position, reach = rest(made), REACH.get(name, 0.1)
    region = {
        key: (at - reach, at + reach) for key, at in zip(position.numbering.coordinates, position.theta, strict=True)
    }
    modes = 1 + NAMES.index(name) % 3
    model = supple.reduce(made, region=region, internal_modes=modes, tolerance=TOLERANCE, preload=name not in BUCKLED)
    assert max(model.error.values()) <= TOLERANCE
    assert model.provenance["samples"] + model.provenance["held_out"] < 600  # at most 320 when last written
    found = supple.compare(made, model, points=200)
    assert max(found.error.values()) <= 1.1 * TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_arms_reduce_over_the_whole_range_of_their_elbow(seed):
    """Drawn stretched or bent, with any two sections: what the outer link carries turns by more than half a turn."""
    rng = np.random.default_rng(seed)
    first, second = rng.uniform(0.4, 0.8, 2)
    bent = rng.uniform(-0.4, 0.4) * (seed > 0)
    arm = supple.Mechanism(
        plane="xz",
        gravity=[0, -9.81],
        materials={"metal": {"youngs_modulus": 70e9, "density": 2700}},
        sections={name: {"rectangle": [0.02, float(rng.uniform(0.006, 0.014))]} for name in ("upper", "lower")},
        points={"O": [0, 0], "E": [first, 0], "T": [first + second * np.cos(bent), second * np.sin(bent)]},
        bodies={
            "upper": {"beam": ["O", "E"], "section": "upper", "material": "metal", "elements": 4},
            "lower": {"beam": ["E", "T"], "section": "lower", "material": "metal", "elements": 4},
        },
        joints={"O": {"revolute": ["ground", "upper"]}, "E": {"revolute": ["upper", "lower"]}},
        point_masses={"tip": {"at": "lower.T", "mass": float(rng.uniform(0.1, 0.5))}},
        actuators={"shoulder": {"joint": "O", "limits": [-1.5, 1.5]}, "elbow": {"joint": "E", "limits": [-2.6, 2.6]}},
        sensors={"tip": {"position": "lower.T"}},
    )
    model = supple.reduce(arm, internal_modes=2, tolerance=TOLERANCE)
    assert max(model.error.values()) <= TOLERANCE
    assert model.provenance["samples"] + model.provenance["held_out"] < 2000
    assert model.provenance["exchanges"] == []
