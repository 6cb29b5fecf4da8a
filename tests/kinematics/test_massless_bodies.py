"""Bodies without mass are legal where the joints determine how they move."""

import numpy as np
from numpy.testing import assert_allclose

import supple
from supple.parameterization.local_model import local


def four_bar(coupler_mass):
    return supple.Mechanism(
        plane="xz",
        gravity=[0, -9.81],
        points={"A": [0, 0], "B": [0.1, 0.4], "E": [0.9, 0.7], "D": [1.0, 0.0]},
        bodies={
            "crank": {"rod": ["A", "B"], "mass": 0.7},
            "coupler": {"rod": ["B", "E"], "mass": coupler_mass},
            "follower": {"rod": ["D", "E"], "mass": 0.9},
        },
        joints={
            "A": {"revolute": ["ground", "crank"]},
            "B": {"revolute": ["crank", "coupler"]},
            "E": {"revolute": ["coupler", "follower"]},
            "D": {"revolute": ["ground", "follower"]},
        },
        actuators={"motor": {"joint": "A"}},
        sensors={"rocker": {"joint": "D"}},
    )


def test_a_massless_coupler_only_transmits():
    thetas = np.linspace(1.0, 1.6, 7)[:, None]
    model = local(four_bar(0), thetas)
    ratio = model.outputs["rocker"].rigid[:, 0]
    crank, follower = 0.7 * (0.1**2 + 0.4**2) / 3.0, 0.9 * (0.1**2 + 0.7**2) / 3.0
    assert_allclose(model.M[:, 0, 0], crank + follower * ratio**2, rtol=1e-12)  # sums to rounding


def test_mass_of_a_body_enters_linearly():
    """What a coupler of one kilogram adds, one of a millionth of it adds a millionth as much."""
    theta = [1.3]
    none, some, one = (local(four_bar(m), theta) for m in (0, 1e-6, 1.0))
    for name in ("M", "dM", "christoffel", "force"):
        added = (getattr(one, name) - getattr(none, name)) * 1e-6
        # the difference of two nearly equal numbers: 1e-16 of them
        assert_allclose(getattr(some, name) - getattr(none, name), added, atol=1e-14 * np.abs(getattr(one, name)).max())


def test_a_chain_of_massless_bodies_carries_a_mass_like_one_body():
    """A crosshead of massless parts: what is at the end moves as a point mass would."""
    mechanism = supple.Mechanism(
        gravity=[0, 0, -9.81],
        bodies={
            "boom": {"mass": 0}, "trolley": {"mass": 0},
            "hook": {"mass": 2.0, "center": [1.0, 0, -0.5], "inertia": [0, 0, 0]},
        },
        joints={
            "slew": {"revolute": ["ground", "boom"], "at": [0, 0, 0], "axis": "z"},
            "travel": {"prismatic": ["boom", "trolley"], "at": [1.0, 0, 0], "axis": "x"},
            "hoist": {"prismatic": ["trolley", "hook"], "at": [1.0, 0, 0], "axis": "z"},
        },
        coordinates=["slew", "travel", "hoist"],
    )  # fmt: skip
    model = local(mechanism, [0.4, 0.3, 0.1])
    radius = 1.3
    assert_allclose(model.M, np.diag([2.0 * radius**2, 2.0, 2.0]), atol=1e-13)
    expected = np.zeros((3, 3, 3))  # cylindrical coordinates: Γ of the radius and of the angle
    expected[0, 0, 1] = expected[0, 1, 0] = 2.0 * radius
    expected[1, 0, 0] = -2.0 * radius
    assert_allclose(model.christoffel, expected, atol=1e-13)
    assert_allclose(model.force, [0.0, 0.0, -2.0 * 9.81], atol=1e-13)


def test_light_bodies_of_a_long_chain_need_no_dense_matrix(monkeypatch):
    """Inertias that differ by ten decades make no rank unclear, and a motion without inertia is still found."""
    from supple.kinematics import inspection as massless_motions

    def dense(*_):
        raise AssertionError("a dense singular value decomposition")

    monkeypatch.setattr(massless_motions, "_light_dense", dense)
    count = 60  # 360 columns
    names = [f"b{i}" for i in range(count)]

    def chain(last):
        bodies = {}
        for i, name in enumerate(names):
            mass = last if i == count - 1 else 10.0 ** (-9.0 * i / count)
            inertia = dict.fromkeys(("xx", "yy", "zz"), 0.01 * mass)
            bodies[name] = {"mass": mass, "inertia": inertia, "at": [0.0, 0.0, 0.1 * i + 0.05]}
        joints = {
            f"j{i}": {"revolute": ["ground" if i == 0 else names[i - 1], name], "at": [0.0, 0.0, 0.1 * i], "axis": "y"}
            for i, name in enumerate(names)
        }
        return supple.Mechanism(bodies=bodies, joints=joints)

    assert not [note for note in supple.check(chain(1e-9)).notes if "no inertia" in note]
    (note,) = [note for note in supple.check(chain(0.0)).notes if "no inertia" in note]
    assert note.startswith(f'1 motion of "{names[-1]}" carries no inertia')
