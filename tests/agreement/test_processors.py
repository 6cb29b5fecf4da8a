"""The same laws hold whatever kernels the linear algebra runs on: OpenBLAS's for four generations of processors.

They differ in the order of sums, hence in last bits. What hangs on these passes on the machine it was written on alone.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORES = {"Nehalem": "sse4_2", "Sandybridge": "avx", "Haswell": "avx2", "SkylakeX": "avx512f"}
"""OpenBLAS's names, and what a processor must have to run their kernels, as Linux names it."""

SELECTION = (
    "tests/laws/test_elastic_laws.py::test_modes_of_the_batched_way_are_those_of_the_dense_one[spatial 3-False]",
    "tests/laws/test_elastic_laws.py::test_frequencies_do_not_depend_on_the_order_of_the_lists[spatial 3]",
    "tests/laws/test_elastic_laws.py::test_modes_are_those_of_all_nodes_assembled_without_condensation[loop 1]",
    "tests/laws/test_elastic_laws.py::test_frequencies_do_not_depend_on_the_frame_of_the_file[loop 3]",
    "tests/reduction/test_flexible_reduction.py::test_stated_errors_hold_for_ralf",
)


def abilities():
    about = Path("/proc/cpuinfo")
    flags = [line for line in about.read_text().splitlines() if line.startswith("flags")] if about.exists() else []
    return set(flags[0].split()) if flags else set()


@pytest.mark.slow
@pytest.mark.parametrize("core", CORES)
def test_laws_hold_on_the_kernels_of_other_processors(core):
    if CORES[core] not in abilities():
        pytest.skip(f"this processor has no {CORES[core]}, which kernels for {core} need")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *SELECTION],
        cwd=ROOT,
        env=os.environ | {"OPENBLAS_CORETYPE": core, "OPENBLAS_NUM_THREADS": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    assert f"{len(SELECTION)} passed" in run.stdout
