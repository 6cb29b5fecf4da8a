"""What every result can do: told in a line, saved and read back, handed to pandas."""

import csv

import numpy as np
import pytest
from every_result import RESULTS, arm, five_bar, linear, model, result, run
from numpy.testing import assert_array_equal
from scipy.io import loadmat

import supple
from supple.results.file import matlab_name
from supple.results.result import Result
from supple.results.signals import Signals
from supple.results.table import Table


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_told_in_a_line(name):
    found = result(name)
    assert isinstance(found, Result)
    assert type(found).__name__ == name.partition(" ")[0]
    assert len(repr(found)) < 300
    assert "\n" not in repr(found)
    assert repr(found).startswith(f"<{type(found).__name__} ")


@pytest.mark.parametrize("name", RESULTS)
def test_print_gives_the_text_of_the_terminal(name, capsys):
    found = result(name)
    found.text().print()
    assert capsys.readouterr().out == f"{found}\n"


def test_the_text_of_modes_tells_whether_coordinates_are_held():
    assert "five-bar at A=" in str(result("ModeSet"))
    assert "actuators locked" in str(result("ModeSet"))
    assert "actuators free" in str(supple.modes(five_bar(), "home", count=1, free_actuators=True))


def test_a_table_in_a_text_has_titles_and_units():
    lines = str(result("Deflection")).splitlines()
    assert lines[2].split() == ["place", "displacement"]
    assert next(line for line in lines if line.startswith("tool.z")).endswith(" m")


@pytest.mark.parametrize(
    "make",
    [
        lambda: run().reaction(next(iter(arm().joints))),
        lambda: run().motion,
        lambda: run().frame(next(iter(arm().bodies))),
        lambda: run().frame_motion(next(iter(arm().bodies))),
        lambda: run().configuration,
        lambda: result("ModeSet").energy,
        lambda: linear().modes(),
        lambda: linear().second_order,
        lambda: result("LocalModel").outputs["tool.x"],
        lambda: result("Coefficients").outputs["tool.x"],
        model,
    ],
)
def test_so_is_what_a_result_is_made_of(make):
    assert len(repr(make())) < 300


@pytest.mark.parametrize("name", RESULTS)
def test_csv_reads_back_to_the_last_digit(name, tmp_path):
    found = result(name)
    with found.save(tmp_path / "result.csv").open(encoding="utf-8", newline="") as stream:
        names, *rows = csv.reader(stream)
    columns = found.table().real()
    assert names == list(columns)
    assert len(rows) == len(found.table())
    for read, (key, values) in zip(zip(*rows, strict=True), columns.items(), strict=True):
        if values.dtype.kind == "U":
            assert list(read) == values.tolist()
        elif values.dtype.kind == "f":
            assert_array_equal(np.array(read, dtype=float), values, key)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("name", RESULTS)
def test_npz_reads_back_without_pickle(name, tmp_path):
    found = result(name)
    with np.load(found.save(tmp_path / "result.npz"), allow_pickle=False) as read:
        assert set(read.files) == set(found.arrays())
        for key, values in found.arrays().items():
            assert_array_equal(read[key], values, key)


@pytest.mark.parametrize("name", RESULTS)
def test_mat_reads_back(name, tmp_path):
    found = result(name)
    read = loadmat(found.save(tmp_path / "result.mat"))
    taken = {}
    for key, values in found.arrays().items():
        plain = matlab_name(key, taken)
        taken[plain] = None
        assert plain.isidentifier()
        values = np.asarray(values)
        if values.dtype.kind == "U":
            assert [str(cell[0]) if len(cell) else "" for cell in read[plain].ravel()] == values.ravel().tolist()
        else:
            assert_array_equal(read[plain].ravel(), values.ravel(), key)


@pytest.mark.parametrize("name", RESULTS)
def test_pandas_has_the_same_numbers_and_the_units(name):
    table, frame = result(name).table(), result(name).to_pandas()
    assert frame.attrs["units"] == table.units
    assert set(frame.reset_index().columns if table.index else frame.columns) == set(table.columns)
    for key, values in table.columns.items():
        found = frame.index if key == table.index else frame[key]
        assert_array_equal(np.asarray(found), values, key)


def test_units_are_those_of_the_mechanism():
    found = result("Simulation").table().units
    first = next(iter(arm().actuators))
    assert (found["time"], found[f"{first}.input"], found[f"{first}.rate"]) == ("s", "N m", "rad/s")
    assert found["energy.total"] == "J"
    units = model().units
    assert units.coordinates == {"A": "rad", "E": "rad", "mode1": "√kg m", "mode2": "√kg m"}
    assert units.inputs == {"A": "N m", "E": "N m"}
    assert set(units.outputs.values()) == {"m"}
    assert result("FrequencyResponse of a model").unit("tool.x", "A") == "m/(N m)"
    assert result("Simulation along a motion").driving_forces.units["A"] == "N m"


def test_units_of_a_model_are_saved_with_it(tmp_path):
    assert supple.load(model().save(tmp_path / "arm.rom")).units == model().units


def test_an_inverse_drives_a_simulation_from_its_file(tmp_path):
    """What inverse dynamics writes is what `simulate` takes: one column an actuator, and time."""
    from supple.formats.time_table import read_time_table

    table = read_time_table(result("InverseDynamics").save(tmp_path / "forces.csv"), of="actuator")
    assert list(table.values) == list(five_bar().actuators)


def test_a_sweep_is_one_table(tmp_path):
    found = result("Sweep").table().columns
    assert found["crank"].tolist() == [0.4, 0.4, 0.5, 0.5]
    assert found["mode"].tolist() == [1, 2, 1, 2]
    each = [modes.frequencies_hz for _, modes in result("Sweep")]
    assert_array_equal(found["frequency_hz"], np.concatenate(each))


def test_names_that_files_cannot_have():
    taken = {}
    for name in ("tool.x", "tool_x", "2nd", "end", "for", "δ", "x" * 100):
        taken[matlab_name(name, taken)] = name
    assert list(taken) == ["tool_x", "tool_x_", "x2nd", "end_", "for_", "x_", "x" * 59]


def test_signals_may_be_called_anything(tmp_path):
    """Also what numpy.savez and a table call their own."""
    time = np.array([0.0, 1.0])
    odd = Signals(
        time, {name: time + i for i, name in enumerate(("file", "time", "units", "columns"), 1)}, {"file": "m"}
    )
    assert list(odd.table().columns) == ["time", "file", "time_", "units", "columns"]
    with np.load(odd.save(tmp_path / "odd.npz")) as read:
        assert_array_equal(read["time_"], time + 2)
        assert read["units_"].tolist() == ["s", "m"]


@pytest.mark.parametrize(
    ("file", "message"),
    [("run.xyz", "ends in none of"), ("run", "ends in none of"), ("no/run.csv", "cannot be written")],
)
def test_what_cannot_be_written_says_why(file, message, tmp_path):
    with pytest.raises(supple.InputError, match=message):
        run().save(tmp_path / file)
    assert not list(tmp_path.iterdir())


def test_coefficients_of_a_batch_are_arrays_not_a_table(tmp_path):
    batch = model().evaluate([[2.05, 1.1], [2.1, 1.1]])
    with pytest.raises(supple.InputError, match="npz"):
        batch.save(tmp_path / "batch.csv")
    with np.load(batch.save(tmp_path / "batch.npz")) as read:
        assert read["M"].shape == (2, 4, 4)


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(supple.InputError, match=r"supple\[pandas\]"):
        Table({"x": np.zeros(1)}).to_pandas()
