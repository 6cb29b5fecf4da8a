"""Files of measurements that are not what they say: one message each, and no more memory than they have numbers."""

import json
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from typer.testing import CliRunner

import supple
from supple.cli.main import app
from supple.diagnostics import InputError
from supple.formats.measurements.matlab_file import read_matlab
from supple.identification.modal_parameters.maximum_likelihood import refine
from supple.identification.modal_parameters.modal_model import Band, Poles
from supple.identification.modal_parameters.selection import select

LINES = np.linspace(1.0, 60.0, 80)
GOOD = {
    "frequencies_hz": LINES,
    "H": (1.0 / (900.0 - LINES**2 + 3j * LINES))[:, None, None] * np.array([1.0, 0.5])[:, None],
    "response_points": np.array(["p0", "p1"]),
    "response_directions": np.array(["x", "x"]),
    "reference_points": np.array(["p0"]),
    "reference_directions": np.array(["x"]),
}


def told(path):
    """The one message of `supple modal`."""
    found = CliRunner().invoke(app, ["modal", str(path)])
    assert found.exit_code == 1, found.output
    (line,) = [line for line in found.stderr.splitlines() if line.strip()]
    return line


def saved(path, **changes):
    np.savez(path, **(GOOD | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"H": np.ones((80, 2, 1))}, "all 80 lines have the same value for p0.x, p1.x"),
        ({"H": GOOD["H"] * [[1.0], [0.0]] + [[0.0], [0.3]]}, "all 80 lines have the same value for p1.x"),
        ({"H": GOOD["H"] * 1e200}, "(allowed are "),
        ({"H": np.where(LINES[:, None, None] == LINES[7], np.nan, GOOD["H"])}, "are not finite"),
        ({"frequencies_hz": np.r_[LINES[:-1], np.inf]}, "lines from 1 to inf Hz"),
        ({"coherence": np.full((80, 2, 1), np.nan)}, "are not finite"),
        ({"response_directions": np.arange(3.0)}, "3 entries for 2 channels"),
        ({"about": np.array(json.dumps({"at": {"lift": None}}))}, 'gives null for at "lift"'),
        ({"about": np.array(json.dumps({"averages": "many"}))}, 'gives "many" for "averages"'),
        ({"about": np.array(json.dumps({"window_rate": -1.0}))}, 'gives -1.0 for "window_rate"'),
    ],
)
def test_odd_arrays_end_in_one_message(tmp_path, changes, message):
    assert message in told(saved(tmp_path / "odd.npz", **changes))


def test_universal_files_with_odd_nodes_and_a_short_matlab_file(tmp_path):
    test = supple.load_responses(saved(tmp_path / "good.npz"))
    placed = [one.copy_with(position=(0.1, 0.2, 0.3)) for one in test.responses]
    test.copy_with(responses=placed).save(tmp_path / "good.uff")
    text = (tmp_path / "good.uff").read_text()
    head, number, rest = text.partition("  2411 ")
    (tmp_path / "odd.uff").write_text(head + number + rest.replace("         1", "       inf", 1))
    assert "of type 2411: it cannot be read" in told(tmp_path / "odd.uff")
    (tmp_path / "odd.mat").write_bytes(b"MATLAB 5.0 MAT-")
    assert "not a Matlab file of version 5" in told(tmp_path / "odd.mat")


def _matlab(path, *, packed):
    savemat(path, {"H": np.arange(64.0).reshape(8, 8), "names": np.array(["a", "bc"], dtype=object)},
            do_compression=packed)  # fmt: skip
    return path.read_bytes()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [4, 32, 36, 52])  # of the array: bytes, rows, columns, bytes of its numbers
def test_a_matlab_head_that_lies_about_its_size_takes_no_memory(tmp_path, packed, place):
    content = _matlab(tmp_path / "good.mat", packed=packed)
    array = bytearray(zlib.decompress(content[136:])[:] if packed else content[128:])
    array[place : place + 4] = struct.pack("<I", 2**28)  # 2 GB of numbers
    if packed:
        body = zlib.compress(bytes(array))
        content = content[:128] + struct.pack("<II", 15, len(body)) + body
    else:
        content = content[:128] + bytes(array)
    (tmp_path / "lie.mat").write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"declares .*, but "):
            read_matlab(tmp_path / "lie.mat", None)
        assert tracemalloc.get_traced_memory()[1] < 2e7
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packed", [False, True])
def test_matlab_files_are_read_as_scipy_reads_them(tmp_path, packed):
    path = tmp_path / "all.mat"
    given = {
        "real": np.random.default_rng(0).normal(size=(3, 4, 2)), "turned": np.array([[1 + 2j, 3j]]),
        "small": np.array([1, 2, 3], np.int8), "none": np.zeros((0, 3)), "texts": np.array(["tip", "θ"]),
        "cells": np.array(["a", "longer"], dtype=object), "record": {"inside": 1.0},
    }  # fmt: skip
    savemat(path, given, do_compression=packed)
    found, wanted = read_matlab(path, None), loadmat(path)
    assert set(found) == set(given) - {"record"}
    for name, values in found.items():
        assert np.array_equal(values, wanted[name]) or values.dtype == object
    assert set(read_matlab(path, ["real"])) == {"real"}


@pytest.mark.slow
def test_a_table_of_many_columns_is_read_or_refused_without_comparing_all_with_all(tmp_path):
    """Each column once: 20,000 pairs of 20,000 channels would be 4e8 comparisons."""
    path, count = tmp_path / "wide.csv", 20_000
    row = ",".join(["1", *(["0.5"] * 2 * count)])
    heads = [f"{part} p{i}.z/h{i}.z" for i in range(count) for part in ("real", "imag")]
    path.write_text(",".join(["frequency_hz", *heads]) + f"\n{row}\n{row.replace('1', '2', 1)}\n")
    with pytest.raises(InputError, match=r"p0.z to h1.z, p0.z to h2.z, p0.z to h3.z and 399979997 others are missing"):
        supple.load_responses(path)
    path.write_text(path.read_text().replace(heads[0], "column", 1))
    with pytest.raises(InputError, match='unknown column "column"'):
        supple.load_responses(path)
    one = [f"{part} p{i}.z/h.z" for i in range(count) for part in ("real", "imag")]
    path.write_text(",".join(["frequency_hz", *one]) + f"\n{row}\n{row.replace('1', '2', 1)}\n")
    found = supple.load_responses(path)
    assert found.H.shape == (2, count, 1)
    assert len(found.notes) == 1


def test_responses_in_which_no_mode_stands_out_say_so():
    """Every pole may turn out to explain nothing: what is left are the residual terms."""
    hertz, random = np.linspace(5.0, 50.0, 60), np.random.default_rng(4)
    noise = random.normal(size=(60, 3, 1)) + 1j * random.normal(size=(60, 3, 1))
    band = Band(2.0 * np.pi * hertz, noise, np.full(noise.shape, 2.0))
    none = Poles(np.zeros(0, complex), np.zeros((0, 1), complex))
    refined = refine(band, none)
    assert refined.covariance.shape == (0, 0)
    some = Poles(np.array([-1.0 + 100j]), np.ones((1, 1), complex))
    found = select(band, some, lambda left, fitted, lost: band.variance, largest_damping=0.2)
    assert len(found.refined.at.poles) == 0
    channels = [supple.Channel("p", axis) for axis in "xyz"]
    test = supple.Responses(hertz, channels, [supple.Channel("p", "x", "force")], noise)
    with pytest.raises(supple.NumericalError, match=r"no pole is stable|stands out of the noise"):
        supple.modal_parameters(test)


def test_modes_that_explain_nothing_are_refused(tmp_path):
    """About the resonance the responses are next to nothing, at a coherence that leaves these lines out of the fit: the
    mode that fits the others has more power there than all responses."""
    near = np.abs(LINES - 30.0) < 3.0
    H, coherence = GOOD["H"].copy(), np.full(GOOD["H"].shape, 0.9999)
    H *= ((900.0 - LINES**2 + 3j * LINES) / (900.0 - LINES**2 + 0.6j * LINES))[:, None, None]
    H[near] *= 1e-3
    coherence[near] = 1e-4
    path = tmp_path / "nothing.npz"
    np.savez(path, **(GOOD | {"H": H, "coherence": coherence}))
    assert "the modes do not explain the responses" in told(path)
