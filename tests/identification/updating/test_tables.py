"""Stiffnesses that follow a coordinate or the load: slopes of their knots, and data that one value cannot explain."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import PchipInterpolator
from typer.testing import CliRunner

import supple
from supple.approximation.monotone_cubic import monotone_cubic
from supple.cli.main import app
from supple.diagnostics import InputError, SuppleNote
from supple.identification.updating.posture_model import posture_model
from supple.identification.updating.structure import structure_of
from supple.identification.updating.written_numbers import numbers_of

ARM = """
supple: 1
name: a lift with a soft knee
plane: xz
gravity: [0, -9.81]
parameters: {k_knee: 1.6e4}
points: {O: [0, 0], P: [0.6, 0], T: [1.1, 0]}
bodies:
  upper: {rod: [O, P], mass: 4}
  fore: {rod: [P, T], mass: 2}
  hand: {mass: 3, center: T, inertia: 5e-3, at: T}
joints:
  O: {revolute: [ground, upper], drive: {stiffness: 4e4}}
  knee: {weld: [upper, fore], at: P, stiffness: {angle: k_knee, x: 4e6}}   # a worn clamp
  T: {weld: [fore, hand]}
actuators: {lift: {joint: O}}
sensors: {tip: {position: T}}
"""
OVER_LIFT = "{over: lift, at: [-1.2, 0, 1.2], values: [1e4, 1.5e4, 3e4]}"
OVER_LOAD = "{over: load, at: [5, 25, 50], values: [1e4, 1.8e4, 2.6e4]}"
POSTURES = (-1.2, -0.6, 0.0, 0.6, 1.2)


def with_table(table):
    return supple.loads(ARM.replace("angle: k_knee", f"angle: {table}"))


def frequencies(machine, noise=0.0):
    random = np.random.default_rng(1)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleNote)  # what stiffness it takes under the load
        for lift in POSTURES:
            hertz = supple.modes(machine, {"lift": lift}, count=3, preload=False).frequencies_hz
            hertz = hertz * (1.0 + noise * random.normal(size=3))
            found.append(supple.Measurement(at={"lift": lift}, frequencies_hz=hertz, frequency_noise=2e-3))
    return found


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM, encoding="utf-8")
    return path


@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_curve_is_that_of_pchip_with_exact_slopes(n):
    random = np.random.default_rng(n)
    at, values = np.sort(random.normal(size=n)), random.uniform(1.0, 3.0, size=n)
    for x in np.linspace(at[0], at[-1], 17)[1:-1]:
        found = monotone_cubic(at, values, x)
        curve = PchipInterpolator(at, values)
        assert_allclose([found.value, found.slope], [curve(x), curve.derivative()(x)], rtol=1e-12, atol=1e-12)
        for i in range(n):
            step = 1e-6 * np.eye(n)[i]
            rough = (PchipInterpolator(at, values + step)(x) - PchipInterpolator(at, values - step)(x)) / 2e-6
            assert found.by_values[i] == pytest.approx(rough, abs=1e-8)
    assert monotone_cubic(at, values, at[-1] + 1.0).value == values[-1]


@pytest.mark.parametrize("table", [OVER_LIFT, OVER_LOAD], ids=["coordinate", "load"])
def test_frequencies_are_those_of_modes_and_their_slopes_those_of_differences(table):
    machine = with_table(table)
    numbers = numbers_of(machine, ["knee.angle.values.*", "O.drive", "knee.x"])
    assert numbers.names[:3] == tuple(f"knee.angle.values.{i}" for i in range(3))
    structure = structure_of(numbers, 500.0)
    model = posture_model(structure, supple.assemble(machine, {"lift": 0.5}))
    values = numbers.values
    spectrum = model.spectrum(structure.at(values), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleNote)
        assert_allclose(
            spectrum.hertz, supple.modes(machine, {"lift": 0.5}, count=4, preload=False).frequencies_hz, rtol=1e-8
        )
    slopes = spectrum.log_slopes()
    assert np.abs(slopes[:3]).max() > 0.05
    for k in range(len(values)):
        rough = {}
        for m in (-2, -1, 1, 2):
            moved = values.copy()
            moved[k] *= np.exp(2e-3 * m)
            rough[m] = np.log(model.spectrum(structure.at(moved), 4).hertz)
        expected = (8.0 * (rough[1] - rough[-1]) - (rough[2] - rough[-2])) / (12.0 * 2e-3)
        assert_allclose(slopes[k], expected, atol=1e-6)


@pytest.mark.parametrize(("table", "over"), [(OVER_LIFT, "lift"), (OVER_LOAD, "load")], ids=["coordinate", "load"])
def test_one_value_leaves_a_misfit_that_is_told_and_a_table_brings_it_back(file, tmp_path, table, over):
    truth = with_table(table)
    seen = frequencies(truth, 1e-3)
    one = supple.update(file, seen, ["knee.angle", "O.drive"], starts=1)
    assert one.excess > 4.0
    assert one.varying.name == "knee.angle"
    assert one.varying.over[0] == over
    assert any(f"try a table, --table knee.angle={over}" in text for text in one.words())
    known = truth.joints["knee"].stiffness["angle"]
    several = supple.update(
        file, seen, ["knee.angle", "O.drive"], tables={"knee.angle": (over, known.at)}, starts=1, prior=0.5
    )
    assert several.excess == pytest.approx(1.0, abs=0.3)
    assert several.varying is None
    found = [several[f"knee.angle.values.{i}"] for i in range(3)]
    assert_allclose(found, known.values, rtol=0.05)  # noise of 0.1 % in frequencies that depend on it by a third
    written = several.save_mechanism(tmp_path / "new.yaml").read_text(encoding="utf-8")
    assert "# a worn clamp" in written
    again = supple.load(tmp_path / "new.yaml").joints["knee"].stiffness["angle"]
    assert again.over == over
    assert_allclose(again.values, found, rtol=1e-5)
    assert several.predict({"lift": 0.3}, 3).frequencies_hz == pytest.approx(
        frequencies_at(truth, 0.3), rel=5e-3
    )  # between the postures that were measured


def frequencies_at(machine, lift):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleNote)
        return supple.modes(machine, {"lift": lift}, count=3, preload=False).frequencies_hz


def test_where_one_value_is_enough_nothing_is_said(file):
    seen = frequencies(supple.loads(ARM, parameters={"k_knee": 1.2e4}), 2e-3)
    found = supple.update(file, seen, ["knee.angle", "O.drive"], starts=1)
    assert found.varying is None
    assert found["knee.angle"] == pytest.approx(1.2e4, rel=0.02)


def test_the_command_takes_a_table_with_its_own_knots(file, tmp_path):
    measured = []
    for item in frequencies(with_table(OVER_LIFT)):
        name = tmp_path / f"f{item.at['lift']:g}.csv"
        name.write_text("frequency_hz\n" + "\n".join(f"{f:.9g}" for f in item.frequencies_hz), encoding="utf-8")
        measured += [f"{name}@lift={item.at['lift']:g}"]
    out = CliRunner().invoke(app, ["identify", str(file), *measured, "--parameters", "knee.angle", "--table",
                                   "knee.angle=lift", "--starts", "1", "--json"])  # fmt: skip
    assert out.exit_code == 0, out.output
    found = json.loads(out.stdout)["parameters"]
    assert [found[f"knee.angle.values.{i}"]["after"] for i in range(3)] == pytest.approx([1e4, 1.5e4, 3e4], rel=0.02)


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ({"knee.angle": ("lft", [0, 1])}, 'unknown coordinate "lft".*"lift"'),
        ({"knee.angle": ("lift", [1, 0])}, r"knots must be .*got 1, 0"),
        ({"k_knee": ("lift", [0, 1])}, r"k_knee.*stiffnesses given by direction"),
    ],
)
def test_tables_that_cannot_be_are_told(file, tables, why):
    seen = [supple.Measurement(at={"lift": 0.0}, frequencies_hz=[5.0])]
    with pytest.raises(InputError, match=why):
        supple.update(file, seen, ["knee.angle"], tables=tables)
    with pytest.raises(InputError, match=r"lift is 0 at every measured posture"):
        supple.update(file, seen, ["knee.angle"], tables={"knee.angle": "lift"})
