"""Processor time of the first use of commands on a fresh machine: `python benchmarks/first_use.py [WHEEL]`.

It installs a wheel into a new virtual environment, without a C compiler in PATH and with an empty kernel cache, and
runs each job twice. It then runs the first use again with kernels compiled on this machine, as from a clone, unless
`--quick` is given. Without a wheel it takes the newest one in dist/ (`make wheel` makes one).
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = 1.0  # s of processor time that a first use may take more than the second
LOOP = """
import supple
from supple import control
arm = supple.load("ralf")
motion = supple.trajectory(arm, "reach")
model = supple.reduce(arm, boxes=1, fit="quadratic", store=False, rigid=True)
law = control.joint_servo(model, motion, sample_time=0.002)
control.closed_loop(arm, law, until=0.02, sample_time=0.002, rigid=True)
"""
JOBS: dict[str, list[str]] = {
    "check": ["check", "ralf"],
    "modes": ["modes", "ralf", "--at", "home", "--count", "4"],
    "simulate, rigid": ["simulate", "ralf", "--start", "home", "--until", "0.2s", "--rigid"],
    "simulate, flexible": ["simulate", "ralf", "--start", "home", "--until", "0.05s"],
    "reduce, rigid": ["reduce", "orthoglide", "--tolerance", "1e-2", "-o", "rigid.rom"],
    "reduce, flexible": ["reduce", "ralf", "--internal-modes", "1", "--boxes", "1", "-o", "ralf.rom"],
    "compare --scenario": ["compare", "ralf", "ralf.rom", "--scenario", "reach"],
    "linearize": ["linearize", "ralf", "--at", "home"],
    "frf": ["frf", "ralf", "--at", "home", "--input", "lift.acceleration", "--output", "tip.z", "--to", "12"],
    "export": ["export", "ralf.rom", "--to", "c", "-o", "code"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("wheel", nargs="?", type=Path, help="Wheel to install. Default: the newest in dist/.")
    parser.add_argument("--quick", action="store_true", help="Do not compile the kernels here for comparison.")
    asked = parser.parse_args()
    wheels = sorted((ROOT / "dist").glob("supple-*.whl"), key=lambda file: file.stat().st_mtime)
    wheel = asked.wheel or (wheels[-1] if wheels else None)
    if wheel is None:
        sys.exit("no wheel in dist/: run `make wheel`")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", home / "env"], check=True)
        pip = [home / "env/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, wheel], check=True)
        print(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB; processor seconds, kernel cache empty at the start")
        print(f"{'':<22} {'first':>8} {'second':>8} {'more':>8}   {'compiled here':>14}")
        slow = []
        carried, here = Runs(home, "carried", ""), Runs(home, "here", "native")
        jobs = {name: ["-m", "supple", *command] for name, command in JOBS.items()}
        jobs["closed_loop (Python)"] = ["-W", "ignore", "-c", LOOP]
        for name, arguments in jobs.items():
            first, second = carried.run(arguments), carried.run(arguments)
            compiled = "" if asked.quick else f"{here.run(arguments):14.2f}"
            print(f"{name:<22} {first:8.2f} {second:8.2f} {first - second:8.2f}   {compiled}", flush=True)
            if first > second + MOST:
                slow.append(name)
        left = list((carried.folder / "cache").glob("*/*.code"))
        print(f"kernels compiled with the wheel's code at hand: {len(left)}", *(file.parent.name for file in left))
    if slow or left:
        sys.exit(f"slower than the second use plus {MOST:g} s: {', '.join(slow) or 'none'}; compiled: {len(left)}")


class Runs:
    """Jobs in one folder with one kernel cache, without a C compiler."""

    def __init__(self, home: Path, name: str, level: str):
        self.folder, self.bin = home / name, home / "env/bin"
        self.folder.mkdir()
        self.environment = {
            "PATH": str(self.bin), "HOME": str(self.folder), "SUPPLE_CACHE_DIR": str(self.folder / "cache"),
            "SUPPLE_KERNEL_LEVEL": level, "SUPPLE_KERNELS": "compiled", "OPENBLAS_NUM_THREADS": "1", "LANG": "C.UTF-8",
        }  # fmt: skip
        assert shutil.which("gcc", path=self.environment["PATH"]) is None

    def run(self, arguments: list[str]) -> float:
        """Return the processor time of a Python process, s."""
        command = [str(self.bin / "python"), *arguments]
        for stale in self.folder.glob("*.samples*"):
            stale.unlink()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
