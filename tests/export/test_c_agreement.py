"""Exported C against the same equations in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from supple.approximation.fits.chebyshev_products import total_degree
from supple.approximation.refinement.box import Box
from supple.approximation.refinement.box_tree import Forest, cut_box

# Sums of at most a few hundred products in another order: rounding errors of that many units in the last place.
RTOL = 1e-12


def states(rom, count=40):
    """Random states inside, and the corners of the region, which belong to it."""
    rng = np.random.default_rng(7)
    lower, upper = rom.fitted.arrays.roots_f[0]
    n, s = rom.layout.size, rom.layout.theta
    theta = np.vstack([rng.uniform(lower, upper, (count, s)), [lower], [upper], 0.5 * (lower + upper)[None]])
    eta = np.hstack([theta, rng.uniform(-0.1, 0.1, (len(theta), n - s))])
    return zip(
        eta,
        *(rng.uniform(-2, 2, (2, len(eta), n))),
        rng.uniform(-5, 5, (len(eta), len(rom.layout.inputs))),
        strict=True,
    )


def close(found, expected):
    assert_allclose(found, expected, rtol=RTOL, atol=RTOL * np.abs(expected).max(initial=1e-300))


def members(rom):
    """Members of the C structure in its order, with their values at a point."""
    order = ["M", "christoffel", "mass_gradient", "mass_slope", "damping", "K", "potential", "force", "force_gradient"]
    order += ["stiffness_gradient"]
    order += ["input_map", "outputs", "output_modes", "friction_map"]
    layout = rom.layout
    known = {*layout.columns, *layout.constants}
    known |= {"mass_gradient"} if layout.bent else {"christoffel"} if layout.christoffel == "from-mass" else set()
    known |= {"force"} if layout.force == "from-potential" else set()
    if layout.size > layout.theta:
        known |= {
            f"{full}_gradient" for name, full in (("force", "force"), ("K", "stiffness")) if name in layout.columns
        }
    return [name for name in order if name in known]


def test_coefficients(rom, built, reference):
    code, names = built(rom), members(rom)
    for eta, *_ in states(rom):
        theta = eta[: rom.layout.theta]
        expected = reference.coefficients(rom, theta, eta[rom.layout.theta :])
        if "potential" in names:
            expected["potential"] = rom.fitted.evaluate(theta)[slice(*rom.layout.columns["potential"])]
        flat = np.concatenate([np.ravel(expected[name]) for name in names])
        flag, found = code.call("coefficients", eta, width=len(flat))
        assert flag == 0
        at = 0
        for name in names:
            size = np.size(expected[name])
            close(found[at : at + size], np.ravel(expected[name]))
            at += size


def test_columns_are_those_of_the_fitted_function(rom, built):
    code = built(rom)
    for eta, *_ in states(rom):
        theta = eta[: rom.layout.theta]
        flag, found = code.call("columns", theta, width=rom.fitted.outputs)
        assert flag == 0
        close(found, rom.fitted.evaluate(theta))


def test_inverse_dynamics(rom, built, reference):
    code = built(rom)
    for eta, rates, accelerations, _ in states(rom):
        c, rest = reference.resistance(rom, eta, rates)
        flag, found = code.call("inverse", eta, rates, accelerations, width=len(eta))
        assert flag == 0
        close(found, c["M"] @ accelerations + rest)


def test_forward_dynamics(rom, built, reference):
    code = built(rom)
    for eta, rates, _, inputs in states(rom):
        c, rest = reference.resistance(rom, eta, rates)
        flag, found = code.call("forward", eta, rates, inputs, width=len(eta))
        assert flag == 0
        close(found, np.linalg.solve(c["M"], c["input_map"] @ inputs - rest))


def test_outputs_and_their_rates(rom, built, reference):
    code = built(rom)
    for eta, rates, *_ in states(rom):
        s, c = rom.layout.theta, reference.coefficients(rom, eta[: rom.layout.theta])
        flag, found = code.call("outputs", eta, width=len(rom.layout.outputs))
        assert flag == 0
        close(found, c["outputs"] + c["output_modes"] @ eta[s:])
        flag, found = code.call("output_rates", eta, rates, width=len(rom.layout.outputs))
        assert flag == 0
        close(found, c["rigid"] @ rates[:s] + c["output_modes"] @ rates[s:])


def test_edges_between_boxes_belong_to_the_same_box_as_in_python(models, built):
    for rom in (models["four-bar mixed degrees"], models["elastic"], models["four-bar"], models["orthoglide"]):
        code, arrays = built(rom), rom.fitted.arrays
        middle = arrays.roots_f[0].mean(axis=0)
        for cut, axis in zip(arrays.nodes_f, arrays.nodes_i[:, 0], strict=True):
            for value in (np.nextafter(cut, -9), cut, np.nextafter(cut, 9)):
                theta = middle.copy()
                theta[axis] = value
                flag, found = code.call("columns", theta, width=rom.fitted.outputs)
                assert flag == 0
                close(found, rom.fitted.evaluate(theta))


def test_several_roots_and_a_box_that_nothing_was_fitted_on(reference, built):
    """Two boxes that share an edge, the upper half of the second left out."""
    rom = reference.invented(8, 1, 0, (0,), (3,), structured=False)
    lower, upper = Box((-1.0,), (0.5,)), Box((0.5,), (2.0,))
    roots = [cut_box(lower, (1,)), cut_box(upper, (1,))]
    rng, leaves = np.random.default_rng(9), [leaf for root in roots for leaf in root.leaves()]
    for leaf in leaves[:-1]:
        leaf.coefficients = rng.uniform(-1, 1, (4, rom.fitted.outputs))
    rom.fitted = Forest(roots, total_degree(1, 3)).piecewise()
    code = built(rom)
    for x in (-1.0, -0.3, -0.25, 0.0, 0.5, 0.7, np.nextafter(1.25, 0)):
        flag, found = code.call("columns", [x], width=rom.fitted.outputs)
        assert flag == 0
        close(found, rom.fitted.evaluate([x]))
    for x in (-1.1, 1.25, 1.9, 2.0, 2.1):
        assert code.call("columns", [x], width=rom.fitted.outputs)[0] == 1


@pytest.mark.parametrize("value", [1e9, -1e9, np.inf, -np.inf, np.nan])
def test_outside_the_region_the_flag_says_so_and_nothing_is_written(rom, built, value):
    code, n = built(rom), rom.layout.size
    eta = np.concatenate([rom.fitted.arrays.leaves_f[0, 0], np.zeros(n - rom.layout.theta)])
    for i in range(rom.layout.theta):
        outside = eta.copy()
        outside[i] = value
        calls = {
            "coefficients": (outside,),
            "columns": (outside,),
            "inverse": (outside, eta, eta),
            "forward": (outside, eta, np.zeros(len(rom.layout.inputs))),
            "outputs": (outside,),
            "output_rates": (outside, eta),
        }
        for name, given in calls.items():
            flag, out = code.call(name, *given, width=4000)
            assert flag == 1, name
            assert (out == 12345.0).all(), name


def test_just_outside_is_outside(rom, built):
    code, (lower, upper) = built(rom), rom.fitted.arrays.roots_f[0]
    assert code.call("columns", np.nextafter(lower, -9e9), width=rom.fitted.outputs)[0] == 1
    assert code.call("columns", np.nextafter(upper, 9e9), width=rom.fitted.outputs)[0] == 1


def test_an_indefinite_mass_is_a_flag(reference, built):
    rom = reference.invented(5, 2, 0, (0, 0), (2,), structured=False)
    first, stop = rom.layout.columns["M"]
    rom.fitted.arrays.coefficients[:, first:stop] *= -1.0
    eta = rom.fitted.arrays.leaves_f[0, 0]
    flag, out = built(rom).call("forward", eta, eta, np.zeros(2), width=2)
    assert flag == 2
    assert (out == 12345.0).all()
