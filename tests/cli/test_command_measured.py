"""`supple virtual-test` and `supple check-measurement`: from a mechanism to a file, and what a file holds."""

import numpy as np
import pytest

from supple.formats.measurements.load_responses import load_records, load_responses

MASSES = """
supple: 1
name: masses
plane: xz
points: {A: [0, 0], B: [0, 1], C: [0, 2]}
bodies:
  lower: {mass: 2, center: B, inertia: 1, at: B}
  upper: {mass: 1, center: C, inertia: 1, at: C}
joints:
  first: {prismatic: [ground, lower], at: B, axis: z, drive: {stiffness: 4e4, damping: 60}}
  second: {prismatic: [lower, upper], at: C, axis: z, drive: {stiffness: 2e4, damping: 40}}
actuators: {first: {joint: first}, second: {joint: second}}
configurations: {low: {first: 0, second: 0}, high: {first: 0.3, second: 0.2}}
"""


@pytest.fixture
def machine(tmp_path):
    path = tmp_path / "masses.yaml"
    path.write_text(MASSES)
    return str(path)


@pytest.fixture
def struck(supple, machine, tmp_path):
    """A simulated test in a universal file."""

    def strike(*options, name="test.uff"):
        path = tmp_path / name
        said = supple("virtual-test", machine, "--at", "low", "--hammer", "upper.z", "--sensors", "lower.z,upper.z",
                      "--sampling", "256Hz", "--noise", "1%", "--seed", "3", "-o", str(path), *options)  # fmt: skip
        assert said.status == 0, said.err
        return path, said

    return strike


def test_a_virtual_test_is_told_and_written(struck, tmp_path):
    path, said = struck("--bits", "16", "--plot", str(tmp_path / "test.png"))
    assert "3 records of 1024 samples at 256 Hz" in said.out
    assert "simulated test" in said.out
    assert (tmp_path / "test.png").stat().st_size > 10_000
    found, records = load_responses(path), load_records(path)
    assert (found.at, found.averages, records.count) == ("low", 3, 3)
    assert [one.name for one in found.responses] == ["lower.z", "upper.z"]


def test_its_json_has_every_line(struck):
    path, said = struck("--json", "--binary")
    data = said.object
    assert np.shape(data["real"]) == (512, 2, 1)
    assert data["pairs"] == ["lower.z/upper.z", "upper.z/upper.z"]
    assert max(data["error"]) < 0.05
    read = load_responses(path).H
    np.testing.assert_array_equal(read.real, data["real"])  # a binary file keeps every digit


def test_what_a_file_holds_is_told(supple, struck, machine):
    path, _ = struck()
    said = supple("check-measurement", str(path))
    assert said.status == 0, said.err
    assert "accelerance, 512 lines from 0 to 127.75 Hz, 0.25 Hz apart; H1 of 3 records" in said.out
    assert "no errors found; use --mechanism" in said.out
    said = supple("check-measurement", str(path), "--mechanism", machine, "--json")
    data = said.object
    assert data["suspicions"] == []
    assert [point["place"] for point in data["points"]] == ["lower", "upper"]
    assert data["responses"][1]["position"] == [0.0, 0.0, 2.0]


def test_wrong_units_are_told_with_what_to_do(supple, struck, machine):
    path, _ = struck()
    said = supple("check-measurement", str(path), "--mechanism", machine, "--unit", "reference *=kN")
    assert "error: reference upper.z: all responses are 0.001 times the model's" in said.out
    assert "--unit" in said.out


def test_another_posture_is_told(supple, struck, machine):
    path, _ = struck()
    said = supple("check-measurement", str(path), "--mechanism", machine, "--at", "high")
    assert said.status == 1
    assert '"low", not "high"' in said.err


def test_records_alone_are_estimated(supple, struck, tmp_path):
    path, _ = struck()
    alone = load_records(path).save(tmp_path / "records.npz")
    said = supple("check-measurement", str(alone), "--exponential", "1%", "-o", str(tmp_path / "out.npz"))
    assert said.status == 0, said.err
    assert "time records only" in said.err
    assert "exponential window of 1.151 1/s" in said.out
    assert load_responses(tmp_path / "out.npz").window_rate == pytest.approx(np.log(100.0) / 4.0)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "x.uff: the file is empty"),
        (b"no universal file\n" * 9, "no data set"),
        (None, "x.uff: the file does not exist; check the name"),
    ],
)
def test_files_that_are_none_are_told(supple, tmp_path, content, what):
    path = tmp_path / "x.uff"
    if content is not None:
        path.write_bytes(content)
    said = supple("check-measurement", str(path))
    assert said.status == 1
    assert what in said.err
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--hammer", "upper", "--sensors", "upper.z"], "no direction"),
        (["--hammer", "upper.z", "--sensors", "upper[0.5].z"], "no beams"),
        (["--hammer", "upper.z", "--sensors", "upper.z", "--shaker", "quake"], '"quake"'),
        (["--hammer", "upper.z", "--sensors", "upper.z", "--estimator", "H3"], '"H3"'),
        (["--hammer", "upper.z", "--sensors", "upper.z", "--exponential", "0"], "(got 0)"),
    ],
)
def test_what_cannot_be_struck_is_told(supple, machine, options, what):
    said = supple("virtual-test", machine, "--sampling", "256", *options)
    assert said.status == 1
    assert what in said.err


def test_nothing_is_fitted_to_responses_that_are_wrong(supple, struck, machine, tmp_path):
    """Sound ones find the stiffness; in millimetres, or reversed, they are refused with the channel, unless trusted."""
    from supple.formats.measurements.load_responses import in_units

    path, _ = struck()
    test = load_responses(path)
    soft = tmp_path / "soft.yaml"
    parameters = "parameters: {k: 1.6e4}\n"
    soft.write_text(
        MASSES.replace("name: masses\n", f"name: masses\n{parameters}").replace("stiffness: 2e4", "stiffness: k")
    )
    options = ("--parameters", "k", "--band", "2:60", "--starts", "1", "--prior", "0.5")

    def fitted(file, *more):
        return supple("identify", str(soft), "--measured", f"{file}@low", *options, *more)

    said = fitted(path, "--json")
    assert said.status == 0, said.err
    wrong = in_units(test, {"*": "mm/s^2"}).save(tmp_path / "units.npz")
    assert fitted(wrong).status == 1
    assert "times the model's; this is the factor of m read as mm" in fitted(wrong).err
    turned = test.reverse_channels("lower.z").save(tmp_path / "turned.npz")
    assert "channel lower.z: the sign is opposite" in fitted(turned).err
    assert fitted(turned).status == 1
    assert "warning: low: lower.z: the sign is opposite" in fitted(turned, "--trust").err
