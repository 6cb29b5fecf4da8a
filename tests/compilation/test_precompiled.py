"""Precompiled kernels: chosen by the processor, never executed if damaged or foreign, equal among levels."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from supple.compilation import precompiled
from supple.diagnostics import InputError

ROOT = Path(__file__).parents[2]
SOURCE = """
import sys
from pathlib import Path
from supple.compilation import precompiled
from supple.compilation import kernel as _
kernels = sys.modules["supple.compilation.kernel"]

precompiled.FOLDER = Path(sys.argv[1])
if len(sys.argv) > 2:
    precompiled.processor_flags = lambda: frozenset(sys.argv[2].split())

@kernels.kernel
def outer(x):
    return 2.0 * x + 1.0

native = kernels.compile_kernel(outer)
print(native(2.0), *kernels.loaded.values())
"""
LEVEL = "x86-64-v2"
pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or platform.system() != "Linux", reason="levels of x86-64 on Linux are tested"
)


def run(script: Path, *arguments: str, cache: Path, **environment: str) -> subprocess.CompletedProcess:
    """Run the script with an empty or given cache."""
    return subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, check=True,
        env=os.environ | {"SUPPLE_CACHE_DIR": str(cache)} | environment,
    )  # fmt: skip


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    """A script with a kernel, and a folder with its precompiled code for one level."""
    from supple.compilation.kernel import code_in

    folder = tmp_path_factory.mktemp("carried")
    script = folder / "script.py"
    script.write_text(SOURCE)
    run(script, str(folder / "none"), cache=folder / "cache", NUMBA_CPU_NAME=LEVEL, NUMBA_CPU_FEATURES="")
    (file,) = (folder / "cache").glob("*/*.code")
    code = {(file.parent.name, file.name.partition("-")[0]): code_in(file)}
    precompiled.pack({LEVEL: code}, folder / "precompiled")
    return script, folder / "precompiled"


def test_a_precompiled_kernel_is_loaded_and_nothing_is_compiled(carried, tmp_path):
    script, folder = carried
    done = run(script, str(folder), cache=tmp_path / "cache")
    assert done.stdout.split(maxsplit=1) == ["5.0", "precompiled\n"]
    assert "compiling" not in done.stderr
    assert not (tmp_path / "cache").exists()


def test_native_kernels_can_be_requested(carried, tmp_path):
    script, folder = carried
    done = run(script, str(folder), cache=tmp_path / "cache", SUPPLE_KERNEL_LEVEL="native")
    assert done.stdout == "5.0 compiled here\n"


def test_a_processor_without_the_features_compiles(carried, tmp_path):
    """Loading code with an instruction that the processor lacks would end the process."""
    script, folder = carried
    flags = sorted(precompiled.LEVELS["x86_64"][LEVEL] - {"ssse3"})
    done = run(script, str(folder), " ".join(flags), cache=tmp_path / "cache")
    assert done.stdout == "5.0 compiled here\n"
    assert "ssse3" in done.stderr
    assert "compiled on this machine" in done.stderr


@pytest.mark.parametrize("what", ["code", "short", "missing"])
def test_damaged_code_is_never_executed(carried, tmp_path, what):
    script, folder = carried
    spoilt = tmp_path / "precompiled"
    spoilt.mkdir()
    (spoilt / "index.json").write_bytes((folder / "index.json").read_bytes())
    code = bytearray((folder / f"{LEVEL}.kernels").read_bytes())
    code[len(code) // 2] ^= 1
    if what != "missing":
        (spoilt / f"{LEVEL}.kernels").write_bytes(bytes(code) if what == "code" else bytes(code[:-9]))
    done = run(script, str(spoilt), cache=tmp_path / "cache")
    assert done.stdout == "5.0 compiled here\n"
    assert "damaged" in done.stderr
    assert "install supple again" in done.stderr


@pytest.mark.parametrize(
    ("key", "value"), [("Python", "cpython-399"), ("numba", "0.1"), ("system", "Plan9"), ("architecture", "vax")]
)
def test_foreign_code_is_not_loaded(carried, tmp_path, key, value):
    script, folder = carried
    foreign = tmp_path / "precompiled"
    foreign.mkdir()
    (foreign / f"{LEVEL}.kernels").write_bytes((folder / f"{LEVEL}.kernels").read_bytes())
    index = json.loads((folder / "index.json").read_text())
    (foreign / "index.json").write_text(json.dumps(index | {key: value}))
    done = run(script, str(foreign), cache=tmp_path / "cache")
    assert done.stdout == "5.0 compiled here\n"
    assert f"for {key} {value}" in done.stderr


def test_a_damaged_index_is_reported(carried, tmp_path):
    script, folder = carried
    spoilt = tmp_path / "precompiled"
    spoilt.mkdir()
    (spoilt / "index.json").write_bytes((folder / "index.json").read_bytes()[:-20])
    done = run(script, str(spoilt), cache=tmp_path / "cache")
    assert done.stdout == "5.0 compiled here\n"
    assert "install supple again" in done.stderr


def test_levels_that_are_missing_or_too_high_are_named(monkeypatch):
    index = {"Python": sys.implementation.cache_tag, "numba": precompiled._minor("numba"), "system": "Linux",
             "architecture": "x86_64", "levels": {"x86-64-v3": {"kernels": {}, "bytes": 0}}}  # fmt: skip
    monkeypatch.setattr(precompiled, "index", lambda: index)
    monkeypatch.setattr(precompiled, "processor_flags", lambda: precompiled.LEVELS["x86_64"]["x86-64-v2"])
    try:
        precompiled.choice.cache_clear()
        assert "lacks abm, avx" in precompiled.choice().reason
        assert "x86-64-v3 needs" in precompiled.choice().reason
        monkeypatch.setenv("SUPPLE_KERNEL_LEVEL", "x86-64-v2")
        precompiled.choice.cache_clear()
        assert precompiled.choice() == (None, "they are for x86-64-v3, above x86-64-v2")
    finally:
        precompiled.choice.cache_clear()


def test_a_python_without_lzma_compiles(carried, monkeypatch):
    _, folder = carried
    monkeypatch.setattr(precompiled, "index", lambda: json.loads((folder / "index.json").read_text()))
    monkeypatch.setitem(sys.modules, "lzma", None)
    precompiled.choice.cache_clear()
    try:
        assert precompiled.choice().level is None
        assert "without lzma" in precompiled.choice().reason
    finally:
        precompiled.choice.cache_clear()


def test_an_unknown_level_is_refused(monkeypatch):
    monkeypatch.setenv("SUPPLE_KERNEL_LEVEL", "x86-64-v9")
    precompiled.choice.cache_clear()
    try:
        with pytest.raises(InputError, match=r'SUPPLE_KERNEL_LEVEL: .*"x86-64-v9".*x86-64-v3.*native'):
            precompiled.choice()
    finally:
        precompiled.choice.cache_clear()


def test_the_highest_supported_level_is_chosen(monkeypatch, tmp_path):
    family = precompiled.LEVELS["x86_64"]
    index = {"Python": sys.implementation.cache_tag, "numba": precompiled._minor("numba"), "system": "Linux",
             "architecture": "x86_64", "levels": {key: {"kernels": {}, "bytes": 0} for key in family}}  # fmt: skip
    monkeypatch.setattr(precompiled, "index", lambda: index)
    for level, flags in family.items():
        monkeypatch.setattr(precompiled, "processor_flags", lambda flags=flags: flags)
        precompiled.choice.cache_clear()
        assert precompiled.choice().level == level
        del index["levels"][level]
        precompiled.choice.cache_clear()
        assert precompiled.choice().level != level
        index["levels"][level] = {"kernels": {}, "bytes": 0}
    precompiled.choice.cache_clear()


def test_the_build_names_the_source_as_the_package_does(monkeypatch):
    """hatch_build.py cannot import supple, so it repeats a few lines."""
    import re

    text = (ROOT / "hatch_build.py").read_text()
    code = re.search(r"^def _source_digest.*?^    return [^\n]*\n", text, re.MULTILINE | re.DOTALL)[0]
    scope = {"Path": Path, "hashlib": __import__("hashlib")}
    exec(code, scope)  # noqa: S102 - our own build script
    package = ROOT / "src" / "supple" / "compilation"
    assert scope["_source_digest"](package) == precompiled.source_digest(package)


WORKLOAD = """
import hashlib
import numpy as np
import supple

arm = supple.load("four-bar")
here = supple.assemble(arm, np.linspace(-0.3, 0.3, 7)[:, None])
found = supple.local(arm, here)
numbers = np.concatenate([np.ravel(found.M), np.ravel(found.christoffel), np.ravel(here.theta), np.ravel(here.X)])
print(" ".join(float(x).hex() for x in numbers))
"""


@pytest.mark.slow
def test_levels_give_the_same_numbers(tmp_path):
    """v3, v4 and native code agree bit for bit; v2 has no fused multiply-add and agrees to 1e-12."""
    import numpy as np

    script = tmp_path / "workload.py"
    script.write_text(WORKLOAD)
    flags = precompiled.processor_flags()
    found = {}
    for level, needed in precompiled.LEVELS["x86_64"].items():
        if needed <= flags:
            target = {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "SUPPLE_KERNEL_LEVEL": "native"}
            found[level] = run(script, cache=tmp_path / level, **target).stdout
    native = run(script, cache=tmp_path / "native", SUPPLE_KERNEL_LEVEL="native").stdout
    assert len(native.split()) > 50
    assert "x86-64-v2" in found
    for level, printed in found.items():
        if level != "x86-64-v2":
            assert printed == native, level
    low, high = (np.array([float.fromhex(x) for x in text.split()]) for text in (found["x86-64-v2"], native))
    np.testing.assert_allclose(low, high, rtol=0, atol=1e-12 * np.abs(high).max())
