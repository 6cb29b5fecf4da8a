"""Two machines walked from their mechanism file to C on the command line, every command after the other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

sys.path.insert(0, str(Path(__file__).parent))
from walked_machines import FIVE_BAR, delta

# Text, region, and where to look within it.
MACHINES = {
    "five-bar": (FIVE_BAR, "left=118deg:122deg,right=58deg:62deg", "left=121deg,right=59deg"),
    "delta": (delta(), "q0=-0.03:0.03,q1=-0.03:0.03,q2=-0.03:0.03", "q0=0.02,q1=-0.01,q2=0.01"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_from_check_to_c(supple, folder, name):
    text, region, at = MACHINES[name]
    file, rom = folder / "machine.yaml", folder / "machine.rom"
    file.write_text(text)

    def done(*arguments: object) -> dict:
        said = supple(*arguments, "--json")
        assert said.status == 0, f"supple {' '.join(map(str, arguments))}: {said.err}"
        return said.object

    understood = done("check", file)
    drives = {key for key, ways in understood["elastic_joints"].items() if ways == ["drive"]}
    assert len(drives) == len(understood["coordinates"]) == understood["mobility"]
    closed = done("assemble", file, "--at", "home")
    assert closed["singularity"] > 0.005
    assert list(closed["coordinates"]) == understood["coordinates"]

    # Modes of the local model are those without loads, so that these are the same frequencies.
    modes = done("modes", file, "--at", at, "--count", 2, "--no-preload")
    hertz = np.array(modes["frequencies_hz"])
    assert all("joint" in words for words in modes["descriptions"])  # the gearboxes yield most
    lines = ("--from", 5, "--to", 2 * hertz[0], "--lines", 40)
    asked = ("--at", at, "--input", "tool.x", "--output", "tool.x", *lines)
    full = done("frf", file, *asked)

    unloaded = done("local", file, "--at", at, "--internal-modes", 2, "--no-preload")
    assert_allclose(unloaded["internal_hz"], hertz, rtol=1e-6)
    model = done("local", file, "--at", at, "--internal-modes", 2)
    s = len(understood["coordinates"])
    assert not np.array(model["input_map"])[s:].round(9).any()  # actuators are at the motors' side
    eigenvalues = np.array(done("linearize", file, "--at", at, "--internal-modes", 2)["eigenvalues"])
    vibrating = eigenvalues[eigenvalues[:, 1] > 2 * np.pi * 5]
    assert (vibrating[:, 0] < 0).all()
    assert len(vibrating) == 2
    run = done("simulate", file, "--motion", "reach", "--rigid")
    assert set(run["rigid"]) >= drives

    reduced = done("reduce", file, "--region", region, "--internal-modes", 2, "--tolerance", 1e-3, "-o", rom)
    assert max(reduced["error"].values()) <= 1e-3
    found = done("evaluate", rom, "--at", at)
    # The reduced model's modes are turned to those of its germ: what does not hang on that is compared.
    for quantity in (frequencies, ratios):
        assert_allclose(quantity(found, s), quantity(model, s), rtol=2e-3)  # the tolerance, of ω² and of D
    own = done("frf", rom, *asked)
    one, two = (np.array(item["real"]) + 1j * np.array(item["imag"]) for item in (own, full))
    # At 1 % damping an error of ω of 1e-3/2 is 5 % of a peak; what the modes left out add is static.
    assert np.abs(one - two).max() < 0.06 * np.abs(two).max()
    assert done("simulate", rom, "--start", "home", "--until", 0.02)["time"][-1] == pytest.approx(0.02)
    compared = done("compare", file, rom, "--points", 20)
    assert max(compared["coefficients"].values()) <= 1e-3

    written = done("export", rom, "--to", "c", "-o", folder / "c")
    sources = [path for path in (folder / "c").iterdir() if path.suffix == ".c" and not path.stem.endswith("_test")]
    assert sources
    assert written
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: the exported source was written, not compiled")
    program = folder / "example"
    subprocess.run([compiler, "-O1", "-std=c99", *map(str, sources), "-o", str(program), "-lm"], check=True)
    assert subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def _deformation(model: dict, s: int) -> tuple[np.ndarray, ...]:
    return tuple(np.array(model[name])[s:, s:] for name in ("M", "K", "damping"))


def frequencies(model: dict, s: int) -> np.ndarray:
    M, K, _ = _deformation(model, s)
    return np.sort(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, K)).real))


def ratios(model: dict, s: int) -> np.ndarray:
    M, K, D = _deformation(model, s)
    squares, shapes = np.linalg.eig(np.linalg.solve(M, K))
    masses = np.diag(shapes.T @ M @ shapes)
    found = np.diag(shapes.T @ D @ shapes) / (2.0 * np.sqrt(squares) * masses)
    return found[np.argsort(squares)]
