"""A textbook Delta with carbon tubes, walked from its file to C and to an FMU, its payload left open.

Every command is run as a user would run it: check, modes, reduce --vary, compare, export --to c (its example compiled
and run) and export --to fmu (validated and simulated by FMPy with another payload). Status 1 where a step fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import fmpy
import numpy as np
from fmpy.validation import validate_fmu

FILE = Path(__file__).parents[1] / "reduction" / "carbon-delta.yaml"
HZ = (22.52, 22.52, 45.95)  # of the platform, at home


def run(*arguments: object) -> dict:
    command = [sys.executable, "-m", "supple", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(f"supple {' '.join(map(str, arguments))}: status {done.returncode}", flush=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def walk(folder: Path, reach: float) -> None:
    rom = folder / "delta.rom"
    assert run("check", FILE)["mobility"] == 3
    np.testing.assert_allclose(run("modes", FILE, "--at", "home", "--count", 6)["frequencies_hz"][:3], HZ, rtol=1e-3)
    region = ",".join(f"motor{i}={-reach}:{reach}" for i in (1, 2, 3))
    run("reduce", FILE, "--internal-modes", "auto", "--modes-seen-at", "tool", "--vary", "payload=2.5kg:3.5kg",
        "--region", region, "--boxes", 1, "--fit", "chebyshev", "--degree", 2, "--no-store", "-o", rom)  # fmt: skip
    compared = run("compare", FILE, rom, "--set", "payload=2.8", "--points", 20)["coefficients"]
    assert max(error for name, error in compared.items() if name[0] in "MKΓpf") < 0.01, compared
    run("export", rom, "--to", "c", "-o", folder / "c")
    sources = [str(path) for path in (folder / "c").glob("*.c") if path.stem != "carbon_delta_test"]
    subprocess.run(["cc", "-O1", "-std=c99", *sources, "-o", str(folder / "c" / "example"), "-lm"], check=True)
    said = subprocess.run([str(folder / "c" / "example")], check=True, capture_output=True, text=True).stdout
    assert said.count("held by") == 6, said
    run("export", rom, "--to", "fmu", "-o", folder / "fmu")
    (fmu,) = (folder / "fmu").glob("*.fmu")
    assert not validate_fmu(str(fmu))
    moved = [
        fmpy.simulate_fmu(str(fmu), stop_time=0.02, start_values={"payload": mass})["tool.z"][-1] for mass in (2.5, 3.5)
    ]
    assert np.isfinite(moved).all(), moved
    assert moved[0] != moved[1], moved


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reach", type=float, default=0.03, help="Half width of the region, rad. Default: 0.03.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        walk(Path(name), given.reach)
    print("all well")
