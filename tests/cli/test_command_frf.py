"""`supple frf`: a frequency response on the command line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as package

LINES = ("--from", "2", "--to", "12", "--lines", "6")


@pytest.fixture
def ralf():
    from pathlib import Path

    return Path(__file__).parents[2] / "examples" / "ralf" / "mechanism.yaml"


def test_one_object_with_real_and_imaginary_parts(supple, ralf):
    said = supple("frf", ralf, "--at", "home", "--input", "lift.acceleration", "--output", "tip.z", "--kind",
                  "accelerance", *LINES, "--json")  # fmt: skip
    assert said.status == 0
    assert_allclose(said.object["frequencies_hz"], np.linspace(2, 12, 6))
    found = package.frf(package.load(ralf), "home", "lift.acceleration", "tip.z", np.linspace(2, 12, 6),
                        kind="accelerance").values[:, 0, 0]  # fmt: skip
    assert_allclose(np.array(said.object["real"]) + 1j * np.array(said.object["imag"]), found, rtol=1e-12)
    assert said.object["unit"] == "(m/s²)/(m/s²)"


@pytest.mark.parametrize(
    ("text", "law"),
    [("0.03", 0.03), ("modal=0.03", {"modal": 0.03}), ("structural=0.02", {"structural": 0.02}),
     ("rayleigh=0.5,1e-4", {"rayleigh": (0.5, 1e-4)}), ("0", 0.0)],
)  # fmt: skip
def test_damping_as_it_is_written(supple, ralf, text, law):
    options = ("--input", "tip.x", "--output", "tip.z", *LINES, "--json")
    said = supple("frf", ralf, *options, "--damping", text)
    found = package.frf(package.load(ralf), None, "tip.x", "tip.z", np.linspace(2, 12, 6), damping=law).values[:, 0, 0]
    assert_allclose(said.object["imag"], found.imag, rtol=1e-9, atol=1e-18)


def test_people_see_the_peaks(supple, ralf):
    said = supple("frf", ralf, "--input", "tip.z", "--output", "tip.z", "--to", "12", "--lines", "400")
    assert said.status == 0
    assert "receptance tip.z / tip.z in m/N" in said.out
    assert said.out.count("(peak)") == 2


def test_forces_of_free_actuators(supple, ralf):
    options = ("--input", "lift", "--output", "tip.z", "--no-drives", *LINES)
    refused = supple("frf", ralf, *options, "--json")
    assert refused.status == 1
    assert "is locked" in refused.object["error"]["text"]
    assert "--free-actuators" in refused.err
    with_gravity, without = (
        supple("frf", ralf, *options, "--free-actuators", "--json", *more).object["real"]
        for more in ((), ("--no-preload",))
    )
    assert not np.allclose(with_gravity, without, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (("--input", "tip.z"), 2, "--output"),
        (("--input", "tip.z", "--output", "tip.y"), 1, 'unknown direction "y" of "tip"'),
        (("--input", "tip.z", "--output", "tip.z", "--to", "0.5"), 1, "above --from, 1 Hz (got 0.5 Hz)"),
        (("--input", "tip.z", "--output", "tip.z", "--damping", "modl=1"), 1, 'did you mean "modal"'),
        (("--input", "tip.z", "--output", "tip.z", "--damping", "rayleigh=1"), 2, "ALPHA,BETA"),
        (("--input", "tip.z", "--output", "tip.z", "--kind", "mobilty"), 2, "mobility"),
        (("--input", "tip.z", "--output", "tip.z", "--lines", "0"), 2, "--lines"),
        (("--input", "tip.z", "--output", "tip.z", "--from", "-3"), 1, "-3 Hz is not a valid frequency"),
    ],
)
def test_mistakes_are_named(supple, ralf, options, status, words):
    said = supple("frf", ralf, *options)
    assert said.status == status
    assert words in said.err
    assert "Traceback" not in said.err
