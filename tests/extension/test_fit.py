"""A fit from one file: cubic polynomials by least squares on scattered points."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

FOUR_BAR = str(Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml")
CUBIC = """
import numpy as np
from scipy.stats import qmc

import supple
from supple.approximation.fits.chebyshev_products import total_degree


def twice_as_many_points(dimension, degree):
    count = 2 * len(total_degree(dimension, degree))
    return np.cos(np.pi * qmc.Halton(dimension, scramble=False).random(count + 1)[1:])


CUBIC = supple.Fit(
    name="cubic",
    description="total degree 3, least squares on Halton points",
    design=twice_as_many_points,
    indices=total_degree,
    degree=3,
    degrees=range(3, 4),
    structured=True,
)
"""

USED = """
import json, pathlib
import numpy as np
import supple

machine = supple.load("FILE")
region = {name: (-0.5, 0.5) for name in supple.assemble(machine).coordinates}
grid = supple.reduce(machine, region=region, fit="cubic", boxes=4, progress=False)
tree = supple.reduce(machine, region=region, fit="cubic", tolerance=1e-2, progress=False)
theta = np.linspace(-0.45, 0.45, 7)[:, None]
again = supple.load(str(tree.save(pathlib.Path("tree.rom"))))
exact, found = supple.local(machine, theta), again.evaluate(theta)
print(json.dumps({
    "samples": grid.provenance["samples"],
    "grid": max(grid.error.values()),
    "tree": max(tree.error.values()),
    "off": float(np.abs(found.M - exact.M).max() / np.abs(exact.M).max()),
    "same": bool((found.M == tree.evaluate(theta).M).all()),
    "fit": again.provenance["options"]["fit"],
    "degree": int(grid.fitted.arrays.indices.sum(axis=1).max()),
}))
"""


@pytest.fixture
def cubic(installed):
    return installed(CUBIC, "CUBIC")


def test_a_fit_reduces_evaluates_and_is_saved(cubic):
    found = cubic.python(USED.replace("FILE", FOUR_BAR))
    assert found["fit"] == "cubic"
    assert found["degree"] == 3
    assert found["samples"] == 4 * 8  # its points are inside the boxes: neighbours share none
    assert found["grid"] < 0.1  # Γ is the slope of a cubic
    assert found["tree"] <= 1e-2
    assert found["off"] <= 1e-2
    assert found["same"]


@pytest.mark.slow
def test_a_fit_is_named_on_the_command_line(cubic):
    asked = ("reduce", FOUR_BAR, "--region", "crank=-0.5:0.5", "--fit", "cubic")
    expected = cubic.supple(*asked, "--boxes", "4", "--dry-run")
    made = cubic.supple(*asked, "--boxes", "4", "--no-store", "-o", "x.rom")
    assert expected["samples"] == made["samples"] == 32
    assert "cubic: total degree 3, least squares on Halton points" in " ".join(
        cubic.run("-m", "supple", "reduce", "--help").stdout.replace("│", " ").replace("|", " ").split()
    )
    assert "degree 3" in cubic.supple(*asked, "--degree", "5", status=1)
    files = cubic.supple("export", "x.rom", "-o", "c")["files"]
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    code = [file for file in files if file.endswith(".c") and not file.endswith("_test.c")]  # a program each
    build = [compiler, "-std=c99", "-Wall", "-Werror", "-O1", *code, "-lm", "-o", "example"]
    subprocess.run(build, cwd=cubic.folder, check=True)
    subprocess.run([cubic.folder / "example"], check=True, stdout=subprocess.DEVNULL)
