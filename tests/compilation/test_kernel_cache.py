"""Compiled kernels are found again by what they compute, not by where their source stands."""

import os
import subprocess
import sys
from pathlib import Path

SOURCE = """{above}
from supple.compilation.kernel import compiled, kernel

{comment}
@kernel
def inner(x):
    return {inner}

@kernel
def outer(x):
    return inner(x) + 1.0

native = compiled(outer)
print(native(2.0), sum(native.stats.cache_hits.values()), sum(native.stats.cache_misses.values()))
"""


def run(folder: Path, cache: Path, **texts: str) -> tuple[float, int, int]:
    folder.mkdir(exist_ok=True)
    script = folder / "script.py"
    script.write_text(SOURCE.format(**{"above": "", "comment": "", "inner": "2.0 * x"} | texts))
    environment = os.environ | {"SUPPLE_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    value, hits, misses = done.stdout.split()
    return float(value), int(hits), int(misses)


def test_a_kernel_is_compiled_once_wherever_its_source_stands(tmp_path):
    cache = tmp_path / "cache"
    assert run(tmp_path / "a", cache) == (5.0, 0, 1)
    assert run(tmp_path / "a", cache) == (5.0, 1, 0)
    assert run(tmp_path / "b", cache) == (5.0, 1, 0)  # another checkout
    assert run(tmp_path / "a", cache, above="# a line above", comment="# another comment") == (5.0, 1, 0)


def test_a_change_in_a_callee_is_compiled_anew(tmp_path):
    cache = tmp_path / "cache"
    assert run(tmp_path / "a", cache) == (5.0, 0, 1)
    assert run(tmp_path / "a", cache, inner="3.0 * x") == (7.0, 0, 1)
