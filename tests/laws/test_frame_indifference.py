"""However the same mechanism is written down, its equations of motion are the same."""

import numpy as np
import pytest
from differences import largest
from numpy.testing import assert_allclose
from random_mechanisms import CASES, case
from random_parts import rotation
from redrawn import by_frames, in_another_plane, in_space, kind_of, scaled, shuffled, swapped, turned
from world_axes import WorldAxes

import supple
from supple.kinematics.rest import rest
from supple.parameterization.local_model import local

ROUNDING = 1e-11
"""Of the largest entry: another order of sums, through solves with a condition of a hundred or two."""

LINKAGES = [
    "four-bar 1", "four-bar 2", "four-bar 3", "five-bar 1", "five-bar 2", "two four-bars that share a bar 1",
    "two four-bars that share a bar 2", "slider-crank driven by a cylinder 1", "slider-crank driven by a cylinder 2",
    "3-RRR platform", "parallelogram chain 1", "parallelogram chain 2",
]  # fmt: skip


def assert_same_motion(first, second, sign=None):
    """M, Γ, dM, p, its gradient and the potential agree; `sign` is that of θ in the second."""
    s = np.ones(len(first.coordinates)) if sign is None else sign
    pairs = {
        "M": np.einsum("...ij,i,j->...ij", second.M, s, s),
        "dM": np.einsum("...ijk,i,j,k->...ijk", second.dM, s, s, s),
        "christoffel": np.einsum("...ijk,i,j,k->...ijk", second.christoffel, s, s, s),
        "force": second.force * s,
        "dforce": np.einsum("...ij,i,j->...ij", second.dforce, s, s),
        "damping": np.einsum("...ij,i,j->...ij", second.damping, s, s),
    }
    for name, other in pairs.items():
        mine = getattr(first, name)
        assert_allclose(other, mine, atol=ROUNDING * largest(mine), err_msg=name)
    change = first.potential - first.potential[0]
    assert_allclose(second.potential - second.potential[0], change, atol=ROUNDING * largest(first.potential))


def test_a_turned_and_shifted_drawing_moves_the_same(spatial_case):
    rng = np.random.default_rng(11)
    R, shift = rotation(rng), rng.standard_normal(3)
    thetas = spatial_case.thetas(3)
    here = local(spatial_case.mechanism, thetas)
    there = local(supple.Mechanism(**turned(spatial_case.parts, R, shift)), thetas)
    assert_same_motion(here, there)
    before, after = (np.stack([m.outputs[f"place.{k}"].value for k in "xyz"], axis=-1) for m in (here, there))
    assert_allclose(after, before @ R.T + shift, atol=ROUNDING)  # of places of about a metre


@pytest.mark.parametrize("plane", ["xy", "xz", "yz", "yx", "zx", "zy"])
def test_a_planar_mechanism_moves_the_same_in_every_plane(planar_case, plane):
    thetas = planar_case.thetas(3)
    other = supple.Mechanism(**in_another_plane(planar_case.parts, plane))
    assert_same_motion(local(planar_case.mechanism, thetas), local(other, thetas))


@pytest.mark.parametrize("name", LINKAGES)
def test_a_planar_linkage_moves_the_same_in_space_with_parallel_hinges(name):
    planar = case(name)
    spatial = supple.Mechanism(**in_space(planar.parts))
    thetas = planar.thetas(3)
    here, there = local(planar.mechanism, thetas), local(spatial, thetas)
    assert_same_motion(here, there)
    assert here.inputs == there.inputs
    assert_allclose(there.input_map, here.input_map, atol=ROUNDING * largest(here.input_map))
    # three rows too many for every closed loop, on top of those the plane knows
    loops = len(planar.parts["joints"]) - len(planar.parts["bodies"])
    assert rest(spatial).mobility.redundant == rest(planar.mechanism).mobility.redundant + 3 * loops
    assert rest(spatial).mobility.mobility == rest(planar.mechanism).mobility.mobility


def test_the_order_of_the_lists_does_not_matter(any_case):
    thetas = any_case.thetas(3)
    here = local(any_case.mechanism, thetas)
    for seed in range(3):
        other = supple.Mechanism(**shuffled(any_case.parts, np.random.default_rng(seed)))
        assert_same_motion(here, local(other, thetas))


@pytest.mark.parametrize("name", ["four-bar 2", "two four-bars that share a bar 1", "parallelogram chain 1"])
def test_the_order_of_redundant_joints_does_not_matter(name):
    parts = in_space(case(name).parts)
    thetas = case(name).thetas(3)
    here = local(supple.Mechanism(**parts), thetas)
    for seed in range(4):
        other = supple.Mechanism(**shuffled(parts, np.random.default_rng(seed)))
        assert_same_motion(here, local(other, thetas))
        assert set(rest(other).mobility.joints) == set(parts["joints"])


def test_it_does_not_matter_which_body_of_a_joint_is_named_first(any_case):
    thetas = any_case.thetas(3)
    here = local(any_case.mechanism, thetas)
    for seed in range(2):
        parts, sign = swapped(any_case.parts, np.random.default_rng(seed))
        there = local(supple.Mechanism(**parts), thetas * sign)
        assert_same_motion(here, there, sign)
        old = any_case.parts["joints"]
        changed = [
            name for name, joint in parts["joints"].items() if joint[kind_of(joint)] != old[name][kind_of(joint)]
        ]
        # seen from the other body, the components of planar and free joints are not just turned round
        assert changed or all(kind_of(joint) in ("planar", "free") for joint in old.values())


def test_places_may_be_told_in_the_drawing_or_in_body_axes(any_case):
    thetas = any_case.thetas(3)
    drawing = WorldAxes(any_case.parts)
    parts = by_frames(any_case.parts, drawing.close(drawing.drawn))
    assert_same_motion(local(any_case.mechanism, thetas), local(supple.Mechanism(**parts), thetas))


def test_the_order_of_the_coordinates_orders_the_model(any_case):
    order = np.random.default_rng(4).permutation(len(any_case.rest))
    parts = any_case.parts | {"coordinates": [any_case.parts["coordinates"][i] for i in order]}
    thetas = any_case.thetas(2)
    here, there = local(any_case.mechanism, thetas), local(supple.Mechanism(**parts), thetas[:, order])
    assert there.coordinates == tuple(parts["coordinates"])
    M, G = here.M[:, order][:, :, order], here.christoffel[:, order][:, :, order][:, :, :, order]
    assert_allclose(there.M, M, atol=ROUNDING * largest(M))
    assert_allclose(there.christoffel, G, atol=ROUNDING * largest(G))
    assert_allclose(there.force, here.force[:, order], atol=ROUNDING * largest(here.force))


SIZES = np.random.default_rng(6).permutation(np.resize([1e-6, 1e-3, 1e4], len(CASES)))  # each for a third of them


@pytest.mark.parametrize(("any_case", "size"), list(zip(CASES, SIZES, strict=True)), indirect=["any_case"])
def test_size_does_not_matter(any_case, size):
    """With every length (and gravity) times a factor, energies grow with its square; angles stay angles."""
    (here, _), (there, factor) = scaled(any_case.parts, 1.0), scaled(any_case.parts, size)
    thetas = any_case.thetas(2)
    one, other = local(supple.Mechanism(**here), thetas), local(supple.Mechanism(**there), thetas * factor)
    M = np.einsum("...ij,i,j->...ij", other.M, factor, factor) / size**2
    G = np.einsum("...ijk,i,j,k->...ijk", other.christoffel, factor, factor, factor) / size**2
    assert_allclose(M, one.M, atol=ROUNDING * largest(one.M))
    assert_allclose(G, one.christoffel, atol=ROUNDING * largest(one.christoffel, one.M))
    assert_allclose(other.force * factor / size**2, one.force, atol=ROUNDING * largest(one.force))
