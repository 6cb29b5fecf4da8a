"""`supple modal`: modes of measured responses on the command line."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as package

OWN, RATIOS = np.array([20.0, 35.0]), np.array([0.02, 0.01])
PHI = np.array([[1.0, 0.5, -0.3], [-0.4, 1.0, 0.7]])


@pytest.fixture(scope="module")
def test_file(tmp_path_factory):
    hertz = np.arange(5.0, 60.0, 0.25)
    g = -(hertz[:, None] ** 2) / (OWN**2 - hertz[:, None] ** 2 + 2j * RATIOS * OWN * hertz[:, None])
    H = np.einsum("kr,ro,r->ko", g, PHI, PHI[:, 0])[:, :, None]
    made = package.Responses(
        hertz, [package.Channel(name, "z") for name in "abc"], [package.Channel("a", "z", "force")], H
    )
    return made.save(tmp_path_factory.mktemp("modal") / "test.uff")


def test_one_object_and_a_table(supple, test_file):
    said = supple("modal", test_file, "--band", "8Hz:55Hz", "--json")
    assert said.status == 0
    assert_allclose(said.object["frequencies_hz"], OWN, rtol=1e-5)
    assert_allclose(said.object["damping"], RATIOS, rtol=1e-3)
    assert_allclose(said.object["shapes"]["real"][0], PHI[0], rtol=1e-3)
    assert said.object["responses"] == ["a.z", "b.z", "c.z"]
    told = supple("modal", test_file, "--method", "ptd", "--order", "12")
    assert told.status == 0
    assert "2 modes" in told.out
    assert "20.000 ±" in told.out


def test_pictures_and_files(supple, test_file, tmp_path):
    for drawing in ("stabilisation", "responses", "mac"):
        picture = tmp_path / f"{drawing}.png"
        assert supple("modal", test_file, "--drawing", drawing, "-o", picture).status == 0
        assert picture.stat().st_size > 5000
    assert supple("modal", test_file, "-o", tmp_path / "modes.csv", "--plot", tmp_path / "modes.svg").status == 0
    assert (tmp_path / "modes.csv").read_text(encoding="utf-8").startswith("mode,frequency_hz")
    assert "<svg" in (tmp_path / "modes.svg").read_text(encoding="utf-8")
    assert supple("modal", test_file, "-o", tmp_path / "modes.json").status == 0
    assert_allclose(json.loads((tmp_path / "modes.json").read_text())["frequencies_hz"], OWN, rtol=1e-5)


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (("--band", "100Hz:200Hz"), 1, "between 100 and 200 Hz; the lines go from 5 to 59.75 Hz"),
        (("--band", "30Hz:20Hz"), 1, "lower limit first"),
        (("--band", "30"), 2, "LOW:HIGH"),
        (("--band", "8m:20m"), 1, "--band"),
        (("--order", "900"), 1, "(got 900)"),
        (("--plot", "x.jpeg"), 1, ".png"),
    ],
)
def test_mistakes_are_named(supple, test_file, options, status, words):
    said = supple("modal", test_file, *options)
    assert said.status == status
    assert words in said.err


def test_a_channel_of_noise_alone_is_named_and_not_counted(supple, test_file, tmp_path):
    read = package.load_responses(test_file)
    noise = np.random.default_rng(0).normal(size=(len(read.H), 2, 1, 2)) @ np.array([1.0, 1j])
    both = np.concatenate([read.H, 1e-5 * np.abs(read.H).mean() * noise], axis=1)
    channels = (*read.responses, package.Channel("d", "x"), package.Channel("d", "y"))
    read.copy_with(responses=channels, H=both).save(tmp_path / "noisy.uff")
    said = supple("modal", tmp_path / "noisy.uff", "--band", "8Hz:55Hz")
    assert "mostly noise: d.x, d.y" in said.out
    assert "0.00% of the responses' power is unexplained; the worst fit is" in said.out


@pytest.mark.parametrize("command", ["modal", "check-measurement"])
def test_a_folder_that_is_missing_is_told_before_the_work(supple, command, tmp_path):
    said = supple(command, tmp_path / "never-read.uff", "-o", tmp_path / "none" / "x.csv")
    assert said.status == 1
    assert "none does not exist; create it first" in said.err
    assert "is a folder; name a file in it" in supple(command, tmp_path / "never-read.uff", "-o", tmp_path).err


@pytest.mark.parametrize("suffix", [".uff", ".npz", ".mat", ".csv"])
def test_a_test_that_is_not_there(supple, suffix, tmp_path):
    for words in (["modal", tmp_path / f"no{suffix}"], ["check-measurement", tmp_path / f"no{suffix}"],
                  ["identify", "pendulum", "--measured", tmp_path / f"no{suffix}", "--parameters", "x"]):  # fmt: skip
        said = supple(*words)
        assert (said.status, "the file does not exist; check the name" in said.err) == (1, True), said.err
