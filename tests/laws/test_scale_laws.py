"""Nature has no metre: a mechanism that is drawn larger, heavier or faster answers in proportion.

Lengths from micrometres to kilometres, masses from micrograms to thousands of tonnes, times from microseconds to hours.
Bodies are condensed over bands in units of their own frequencies, so that the condensation's error scales as well, and
1e-8 is left for rounding.
"""

import random
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from elastic_mechanisms import NAMES, parts
from numpy.testing import assert_allclose
from rescaled import Units, parts_of, rescaled_mechanism

import supple
from supple.modal_analysis.mode_energy import mode_energy

EXAMPLES = ("flexible-four-bar", "flexible-five-bar", "aluminium-four-bar", "ralf", "five-bar-urdf")
SCALES = (
    Units(1e-6, 1e-9, 1e-4),
    Units(1e3, 1e6, 1e3),
    Units(0.01, 1.0, 1.0),
    Units(1.0, 1e-9, 1e-6),
    Units(30.0, 7e3, 0.02),
)
SCALED = 1e-8


def in_two_scales(names):
    """Each mechanism in two of the units, drawn so that all units come in turn."""
    rng, pairs = random.Random(5), []
    waiting: list[Units] = []
    for name in names:
        if len(waiting) < 2:
            waiting += rng.sample([units for units in SCALES if units not in waiting], len(SCALES) - len(waiting))
        pairs += [pytest.param(name, units, id=f"{name}-{units.length:g} m {units.mass:g} kg {units.time:g} s")
                  for units in (waiting.pop(0), waiting.pop(0))]  # fmt: skip
    return pytest.mark.parametrize(("name", "units"), pairs)


@cache
def drawn(name):
    if name in EXAMPLES:
        folder = Path(__file__).parents[2] / "examples" / name
        return parts_of(supple.load(folder / ("mechanism.urdf" if "urdf" in name else "mechanism.yaml")))
    return parts(name), None


@cache
def made(name, units=None):
    given, angles = drawn(name)
    return rescaled_mechanism(given, units or Units(1.0, 1.0, 1.0), angles)


def coordinate_units(mechanism, units, names):
    """Of η: angles, lengths, and internal modes of unit mass."""
    _, angles = parts_of(mechanism)
    of_mode = {name: units.of(1, 0.5) for name in names if name.startswith("mode")}
    return np.array([1.0 if angles.get(name) else of_mode.get(name, units.length) for name in names])


def agree(found, known, rtol=SCALED):
    """Relative to the largest of them: what is zero by symmetry is rounding."""
    assert_allclose(found, known, rtol=0, atol=rtol * np.abs(known).max())


@in_two_scales([*NAMES, *EXAMPLES])
def test_frequencies_are_in_units_of_time(name, units):
    for options in ({}, {"free_actuators": True, "preload": False}, {"free_actuators": True}):
        one, other = (supple.modes(item, count=6, **options) for item in (made(name), made(name, units)))
        squares = [np.sign(f) * f**2 for f in (one.frequencies_hz, other.frequencies_hz * units.time)]
        # motions that nothing resists have an ω² of rounding, of the largest there are
        assert_allclose(squares[1], squares[0], rtol=SCALED, atol=1e-11 * np.abs(squares[0]).max())
        assert mode_energy(one).free.tolist() == mode_energy(other).free.tolist()


@in_two_scales([*NAMES[::3], *EXAMPLES])
def test_responses_scale(name, units):
    lowest = supple.modes(made(name), count=3).frequencies_hz
    lines = np.array([0.0, 0.3 * lowest[0], 0.5 * (lowest[0] + lowest[1]), 1.3 * lowest[2]])
    port = next(iter(made(name).sensors))
    ports = [f"{port}.{axis}" for axis in (made(name).plane or "xyz")]
    for method in ("direct", "modal"):
        one, other = (
            supple.frf(item, None, ports, ports, lines / time, damping={"structural": 0.02}, method=method).values
            for item, time in ((made(name), 1.0), (made(name, units), units.time))
        )
        # with a loss factor of 0.02, an error of ω² may be seen fifty-fold
        agree(other * units.of(0, 1, -2), one, 50 * SCALED)
    one, other = (supple.compliance(item, None, ports).values for item in (made(name), made(name, units)))
    agree(other * units.of(0, 1, -2), one)


@in_two_scales([*NAMES[::3], *EXAMPLES])
def test_local_models_scale(name, units):
    one, other = (supple.local(item, internal_modes=2) for item in (made(name), made(name, units)))
    unit = coordinate_units(made(name), units, one.coordinates)
    energy = units.of(2, 1, -2)
    agree(other.M * np.outer(unit, unit) / units.of(2, 1), one.M)
    agree(other.K * np.outer(unit, unit) / energy, one.K)
    agree(other.christoffel * np.einsum("i,j,k->ijk", unit, unit, unit) / units.of(2, 1), one.christoffel, 1e-7)
    agree(other.force * unit / energy, one.force, 1e-7)


@in_two_scales([NAMES[0], NAMES[9], *EXAMPLES])
def test_linear_models_scale(name, units):
    one, other = (supple.linearize(item, internal_modes=2, drives=False) for item in (made(name), made(name, units)))
    known, found = (np.linalg.eigvals(model.A) for model in (one, other))
    found = found * units.time
    for pole in known:
        # a pair of poles at ±√p errs with the root of the error of p where p is small
        assert np.abs(found**2 - pole**2).min() < 1e-7 * np.abs(known).max() ** 2


@pytest.mark.slow
@pytest.mark.parametrize("units", SCALES[:2], ids=["small", "large"])
def test_reduced_models_scale(units):
    region = {"crank": (0.2, 0.4)}
    one, other = (
        supple.reduce(item, region=region, checks=200, internal_modes=1, tolerance=1e-3)
        for item in (made("flexible-four-bar"), made("flexible-four-bar", units))
    )
    unit = coordinate_units(made("flexible-four-bar"), units, ("crank", "mode1"))
    for crank in (0.21, 0.3, 0.37):
        known, found = (rom.evaluate([crank]) for rom in (one, other))
        agree(found.M * np.outer(unit, unit) / units.of(2, 1), known.M, 1e-7)
        agree(found.K * np.outer(unit, unit) / units.of(2, 1, -2), known.K, 1e-7)


def test_a_steel_beam_keeps_its_shape_and_pitch_at_any_size():
    """ω L does not depend on L for the same steel and the same proportions: 8.382 Hz for a metre."""

    def beam(length):
        return supple.Mechanism(
            materials={"steel": {"youngs_modulus": 210e9, "density": 7800}},
            sections={"bar": {"rectangle": [0.02 * length, 0.01 * length]}},
            points={"A": [0, 0, 0], "B": [length, 0, 0]},
            bodies={"arm": {"beam": ["A", "B"], "section": "bar", "material": "steel", "elements": 6, "up": "z"}},
            joints={"A": {"revolute": ["ground", "arm"], "axis": "y"}}, actuators={"q": {"joint": "A"}},
        )  # fmt: skip

    exact = 1.875104**2 / (2 * np.pi) * np.sqrt(210e9 / 7800 * 0.01**2 / 12)  # a slender cantilever
    for length in (1e3, 1.0, 0.01, 0.005, 1e-4, 1e-6):
        assert_allclose(supple.modes(beam(length), count=1).frequencies_hz[0] * length, exact, rtol=2e-5)
