"""Slopes of everything that can be measured, against differences; and the same model as everywhere else."""

from __future__ import annotations

import numpy as np
import pytest
from identified_arm import ARM
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.identification.updating.measurement import Measurement
from supple.identification.updating.observed_responses import Loss, responses_with_slopes
from supple.identification.updating.observing import Observer
from supple.identification.updating.posture_model import posture_model
from supple.identification.updating.structure import structure_of
from supple.identification.updating.updated_file import updated_mechanism
from supple.identification.updating.written_numbers import numbers_of

NAMES = ("k_knee", "E", "rho", "outer", "width", "load", "Ixx", "k_spring", "k_drive", "O.rx", "knee.drive", "steel.E",
         "steel.nu", "lump.mass", "lump.inertia.yy", "hand.inertia.yy", "bar.rectangle.1")  # fmt: skip
STEP = 3e-3  # of ln p: a rule of fourth order errs by 1e-10, and rounding (1e-10 of responses) counts 300 times


@pytest.fixture(scope="module")
def arm():
    return loads(ARM)


@pytest.fixture(scope="module")
def structure(arm):
    return structure_of(numbers_of(arm, NAMES), 2000.0)


@pytest.fixture(scope="module")
def model(arm, structure):
    return posture_model(structure, supple.assemble(arm, "bent"))


def differences(function, structure, k):
    """Slope with respect to ln p, of fourth order."""
    values = structure.numbers.values
    steps = {}
    for m in (-2, -1, 1, 2):
        moved = values.copy()
        moved[k] *= np.exp(m * STEP)
        steps[m] = np.asarray(function(structure.at(moved)))
    return (8.0 * (steps[1] - steps[-1]) - (steps[2] - steps[-2])) / (12.0 * STEP)


def test_the_structure_is_that_of_all_other_analyses(arm, structure, model):
    spectrum = model.spectrum(structure.at(structure.numbers.values), 8)
    assert_allclose(
        spectrum.hertz, supple.modes(arm, "bent", count=8, preload=False).frequencies_hz, rtol=1e-6
    )  # condensation


@pytest.mark.parametrize("name", ["k_knee", "rho", "outer", "width", "Ixx", "steel.nu", "lump.mass", "lump.inertia.yy"])
def test_frequencies_change_as_the_whole_file_loaded_anew_does(arm, structure, model, name):
    """Through the reader, the closure, the mesh and the condensation, none of which the slopes know."""
    k = structure.numbers.names.index(name)
    found = model.spectrum(structure.at(structure.numbers.values), 8).log_slopes()[k]
    step = 2e-3
    hertz = {}
    for m in (-2, -1, 1, 2):
        moved = structure.numbers.values.copy()
        moved[k] *= np.exp(m * step)
        machine = updated_mechanism(structure.numbers, moved)
        hertz[m] = np.log(supple.modes(machine, "bent", count=8, preload=False).frequencies_hz)
    expected = (8.0 * (hertz[1] - hertz[-1]) - (hertz[2] - hertz[-2])) / (12.0 * step)
    assert_allclose(found, expected, atol=1e-6)


@pytest.mark.slow
def test_shapes_and_deflections_and_responses_change_as_their_differences(structure, model):
    trial = structure.at(structure.numbers.values)
    rows = model.ports(("T.x", "T.y", "T.z", "P.z"))
    force = 100.0 * model.ports(("T.z",))
    s = 2j * np.pi * np.array([5.0, 17.0, 60.0]) + 0.5
    loss = Loss(0.03, 1.0, 1e-4)
    level = slice(1, 2)
    spectrum = model.spectrum(trial)
    phi = spectrum.psi[:, level] / np.sqrt(spectrum.mu[level])

    def shape(at):
        found = model.spectrum(at, 6)
        one = found.psi[:, level] / np.sqrt(found.mu[level])
        return rows @ one * np.sign((one * (spectrum.M @ phi)).sum())

    def response(at):
        return responses_with_slopes(
            model.spectrum(at), rows, force / 100.0, s, np.array([2, 1, 0, 2]), loss, slopes=False
        ).H

    shapes = rows @ spectrum.shape_slopes(level)
    sag = model.deflections(trial, force, rows)
    H = responses_with_slopes(spectrum, rows, force / 100.0, s, np.array([2, 1, 0, 2]), loss, slopes=True)
    for k, value in list(enumerate(structure.numbers.values))[::2]:
        for found, function in ((shapes[k], shape), (sag[1][k], lambda at: model.deflections(at, force, rows)[0]),
                                (H.slopes[k], response)):  # fmt: skip
            expected = differences(function, structure, k)
            assert_allclose(found * value, expected, atol=1e-6 * np.abs(function(trial)).max())


@pytest.mark.slow
def test_what_is_compared_has_the_slopes_of_its_differences(arm, structure, model):
    channels = ("T.x", "T.y", "T.z", "P.x", "P.y", "P.z")
    random = np.random.default_rng(3)
    trial = structure.at(structure.numbers.values)
    spectrum = model.spectrum(trial, 8)
    shapes = (model.ports(channels) @ spectrum.psi[:, :3]).T
    shapes = shapes + 0.2 * np.abs(shapes).max() * (
        random.normal(size=shapes.shape) + 1j * random.normal(size=shapes.shape)
    )
    measured = Measurement(
        at="bent", frequencies_hz=spectrum.hertz[:3] * [1.05, 0.97, 1.02], shapes=shapes, channels=channels,
        antiresonances={("T.z", "T.z"): [20.0, 60.0]}, force={"T.z": -50.0}, deflections={"T.x": 1e-3, "T.z": -2e-3},
    )  # fmt: skip
    observer = Observer(model, measured)
    found = observer.compare(trial)
    for k in range(0, len(NAMES), 4):
        expected = differences(lambda at: observer.compare(at).residuals, structure, k)
        assert_allclose(found.slopes[:, k], expected, atol=1e-6 * np.abs(found.slopes).max())


def test_static_deflections_are_those_of_compliance(arm, structure, model):
    values = supple.compliance(arm, "bent", ("T.x", "T.z"), preload=False).values
    rows = model.ports(("T.x", "T.z"))
    found, _ = model.deflections(structure.at(structure.numbers.values), rows, rows)
    assert_allclose(found, values, rtol=1e-8)


def test_responses_are_those_of_frf(arm, structure, model):
    lines = np.array([3.0, 11.0, 40.0, 90.0])
    expected = supple.frf(arm, "bent", ("T.z",), ("T.x", "T.z"), lines, kind="accelerance", preload=False,
                          damping={"structural": 0.04}, drives=False).values  # fmt: skip
    trial = structure.at(structure.numbers.values)
    rows = model.ports(("T.x", "T.z"))
    found = responses_with_slopes(
        model.spectrum(trial), rows, rows[1:], 2j * np.pi * lines, np.array([2, 2]), Loss(0.04), slopes=False
    )
    assert_allclose(found.H, expected, rtol=1e-6)  # condensation for another band


def test_numbers_that_place_things_are_refused_with_the_reason():
    text = ARM.replace("P: [0.6, 0, 0]", "P: [0.1 + reach, 0, 0]")
    with pytest.raises(InputError, match=r"points.P.0 depends on it; lengths and positions"):
        numbers_of(loads(text), ["reach"])
    with pytest.raises(InputError, match="no stiffness"):
        numbers_of(loads(ARM), ["reach"])
    with pytest.raises(InputError, match='did you mean "k_knee"'):
        numbers_of(loads(ARM), ["k_kne"])


def test_patterns_mean_what_can_be_identified_and_short_names_the_numbers_of_parts(arm):
    assert numbers_of(arm, ["k_*"], ["k_spring"]).names == ("k_knee", "k_drive")
    assert numbers_of(arm, ["knee.kx", "knee.r*"]).names == ("knee.x", "knee.rx", "knee.ry")
