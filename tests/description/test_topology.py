"""The graph of bodies and joints: tree, loops and Grübler's count."""

import pytest

import supple
from supple.description.topology import gruebler_count, topology
from supple.diagnostics import InputError


def mechanism(links, plane=None, kinds=None):
    """Links are joint: (body, body); every joint is a hinge unless `kinds` says otherwise."""
    at = [0.0, 0.0] if plane else [0.0, 0.0, 0.0]
    bodies = dict.fromkeys(body for pair in links.values() for body in pair if body != "ground")
    joints = {}
    for name, pair in links.items():
        kind = (kinds or {}).get(name, "revolute")
        joints[name] = {kind: list(pair), "at": at}
        if plane is None and kind in ("revolute", "prismatic", "cylindrical", "planar"):
            joints[name]["axis"] = "z"
    bodies = {body: {"mass": 1.0, "center": at, "inertia": 1.0 if plane else [1, 1, 1]} for body in bodies}
    return supple.Mechanism(plane=plane, bodies=bodies, joints=joints)


FOUR_BAR = {"A": ("ground", "a"), "B": ("a", "b"), "C": ("b", "c"), "D": ("c", "ground")}


def test_a_chain_has_no_loop_and_parents_come_first():
    found = topology(mechanism({"one": ("ground", "a"), "two": ("a", "b"), "three": ("c", "b")}))
    assert found.order == ("a", "b", "c")
    assert found.parent == {"a": ("ground", "one"), "b": ("a", "two"), "c": ("b", "three")}
    assert found.cut == found.loops == ()


def test_a_four_bar_is_one_loop_of_all_its_joints():
    found = topology(mechanism(FOUR_BAR, "xz"))
    assert len(found.cut) == 1
    assert len(found.loops) == 1
    assert set(found.loops[0]) == set(FOUR_BAR)
    assert len(found.loops[0]) == 4


def test_a_loop_is_listed_the_way_round():
    """Neighbours in the listing share a body."""
    links = FOUR_BAR | {"E": ("b", "d"), "F": ("d", "ground")}
    made = mechanism(links, "xz")
    for loop in topology(made).loops:
        ring = [set(links[name]) for name in loop]
        for first, second in zip(ring, ring[1:] + ring[:1], strict=True):
            assert first & second


def test_every_joint_is_in_the_tree_or_closes_a_loop():
    links = FOUR_BAR | {"E": ("b", "d"), "F": ("d", "ground"), "G": ("a", "d")}
    found = topology(mechanism(links, "xz"))
    tree = {joint for _, joint in found.parent.values()}
    assert tree | set(found.cut) == set(links)
    assert not tree & set(found.cut)
    assert len(found.loops) == len(links) - 4  # joints less bodies


@pytest.mark.parametrize(
    ("plane", "expected"), [("xz", 3 * 3 - 4 * 2), (None, 3 * 6 - 4 * 5)], ids=["in the plane", "in space"]
)
def test_gruebler_counts_a_four_bar(plane, expected):
    assert gruebler_count(mechanism(FOUR_BAR, plane)) == expected


def test_gruebler_counts_every_kind():
    kinds = {
        "revolute": 1, "prismatic": 1, "cylindrical": 2, "spherical": 3, "planar": 3, "translation": 3, "weld": 0,
        "free": 6,
    }  # fmt: skip
    for kind, freedoms in kinds.items():
        assert gruebler_count(mechanism({"j": ("ground", "a")}, kinds={"j": kind})) == freedoms


def test_a_body_that_nothing_connects_is_named():
    with pytest.raises(InputError, match='body "b"'):
        topology(mechanism({"one": ("ground", "a"), "two": ("b", "c")}))
