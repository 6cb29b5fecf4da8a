"""Short work runs interpreted while no native code is at hand, long work natively; both give the same numbers."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

COMMANDS = [
    "assemble flexible-four-bar --at crank=0.3",
    "local orthoglide --at x=-0.1,y=0.02,z=-0.2",
    "local ralf --at home --internal-modes 2",
    "modes flexible-four-bar --at crank=0.3 --count 4",
    "linearize two-link --at shoulder=0.1,elbow=0.2",
    "simulate four-bar --until 0.02s --step 1ms",
    "frf ralf --at home --input lift.acceleration --output tip.z --from 1Hz --to 20Hz --lines 5",
]


def supple(command: str, **environment: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", "supple", *command.split(), "--json"],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def numbers(answer: object) -> list[float]:
    if isinstance(answer, dict):
        return [x for key in sorted(answer) if key != "seconds" for x in numbers(answer[key])]
    if isinstance(answer, list):
        return [x for item in answer for x in numbers(item)]
    return [float(answer)] if isinstance(answer, int | float) else []


@pytest.mark.parametrize("command", COMMANDS)
def test_interpreted_and_native_kernels_agree(command):
    plain = numbers(supple(command, SUPPLE_KERNELS="interpreted"))
    native = numbers(supple(command, SUPPLE_KERNELS="compiled"))
    assert plain
    # The same operations in the same order; only sines may round differently, and modes amplify that.
    np.testing.assert_allclose(plain, native, rtol=1e-7, atol=1e-9 * np.abs(native).max())


def test_a_first_answer_does_not_wait_for_a_compiler(tmp_path):
    command = "modes ralf --at home --count 3 --no-preload"
    first = supple(command, SUPPLE_KERNELS="patient", SUPPLE_CACHE_DIR=str(tmp_path))
    np.testing.assert_allclose(first["frequencies_hz"], [5.984, 8.331, 36.466], rtol=1e-4)
    assert not list(tmp_path.rglob("*.code"))


LOOP = """
from supple.compilation import compile_kernel, kernel, patience
patience.PATIENCE = 0.02

@kernel(purpose="counting")
def count(n):
    total = 0.0
    for i in range(n):
        total += i
    return total

total, native = 0.0, []
for _ in range(100):
    run = compile_kernel(count, count=1)
    total += run(10_000)
    native.append(hasattr(run, "overloads"))
print(total, native[0], native[-1])
"""


def test_a_kernel_that_has_taken_long_enough_is_compiled(tmp_path):
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    environment = os.environ | {"SUPPLE_KERNELS": "patient", "SUPPLE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4999500000.0", "False", "True"]
    assert re.search(r"compiling.*counting \.\.\.", done.stderr)
    again = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.split() == ["4999500000.0", "True", "True"]  # at hand in the cache, and used at once
    assert "compiling" not in again.stderr


def test_a_script_that_calls_once_has_its_kernels_compiled(tmp_path):
    """Scripts time and repeat what they call: there the second call is as fast as the thousandth."""
    script = tmp_path / "loop.py"
    script.write_text(LOOP)
    environment = os.environ | {"SUPPLE_KERNELS": "", "SUPPLE_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4999500000.0", "True", "True"]


def test_an_unknown_way_to_run_kernels_is_refused(tmp_path):
    environment = os.environ | {"SUPPLE_KERNELS": "interpretd", "SUPPLE_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "supple", "assemble", "four-bar", "--at", "crank=0.3"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.search(r'SUPPLE_KERNELS: .*"interpretd".*patient, compiled, interpreted', done.stderr)
