"""Names that mean something to the tools, folders with other files in them, disks that are full, exports at once."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from running_targets import imported
from scipy.io import loadmat

import supple
from supple.export.export import TARGETS, export

# The command, with files that end on a disk that is always full.
FULL = """
import pathlib
from supple.cli.main import run
write = pathlib.Path.write_bytes
pathlib.Path.write_bytes = lambda path, data: write(pathlib.Path("/dev/full"), data)
run()
"""
OURS = ("c", "fmu", "casadi", "control", "lpv", "matlab", "numpy", "json")


@pytest.fixture
def small(machines):
    return machines["four-bar-redundant"]


@pytest.fixture
def hostile(reference):
    names = {"coordinates": ['*/ int x; /* "', "tool.x\n#error <&", "tool x"], "inputs": ["int", "??/\n*/"],
             "outputs": ["\x01é\u202e*/]]>", "tool.x", "tool_x"]}  # fmt: skip
    made = reference.invented(4, 2, 1, (1, 1), (2,), structured=True, names=names)
    return supple.ReducedModel('*/ \n#error "no" ??/ \\ é {x} \x02 \'\'\' """ %', made.layout, made.fitted)


def test_hostile_names_are_names_in_python(hostile, tmp_path):
    (file,) = export(hostile, tmp_path, to="numpy", prefix="made")
    model = imported(file).MODEL
    assert model.name == hostile.name
    assert model.coordinate_names == hostile.layout.coordinates
    data, _ = export(hostile, tmp_path, to="json", prefix="made")
    assert json.loads(data.read_text("utf-8"))["outputs"] == list(hostile.layout.outputs)
    export(hostile, tmp_path, to="control", prefix="made")
    program = "from made_control import SYSTEM; print(SYSTEM.nstates, SYSTEM.ninputs, SYSTEM.noutputs)"
    said = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["6", "2", "3"]


def test_hostile_names_are_names_in_casadi_and_octave(hostile, tmp_path):
    found = imported(export(hostile, tmp_path, to="casadi", prefix="made")[0]).FUNCTIONS
    theta = np.mean(hostile.fitted.arrays.roots_f[0], axis=0)
    x = np.concatenate([theta, np.zeros(4)])
    inside = hostile.forward(theta, inputs=[1.0, 2.0])
    np.testing.assert_allclose(found["dynamics"](x, [1.0, 2.0]).full().ravel()[3:], inside, rtol=1e-11)
    export(hostile, tmp_path / "m", to="matlab", prefix="made")
    assert loadmat(tmp_path / "m" / "made_data.mat")["coordinates"][0, 0][0] == '*/ int x; /* "'
    if shutil.which("octave-cli") is None:
        pytest.skip("Octave is not installed: apt-get install octave")
    (tmp_path / "m" / "run.m").write_text("disp(numel(made('names').outputs))")
    said = subprocess.run(
        ["octave-cli", "--norc", "run.m"], cwd=tmp_path / "m", capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["3"]


@pytest.mark.parametrize("to", [name for name in OURS if name != "fmu"])
def test_files_of_others_stay(small, to, tmp_path):
    """And ours are written again, with the same bytes."""
    files = export(small, tmp_path, to=to, prefix="made")
    before = {file.name: file.read_bytes() for file in files}
    export(small, tmp_path, to=to, prefix="made")
    assert {file.name: file.read_bytes() for file in files} == before
    for file in files:
        if file.suffix in (".npz",):
            continue  # no place for a mark
        file.write_bytes(b"mine")
        with pytest.raises(supple.InputError, match=f"{file.name} is there already"):
            export(small, tmp_path, to=to, prefix="made")
        assert file.read_bytes() == b"mine"
        file.write_bytes(before[file.name])


def test_every_target_is_known_here():
    assert {item.name for item in TARGETS.values()} >= set(OURS)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here, a disk that is always full")
def test_a_full_disk_is_told_by_the_command(small, tmp_path):
    """A file that cannot be written, as the system itself says it."""
    rom = small.save(tmp_path / "small.rom")
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "full.py").write_text(FULL)
    command = [sys.executable, str(tmp_path / "full.py"), "export", str(rom), "--to", "json", "-o", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "No space left on device; nothing was changed" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert not list(folder.iterdir())


def test_two_processes_at_once_leave_one_set(machines, tmp_path):
    roms = [machines[name] for name in ("four-bar-redundant", "orthoglide")]

    def write(rom):
        for _ in range(10):
            export(rom, tmp_path, to="json", prefix="made")

    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=write, args=(rom,)) for rom in roms]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0, 0]
    assert {file.name for file in tmp_path.iterdir()} == {"made.json", "supple-model.schema.json"}
    assert json.loads((tmp_path / "made.json").read_text("utf-8"))["name"] in {rom.name for rom in roms}
