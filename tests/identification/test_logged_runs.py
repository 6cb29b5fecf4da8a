"""Numbers of drives and of damping come back from runs that were made with them, within what noise allows."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.identification.identify import predict_outputs
from supple.identification.logged_runs import logged_run

TIME = np.arange(0.0, 1.0, 4e-3)
WANTED = ("lift.gain", "lift.frequency", "lift.damping", "damping")
TRUE = {"lift.gain": 0.05, "lift.frequency": 20.0, "lift.damping": 0.7, "damping": 1.0}
GUESS = {"lift.gain": 0.065, "lift.frequency": 14.0, "lift.damping": 1.0, "damping": 0.4}


@pytest.fixture(scope="module")
def ralf():
    """The long-reach arm with valves before its cylinders, encoders and an accelerometer at its tip."""
    plain = supple.load(Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml")
    actuators = {
        name: {**part.model_dump(exclude_defaults=True, by_alias=True), "drive": {"valve": valve}}
        for (name, part), valve in zip(
            plain.actuators.items(),
            ({"gain": 0.05, "frequency": 20, "damping": 0.7, "delay": 0.002}, {"gain": 0.04, "frequency": 16}),
            strict=True,
        )
    }
    sensors = {
        "stroke": {"between": plain.actuators["lift"].between}, "reach": {"between": plain.actuators["elbow"].between},
        "tip": {"acceleration": "T"},
    }  # fmt: skip
    return plain.replace(actuators=actuators, sensors=sensors)


@pytest.fixture(scope="module")
def model(ralf):
    return supple.reduce(
        ralf,
        checks=200,
        internal_modes=2,
        region={"lift": (1.0, 1.2), "elbow": (0.9, 1.05)},
        store=False,
        preload=False,  # ratios of modal damping are those of the modes without loads
    )


def commands():
    drawn = np.random.default_rng(2)
    tones = np.array([1.3, 3.1, 6.0, 8.4, 14.0, 22.0])
    waves = np.sin(2.0 * np.pi * tones * TIME[:, None, None] + drawn.uniform(0.0, 6.0, (2, 6)))
    ramp = np.minimum(1.0, TIME / 0.05)
    return {name: 0.3 * ramp * waves[:, i].sum(axis=1) for i, name in enumerate(("lift", "elbow"))}


@pytest.fixture(scope="module")
def exact(ralf, model):
    """What its sensors show under the commands, without noise."""
    nothing = {"stroke": np.full(len(TIME), 1.1), "reach": np.full(len(TIME), 0.97)}
    silent = supple.LoggedRun(TIME, commands(), nothing)
    shown = predict_outputs(model, supple.hardware_of(ralf), silent, model.layout.outputs)
    return replace(silent, measured=dict(zip(model.layout.outputs, shown.T, strict=True)))


@pytest.fixture(scope="module")
def noisy(exact):
    drawn = np.random.default_rng(5)
    heard = {name: x + 0.02 * np.std(x) * drawn.normal(size=len(x)) for name, x in exact.measured.items()}
    return replace(exact, measured=heard)


@pytest.fixture(scope="module")
def found(ralf, model, noisy):
    return supple.identify(ralf, model, noisy, WANTED, start=GUESS)


@pytest.mark.slow
def test_valve_and_damping_come_back_within_five_percent(found):
    for name, value in TRUE.items():
        assert abs(found[name] / value - 1.0) < 0.05, name


def test_figures_of_the_docs(found):
    """docs/theory/identification.md: errors and deviations from six tones for a second with 2 % of noise."""
    for name, share in (("lift.gain", 2e-3), ("lift.frequency", 1e-2), ("lift.damping", 1e-2)):
        assert abs(found[name] / TRUE[name] - 1.0) < share
        assert found.deviations[name] / TRUE[name] < share


def test_they_are_off_by_no_more_than_their_deviations_say(found):
    for name, value in TRUE.items():
        assert abs(found[name] - value) < 4.0 * found.deviations[name], name
        assert found.deviations[name] < 0.05 * value


def test_what_is_left_over_is_the_noise_that_was_added(found, noisy):
    added = [0.02 * np.std(noisy.measured[name]) for name in found.outputs]
    assert_allclose(found.noise, added, rtol=0.15)
    assert np.abs(found.whiteness).max() < 0.15
    assert not found.at_bounds


def test_the_model_that_was_found_answers_like_the_machine(found, exact):
    shown = predict_outputs(found.model, found.hardware, exact, ("tip.x",))[:, 0]
    assert np.std(shown - exact.measured["tip.x"]) < 0.02 * np.std(exact.measured["tip.x"])
    assert_allclose(found.damping_ratios([1.1, 0.97]), 0.01 * found["damping"], rtol=1e-3)


def test_a_run_may_be_a_table(tmp_path, exact):
    names = [f"{name}.command" for name in exact.commands] + list(exact.measured)
    columns = np.column_stack([TIME, *exact.commands.values(), *exact.measured.values()])
    file = tmp_path / "run.csv"
    np.savetxt(file, columns, delimiter=",", header=",".join(["time", *names]), comments="", fmt="%.17g")
    read = logged_run(file)
    assert list(read.commands) == list(exact.commands)
    assert_allclose(read.measured["tip.x"], exact.measured["tip.x"], rtol=1e-15)


def test_what_cannot_be_found_is_said(ralf, model, exact):
    with pytest.raises(supple.InputError, match=r'unknown parameter "lift\.gian".*lift\.gain'):
        supple.identify(ralf, model, exact, ["lift.gian"])
    with pytest.raises(supple.InputError, match=r'"elbow\.damping".* in start'):
        supple.identify(ralf, model, exact, ["elbow.damping"])
    with pytest.raises(supple.InputError, match=r"evenly spaced.*8\.008 s.*resample"):
        supple.LoggedRun(np.append(TIME[:-1], 9.0), exact.commands, exact.measured)
    alone = replace(exact, commands={"lift": exact.commands["lift"]})
    with pytest.raises(supple.InputError, match=r'"elbow" has no .*command.*"elbow\.command"'):
        supple.identify(ralf, model, alone, ["lift.gain"])
