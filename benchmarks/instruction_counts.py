"""Instructions of three fixed workloads, counted by callgrind and compared with the recorded counts.

    python benchmarks/instruction_counts.py [--update]

Unlike seconds, instruction counts do not depend on what else the machine does. Only the repetitions of a workload are
counted: importing, loading kernels and a first call of each come before. Kernels are compiled for one processor with
AVX2, since valgrind 3.19 does not know AVX-512; the first run compiles them, later ones find them in the cache.

The counts stand in `instruction_counts.json`, one record for each combination of Python, numba, numpy and scipy
(minor versions). `--update` writes the record of this combination again.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
RECORDED = Path(__file__).with_suffix(".json")
LARGEST_GROWTH = 0.05  # of a count over the recorded one
REPETITIONS = 20
FIXED = {  # one processor, one library of kernels and one order of hashes, wherever this runs
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+bmi,+bmi2,+fma",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "SUPPLE_KERNELS": "compiled",
}
# Requests to callgrind: instructions that have no effect outside of valgrind.
REQUESTS = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_ZERO_STATS; CALLGRIND_START_INSTRUMENTATION; }
void stop(const char *name) { CALLGRIND_STOP_INSTRUMENTATION; CALLGRIND_DUMP_STATS_AT(name); }
"""


def modes() -> Callable[[], object]:
    """Six modes of the flexible four-bar at one configuration."""
    import supple

    machine = supple.load(EXAMPLES / "flexible-four-bar" / "mechanism.yaml")
    here = supple.assemble(machine)
    return lambda: supple.modes(machine, here, count=6)


def local() -> Callable[[], object]:
    """The local model of the Orthoglide at one point."""
    import supple

    machine = supple.load(EXAMPLES / "orthoglide" / "mechanism.yaml")
    return lambda: supple.local(machine, [-0.1, -0.05, 0.02])


def steps() -> Callable[[], object]:
    """A hundred steps of the redundantly constrained four-bar in time."""
    import supple

    machine = supple.load(EXAMPLES / "four-bar-redundant" / "mechanism.yaml")
    here = supple.assemble(machine)
    return lambda: supple.simulate(machine, until=0.1, step=1e-3, start=here, output_step=0.1)


WORKLOADS = {"modes": modes, "local": local, "steps": steps}


def missing() -> str:
    """The programs that counting needs and that were not found."""
    wanted = {"valgrind": shutil.which("valgrind"), "cc": shutil.which("cc")}
    return ", ".join(name for name, found in wanted.items() if not found)


def versions() -> str:
    """What counts are recorded for: minor versions of Python, numba, numpy and scipy (for its BLAS)."""
    found = {"python": "{}.{}".format(*sys.version_info)} | {
        name: version(name) for name in ("numba", "numpy", "scipy")
    }
    return ", ".join(f"{name} {'.'.join(text.split('.')[:2])}" for name, text in found.items())


def recorded() -> dict[str, dict[str, int]]:
    """Counts of every workload, by the versions they were counted with."""
    return json.loads(RECORDED.read_text("utf-8"))


def counts() -> dict[str, int]:
    """Instructions of each workload, for one repetition."""
    environment = {**os.environ, **FIXED}
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "requests.so")
        subprocess.run(["cc", "-x", "c", "-shared", "-fPIC", "-O1", "-o", str(library), "-"], input=REQUESTS, text=True,
                       check=True)  # fmt: skip
        command = [sys.executable, __file__, "--run", str(library)]
        subprocess.run(command, check=True, env=environment)  # what the cache does not have is compiled at full speed
        callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/counts"]
        done = subprocess.run([*callgrind, *command], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        found = {}
        for file in Path(folder).glob("counts.*"):
            text = file.read_text("utf-8")
            name = re.search(r"^desc: Trigger: Client Request: (\w+)$", text, re.MULTILINE)
            total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
            if name and total:
                found[name[1]] = int(total[1]) // REPETITIONS
        return {name: found[name] for name in WORKLOADS}


def run(library: str) -> None:
    """Run every workload between requests to callgrind."""
    requests = ctypes.CDLL(library)
    for name, prepare in WORKLOADS.items():
        work = prepare()
        work()
        work()
        gc.collect()
        gc.disable()
        requests.start()
        for _ in range(REPETITIONS):
            work()
        requests.stop(name.encode())
        gc.enable()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="record the counts for the versions installed")
    parser.add_argument("--run", metavar="LIBRARY", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run)
        return
    if missing():
        print(f"not counted: {missing()} was not found")
        return
    found, before = counts(), recorded().get(versions(), {})
    print(f"instructions of one repetition ({versions()})")
    for name, count in found.items():
        if name in before:
            change = count / before[name] - 1.0
            verdict = "met" if change <= LARGEST_GROWTH else "MISSED"
            print(f"  {name:6} {count:12,}   {change:+7.2%} of the record   (at most {LARGEST_GROWTH:+.0%}: {verdict})")
        else:
            print(f"  {name:6} {count:12,}   no record for these versions")
    if given.update:
        RECORDED.write_text(json.dumps(recorded() | {versions(): found}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
