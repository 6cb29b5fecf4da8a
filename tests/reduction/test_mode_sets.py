"""Internal modes that hold together over a region, and runs that end: without the user's help, or saying why not."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.approximation.refinement.box import Box
from supple.diagnostics import NumericalError
from supple.parameterization.mode_choice import ModeChoice
from supple.reduction.exchanges import exchanges
from supple.reduction.region_modes import kept_modes

EXAMPLES = Path(__file__).parents[2] / "examples"

ONE_LINK = """\
supple: 1
name: one-link
plane: xz
gravity: [0, -9.81]
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], T: [0.8, 0]}
bodies: {link: {beam: [O, T], section: bar, material: aluminium}}
joints: {O: {revolute: [ground, link]}}
point_masses: {tip: {at: link.T, mass: 0.5}}
actuators: {motor: {joint: O, limits: [-1.5, 1.5]}}
sensors: {tip: {position: T}}
"""

# Drawn stretched: the outer link's place over its whole range is as far from the germ as can be.
TWO_LINKS = """\
supple: 1
name: two-links
plane: xz
gravity: [0, -9.81]
materials: {aluminium: {youngs_modulus: 70 GPa, density: 2700}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], E: [0.6, 0], T: [1.1, 0]}
bodies:
  upper: {beam: [O, E], section: bar, material: aluminium}
  lower: {beam: [E, T], section: bar, material: aluminium}
joints: {O: {revolute: [ground, upper]}, E: {revolute: [upper, lower]}}
point_masses: {tip: {at: lower.T, mass: 0.3}}
actuators: {shoulder: {joint: O, limits: [-1.5, 1.5]}, elbow: {joint: E, limits: [0, 2.6]}}
sensors: {tip: {position: T}}
"""

THREE_LINKS = (
    TWO_LINKS.replace("T: [1.1, 0]", "T: [1.1, 0], W: [1.4, 0.2]")
    .replace("joints:", "  hand: {beam: [T, W], section: bar, material: aluminium}\njoints:")
    .replace("lower]}}", "lower]}, T: {revolute: [lower, hand]}}")
    .replace("lower.T", "hand.W")
    .replace("[0, 2.6]}}", "[-2.6, 2.6]}, wrist: {joint: T, limits: [-1.5, 1.5]}}")
)

# Two elastic arms with yielding drives: two modes far below all others, which carry the rods and a payload around.
FIVE_BAR = """\
supple: 1
name: five-bar
plane: xz
gravity: [0, -9.81]
parameters: {base: 0.15, prox: 0.35, open: 120 deg}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700, poisson: 0.33}}
sections: {arm: {box: [40 mm, 30 mm, 2 mm]}}
points:
  A: [-base, 0]
  B: [-base + prox*cos(open), prox*sin(open)]
  T: [0, 0.65]
  D: [base - prox*cos(open), prox*sin(open)]
  E: [base, 0]
bodies:
  left_hub: {mass: 0.5, center: A, inertia: 4e-4}
  right_hub: {mass: 0.5, center: E, inertia: 4e-4}
  left_arm: {beam: [A, B], length: prox, section: arm, material: alu, elements: 6}
  right_arm: {beam: [E, D], length: prox, section: arm, material: alu, elements: 6}
  left_rod: {rod: [B, T], length: 0.5, mass: 0.35}
  right_rod: {rod: [D, T], length: 0.5, mass: 0.35}
joints:
  left: {revolute: [ground, left_hub], at: A, rest: open, motor: {inertia: 1e-4, gear: 50}, viscous: 0.5}
  right: {revolute: [ground, right_hub], at: E, rest: pi - open, motor: {inertia: 1e-4, gear: 50}, viscous: 0.5}
  left_gear: {weld: [left_hub, left_arm], at: A, elastic: {angle: 8000}}
  right_gear: {weld: [right_hub, right_arm], at: E, elastic: {angle: 8000}}
  B: {revolute: [left_arm, left_rod]}
  D: {revolute: [right_arm, right_rod]}
  T: {revolute: [left_rod, right_rod]}
point_masses: {payload: {at: left_rod.T, mass: 2}}
damping: {modal: 0.015}
actuators:
  left: {joint: left, limits: [60 deg, 170 deg]}
  right: {joint: right, limits: [10 deg, 120 deg]}
sensors: {tool: {position: left_rod.T}}
"""
WIDE = {"left": tuple(np.radians([85.0, 155.0])), "right": tuple(np.radians([25.0, 95.0]))}
BOX = Box((WIDE["left"][0], WIDE["right"][0]), (WIDE["left"][1], WIDE["right"][1]))


@pytest.fixture(scope="module")
def five_bar() -> supple.Mechanism:
    return supple.loads(FIVE_BAR)


def taken(model) -> int:
    return model.provenance["samples"] + model.provenance["held_out"]


@pytest.mark.parametrize("modes", [1, 2])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_what_is_zero_or_constant_is_not_refined(modes, tolerance):
    """Of one link, M and K (without loads) are constant and Γ is zero, all to rounding: gravity and the sensor are all
    there is."""
    model = supple.reduce(supple.loads(ONE_LINK), internal_modes=modes, tolerance=tolerance, preload=False)
    assert max(model.error.values()) <= tolerance
    assert not [name for name in model.error if name.startswith(("M", "K", "Γ"))]
    assert model.provenance["boxes"] == 1
    assert taken(model) < 100  # waves of one turn, nothing else


@pytest.mark.slow
def test_an_arm_of_two_links_needs_no_help():
    arm = supple.loads(TWO_LINKS)
    model = supple.reduce(arm, internal_modes=2)
    assert max(model.error.values()) <= 1e-3
    assert taken(model) < 600  # 298 when last written; following its motions alone it did not end
    assert model.provenance["options"]["modes"]["tracking"] == "strain"
    assert model.provenance["exchanges"] == []
    found = supple.compare(arm, model, points=300)
    assert max(found.error.values()) <= 1.1e-3


def test_a_jump_in_a_small_part_of_the_region_is_found():
    """Of three links two modes jump where the hand is folded back, in one of eighty parts of the region."""
    boxes = [Box((-1.5, -2.6, -1.5), (1.5, 2.6, 1.5))]
    arm = supple.loads(THREE_LINKS)
    two = kept_modes(arm, ModeChoice((), 2, "auto"), boxes, 2)
    assert any(swap.jump for swap in two.swaps)
    assert {swap.cure for swap in two.swaps} == {3}
    three = kept_modes(arm, ModeChoice((), 3, "auto"), boxes, 3)
    assert three.choice.tracking == "strain"
    assert three.swaps == []


def test_motions_stay_the_measure_where_they_are_good():
    """In a closed loop the same motion is shared otherwise among the strains of the links."""
    bars = supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")
    asked = ModeChoice(("E.z",), 4, "auto")
    kept = kept_modes(bars, asked, [Box((-1.75,), (1.75,))], 4)
    assert kept.choice == ModeChoice(("E.z",), 4, "subspace")
    assert kept.swaps == []


@pytest.mark.slow
def test_two_modes_of_a_five_bar(five_bar):
    """Their frequencies stay far below all others: there is nothing to exchange with, wherever the payload is."""
    model = supple.reduce(five_bar, region=WIDE, internal_modes=2)
    assert max(model.error.values()) <= 1e-3
    assert taken(model) < 4000
    assert model.provenance["exchanges"] == []


def test_a_set_that_jumps_is_told_before_anything_is_sampled(five_bar, tmp_path):
    """Followed by motions, the two modes are given up for others far above in a corner of the region."""
    store = tmp_path / "samples"
    with pytest.raises(NumericalError) as error:
        supple.reduce(five_bar, region=WIDE, internal_modes=2, tracking="subspace", store=store)
    said = str(error.value)
    assert "2 internal modes" in said
    assert "jumps" in said
    assert "at left=1.4" in said
    assert "keep 4 internal modes" in said
    assert "--internal-modes auto" in error.value.hint
    assert not store.exists()


@pytest.mark.parametrize(("count", "tracking"), [(2, "strain"), (4, "subspace"), (6, "strain")])
def test_a_set_that_stays_the_lowest_is_better_than_one_that_changes(five_bar, count, tracking):
    """Modes 2, 4 and 6 keep away from the next ones everywhere; each set has a measure by which it can be followed."""
    kept = kept_modes(five_bar, ModeChoice((), count, "auto"), [BOX], count)
    assert kept.choice.tracking == tracking
    assert kept.swaps == []


@pytest.mark.slow
def test_a_grid_of_a_set_that_jumps_is_made_with_a_warning(five_bar):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = supple.reduce(five_bar, region=WIDE, internal_modes=2, tracking="subspace", boxes=2)
    assert any("keep 4 internal modes" in str(item.message) for item in caught)
    assert any(item["jump"] for item in model.provenance["exchanges"])


def test_one_mode_of_a_pair_is_refused_with_the_number_that_holds_both(five_bar):
    found = exchanges(five_bar, ModeChoice((), 1, "subspace"), [BOX])
    assert found
    assert {item.cure for item in found} == {2}
    for item in found:
        assert item.hz is not None
        assert abs(item.hz[0] - item.hz[1]) < 0.1 * item.hz[0]  # one inside, one outside, and close


def test_as_many_modes_as_hold_together(five_bar):
    kept = kept_modes(five_bar, ModeChoice((), 1, "auto"), [BOX], "auto")
    assert kept.choice.internal == 2
    assert kept.swaps == []
    bars = supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")
    kept = kept_modes(bars, ModeChoice(("E.z",), 1, "auto"), [Box((-1.75,), (1.75,))], "auto")
    assert kept.choice.internal == 4  # three exchange with a fourth
