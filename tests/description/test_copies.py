"""Copies: what is drawn once stands everywhere as it stands there, under names of its own."""

from __future__ import annotations

import jsonschema
import numpy as np
import pytest

from supple import check, load, loads, local, modes, to_yaml
from supple.cli.bundled import example_folder
from supple.diagnostics import InputError
from supple.formats.json_schema import mechanism_schema
from supple.formats.source import locate_error
from supple.formats.yaml_tree import read_tree

# One leg that stands by itself, with everything in it whose direction matters: a section that is not round, an inertia
# without symmetry in a body that is turned, frames in body axes, forces that stay and forces that follow, moments.
LEG = """
points: {O: [0.3, 0.1, 0], P: [0.6, 0.3, 0.2], Q: [0.7, 0.6, 0.25], R: [0.75, 0.7, 0.5]}
bodies:
  arm: {beam: [O, P], section: flat, material: steel}
  fork: {beams: [{from: P, to: Q, section: flat, material: steel, offset: [2 mm, 3 mm]}]}
  hand: {mass: 2, center: [0.72, 0.64, 0.3], inertia: {xx: 0.02, yy: 0.03, zz: 0.04, xy: 0.004, xz: -0.003, yz: 0.002},
         rotation: {about: [1, 2, 3], angle: 20 deg}, at: Q}
  rod: {rod: [Q, R], mass: 0.4, inertia: [0.001, 0.004, 0.003]}
frames:
  tip: {on: hand, local: [0.02, 0.05, 0.1], rotation: {about: x, angle: 30 deg}}
  grip: {on: rod, local: [0.1, 0.02, 0.03]}
  eye: {on: hand, at: [0.7, 0.7, 0.4], rotation: {about: [0, 1, 1], angle: 50 deg}}
joints:
  O: {revolute: [ground, arm], axis: [1, 2, 0.5], limits: [-1, 1]}
  P: {weld: [arm, fork]}
  Q: {prismatic: [fork, hand], axis: [P, Q]}
  S: {revolute: [hand, rod], at: Q, axis: [0.3, -1, 0.2]}
point_masses:
  lump: {at: tip, mass: 0.3, inertia: {xx: 2e-3, yy: 3e-3, zz: 4e-3, xy: 5e-4, xz: -2e-4, yz: 3e-4}}
  knob: {at: grip, mass: 0.2, inertia: [1e-3, 2e-3, 2.5e-3]}
springs:
  hinge: {joint: O, stiffness: 400, rest: 0.02}
  push: {joint: Q, stiffness: 9000, rest: 1 mm}
  swing: {joint: S, stiffness: 60, rest: -0.01}
  line: {between: [eye, O], stiffness: 300, length: 0.4}
forces:
  still: {at: eye, force: [1, 2, -3], moment: [0.1, 0.2, -0.1]}
  blown: {at: tip, force: [2, -1, 0.5], moment: [0.05, 0.1, 0.2], follower: true}
  drag: {at: grip, force: [0.4, 0.3, 0.2], follower: true}
actuators: {q: {joint: O}, s: {joint: Q}, w: {joint: S}}
"""
HEAD = """
supple: 1
name: legs
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {flat: {rectangle: [20 mm, 8 mm]}}
points: {X: [0.2, -0.1, 0.4]}
bodies: {stand: {mass: 1, center: X, inertia: [1, 1, 1]}}
joints: {X: {weld: [ground, stand]}}
"""


def indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.strip("\n").splitlines())


def legs(how: str):
    return loads(HEAD + "copies:\n  legs:\n" + indented(how.replace("; ", "\n"), 4) + "\n" + indented(LEG, 4))


HOWS = {
    "turned": ("about: z; count: 3", 3),
    "turned about a line": ("about: [1, 2, 3]; through: X; count: 4; angle: 40 deg", 4),
    "mirrored": ("mirror: y", 2),
    "mirrored askew": ("mirror: [1, 2, -0.5]; through: X", 2),
    "mirrored and turned": ("mirror: y; about: z; count: 2", 4),
    "shifted": ("shift: [0.1, 2, 0.3]; count: 3", 3),
}


@pytest.mark.parametrize("how", HOWS)
def test_every_copy_vibrates_as_the_first(how):
    """Legs that stand by themselves: every frequency of one comes as often as there are legs."""
    text, count = HOWS[how]
    alone = modes(legs("shift: [9, 0, 0]; count: 2"), count=8, free_actuators=True).frequencies_hz[::2]
    found = modes(legs(text), count=4 * count, free_actuators=True).frequencies_hz
    # 1e-7: the frequencies of preloaded modes, 1e-9 for each, with rigid ones some ten thousand times slower
    np.testing.assert_allclose(found.reshape(4, count), np.repeat(alone[:4, None], count, axis=1), rtol=1e-7)


def forces(mechanism, values: dict[str, float]) -> dict[str, float]:
    """The generalized force along each coordinate, every copy being in the same position."""
    theta = {name: values[name[0]] for name in mechanism.coordinate_names()}
    found = local(mechanism, theta, rigid=True)
    return dict(zip(theta, found.force, strict=True))


@pytest.mark.parametrize("how", HOWS)
def test_every_copy_is_pushed_as_the_first(how):
    """Springs, steady and following forces and moments act the same way on the coordinates of all copies."""
    text, count = HOWS[how]
    where = {"q": 0.05, "s": 0.004, "w": -0.03}
    found, first = forces(legs(text), where), forces(legs("shift: [9, 0, 0]; count: 2"), where)
    assert len(found) == 3 * count
    for name, value in found.items():
        assert value == pytest.approx(first[f"{name[0]}1"], abs=1e-8)  # closure is solved to 1e-10; N and N m
    assert all(abs(first[f"{name}1"]) > 0.1 for name in "qsw")  # they are pushed


def test_copies_in_the_plane_keep_the_values_of_their_angles():
    head = "supple: 1\nplane: xz\nbodies: {stand: {mass: 0}}\njoints: {X: {weld: [ground, stand], at: [0, 0]}}\n"
    leg = """
points: {O: [0.3, 0.1], P: [0.6, 0.3], Q: [0.7, 0.6]}
bodies: {arm: {rod: [O, P], mass: 1}, hand: {rod: [P, Q], mass: 0.5}}
joints: {O: {revolute: [ground, arm]}, P: {revolute: [arm, hand]}}
springs: {a: {joint: O, stiffness: 30, rest: 0.7}, b: {joint: P, stiffness: 20, rest: 0.5}}
forces: {pull: {at: Q, force: [1, -2], moment: 0.3}, blown: {at: hand.Q, force: [0.5, 1], follower: true}}
actuators: {q: {joint: O}, s: {joint: P}}
"""

    def made(how):
        text = indented(how.replace("; ", "\n"), 4) + "\n" + indented(leg, 4)
        return forces(loads(f"{head}copies:\n  legs:\n{text}\n"), {"q": 0.6, "s": 0.7})

    first = made("shift: [5, 0]; count: 2")
    for how in ("count: 3", "count: 3; through: [1, 2]; angle: 50 deg"):
        for name, value in made(how).items():
            assert value == pytest.approx(first[f"{name[0]}1"], abs=1e-8)  # as above
    with pytest.raises(InputError, match=r"about is not allowed in the plane.*remove about"):
        made("about: x; count: 2")


DELTA = """
supple: 1
name: delta
gravity: [0, 0, -9.81]
parameters: {out: 200 mm, arm: 250 mm, height: -545 mm, half: 30 mm, ex: out + arm*cos(20 deg), ez: -arm*sin(20 deg)}
materials: {alu: {youngs_modulus: 70 GPa, density: 2700}}
sections: {tube: {tube: [30 mm, 26 mm]}}
bodies:
  platform: {mass: 500 g, center: [0, 0, height], inertia: [5e-4, 5e-4, 1e-3], at: [0, 0, height]}
copies:
  legs:
    about: z
    count: 3
    points: {A: [out, 0, 0], E: [ex, 0, ez], Bl: [ex, half, ez], Br: [ex, -half, ez], Pl: [50 mm, half, height],
             Pr: [50 mm, -half, height]}
    bodies:
      arm: {beam: [A, E], section: tube, material: alu, attach: {Bl: E, Br: E}}
      left: {rod: [Bl, Pl], mass: 80 g}
      right: {rod: [Br, Pr], mass: 80 g}
    joints:
      A: {revolute: [ground, arm], axis: y, motor: {inertia: 0.0001, gear: 20}}
      Bl: {universal: [arm, left], axes: [y, [height - ez, 0, ex - 50 mm]]}
      Br: {universal: [arm, right], axes: [y, [height - ez, 0, ex - 50 mm]]}
      Pl: {spherical: [left, platform]}
      Pr: {spherical: [right, platform]}
    actuators: {q: {joint: A, limits: [-0.9, 0.9]}}
    sensors: {elbow: {position: E}}
configurations: {home: {q: 0.1}, bent: {q: 0.1, q2: 0.2}}
rest: {q: 0}
motions: {go: {coordinates: {q: {to: 0.2}, q3: {to: 0.3}}, duration: 1}}
scenarios: {run: {start: {q: 0.1}, inputs: {q: 1, q1: 2}, until: 1}}
"""


def test_a_delta_robot_is_one_leg_three_times():
    delta = loads(DELTA)
    found = check(delta)
    assert found.mobility == 3
    assert list(delta.actuators) == ["q1", "q2", "q3"]
    assert list(delta.bodies) == ["platform", *(f"{name}{i}" for i in "123" for name in ("arm", "left", "right"))]
    assert delta.joints["Bl2"].bodies == ("arm2", "left2")
    assert delta.joints["Pl3"].bodies == ("left3", "platform")
    assert set(delta.bodies["arm2"].attach) == {"Bl2", "Br2"}
    assert delta.configurations == {
        "home": dict.fromkeys(("q1", "q2", "q3"), 0.1),
        "bent": {"q1": 0.1, "q2": 0.2, "q3": 0.1},
    }
    assert {name: course.to for name, course in delta.motions["go"].coordinates.items()} == {
        "q1": 0.2,
        "q2": 0.2,
        "q3": 0.3,
    }
    assert delta.scenarios["run"].inputs == {"q1": 2.0, "q2": 1.0, "q3": 1.0}
    assert delta.rest == dict.fromkeys(("q1", "q2", "q3"), 0.0)
    mass = local(delta, delta.configurations["home"], rigid=True).M
    np.testing.assert_allclose(mass, np.roll(mass, (1, 1), axis=(0, 1)), rtol=1e-9)  # closure's 1e-10
    assert loads(to_yaml(delta)) == delta
    jsonschema.validate(read_tree(DELTA, "text").data, mechanism_schema())


def test_the_stewart_example_is_one_leg_six_times():
    stewart = load(example_folder("stewart") / "mechanism.yaml")
    assert list(stewart.actuators) == [f"leg{i}" for i in range(1, 7)]
    angles = [np.degrees(np.arctan2(*stewart.points[f"B{i}"][1::-1])) % 360.0 for i in range(1, 7)]
    np.testing.assert_allclose(angles, [10, 110, 130, 230, 250, 350], atol=1e-9)


# ------------------------------------------------------------------------------------------------ what is wrong


def refusal(old: str, new: str, text: str = DELTA) -> InputError:
    assert text.count(old) == 1, old
    with pytest.raises(InputError) as raised:
        check(loads(text.replace(old, new)))
    assert raised.value.line == text[: text.index(old)].count("\n") + 1
    return raised.value


def test_an_error_in_a_copy_names_the_line_of_its_drawing():
    assert 'body "lever"' in str(refusal("A: {revolute: [ground, arm]", "A: {revolute: [ground, lever]"))
    error = refusal("Pl: {spherical: [left, platform]}", "Pl: {spherical: [left, platform], at: Pk}")
    assert 'joint "Pl1" ("Pl" in the file)' in str(error)
    assert "is a length" in str(refusal("[-0.9, 0.9]", "[-0.9, 90 mm]"))
    assert 'copies "legs": "joints.A.axis"' in str(refusal("axis: y, motor", "axis: 3, motor"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("about: z", "suffixes: [a, b, c]", "not defined how .*set about: AXIS, mirror: DIRECTION or shift"),
        ("count: 3", "count: 1", "count: 1 makes no copy"),
        ("count: 3", "count: 101", "too many"),
        ("count: 3", "count: 3\n    suffixes: [1, 2]", "3 copies need .*suffixes .*2"),
        ("count: 3", "count: 3\n    shift: [0, 0, 1]", "shifted, or rotated and mirrored"),
        ("about: z", "about: w", "is not a direction"),
        ("about: z", "about: z\n    through: K", 'unknown point "K"'),
    ],
)
def test_a_group_must_say_how_it_is_repeated(old, new, message):
    with pytest.raises(InputError, match=message) as raised:
        loads(DELTA.replace(old, new))
    assert 'copies "legs"' in str(raised.value)
    assert 11 <= raised.value.line <= 13  # the group or its field


def test_copies_do_not_take_the_name_of_another_part():
    with pytest.raises(InputError, match=r'its copy "arm2" has the same name as another body; .*suffixes'):
        loads(DELTA.replace("bodies:\n  platform", "bodies:\n  arm2: {mass: 0}\n  platform", 1))


def test_a_mechanism_remembers_where_its_copies_stand():
    delta = loads(DELTA, name="delta.yaml")
    error = locate_error(InputError("it is wrong", path=("joints", "Bl3", "axes"), part='joint "Bl3"'), delta)
    assert str(error).startswith('delta.yaml:22: joint "Bl3" ("Bl" in the file)')
