"""Compiled kernels are found again by what they compute, not by where their source stands."""

import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from supple.compilation.announcement import compilations
from supple.compilation.kernel import compile_kernel, digest, forget, kernel
from supple.diagnostics import SuppleNote

SOURCE = '''{above}
from supple.compilation.kernel import compile_kernel, kernel

{comment}
@kernel
def inner(x):
    """{docstring}"""
    return {inner}

@kernel
def outer(x):
    """Add one."""
    return inner(x) + 1.0

native = compile_kernel(outer)
print(native(2.0), sum(native.stats.cache_hits.values()), sum(native.stats.cache_misses.values()))
'''


def run(folder: Path, cache: Path, **texts: str) -> tuple[float, int, int]:
    folder.mkdir(exist_ok=True)
    script = folder / "script.py"
    script.write_text(
        SOURCE.format(**{"above": "", "comment": "", "docstring": "Double x.", "inner": "2.0 * x"} | texts)
    )
    environment = os.environ | {"SUPPLE_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    value, hits, misses = done.stdout.split()
    return float(value), int(hits), int(misses)


def test_a_kernel_is_compiled_once_wherever_its_source_stands(tmp_path):
    cache = tmp_path / "cache"
    assert run(tmp_path / "a", cache) == (5.0, 0, 1)
    assert [item.name for item in compilations(cache)] == ["outer"]  # what it cost stands there from the first time
    assert run(tmp_path / "a", cache) == (5.0, 1, 0)
    assert run(tmp_path / "b", cache) == (5.0, 1, 0)  # another checkout
    assert run(tmp_path / "a", cache, above="# a line above", comment="# another comment") == (5.0, 1, 0)
    assert run(tmp_path / "a", cache, docstring="Another docstring.") == (5.0, 1, 0)


def test_a_change_in_a_callee_is_compiled_anew(tmp_path):
    cache = tmp_path / "cache"
    assert run(tmp_path / "a", cache) == (5.0, 0, 1)
    assert run(tmp_path / "a", cache, inner="3.0 * x") == (7.0, 0, 1)


PACKED = """
from typing import NamedTuple
from numpy import ndarray

class Packed(NamedTuple):
    {first}: ndarray
    {second}: ndarray
"""

TAKES_PACKED = """
import numpy as np
from packed import Packed
from supple.compilation.kernel import compile_kernel, kernel

@kernel
def outer(packed):
    return packed.mass[0]

native = compile_kernel(outer)
print(native(Packed(mass=np.ones(1), force=np.zeros(1))), *(sum(x.values()) for x in native.stats[1:]))
"""


def test_code_compiled_for_another_order_of_fields_is_not_run(tmp_path):
    def taken(first: str, second: str) -> list[str]:
        (tmp_path / "packed.py").write_text(PACKED.format(first=first, second=second))
        (tmp_path / "script.py").write_text(TAKES_PACKED)
        environment = os.environ | {"SUPPLE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, tmp_path / "script.py"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert taken("mass", "force") == ["1.0", "0", "1"]
    assert taken("mass", "force") == ["1.0", "1", "0"]
    assert taken("force", "mass") == ["1.0", "0", "1"]


INLINED = """
import numpy as np
from supple.compilation.kernel import compile_kernel, kernel

@kernel(inline=True)
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

@kernel
def moment(r, f):
    return cross((r[0], r[1], r[2]), (f[0], f[1], f[2]))

print(*compile_kernel(moment)(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 4.0])))
"""


def test_a_helper_may_be_written_out_where_it_is_called(tmp_path):
    (tmp_path / "script.py").write_text(INLINED)
    environment = os.environ | {"SUPPLE_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, tmp_path / "script.py"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["5.0", "-4.0", "1.0"]


MOVED = """
import numpy as np
from {module} import Packed, outer
from supple.compilation.kernel import compile_kernel

native = compile_kernel(outer)
print(native(Packed(np.ones(2), np.zeros(2))), sum(native.stats.cache_hits.values()))
"""


def test_a_kernel_that_moved_to_another_module_is_compiled_anew(tmp_path):
    environment = os.environ | {"SUPPLE_CACHE_DIR": str(tmp_path / "cache")}
    kernel = (
        "from supple.compilation.kernel import kernel\n\n\n@kernel\ndef outer(packed):\n    return packed.first[0]\n"
    )

    def moved(module: str) -> list[str]:
        for other in tmp_path.glob("*.py"):
            other.unlink()
        (tmp_path / f"{module}.py").write_text(PACKED.format(first="first", second="second") + kernel)
        (tmp_path / "script.py").write_text(MOVED.format(module=module))
        done = subprocess.run(
            [sys.executable, tmp_path / "script.py"], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert moved("here") == ["1.0", "0"]
    assert moved("here") == ["1.0", "1"]
    assert moved("there") == ["1.0", "0"]
    assert moved("there") == ["1.0", "1"]


def spoilt(content: bytes) -> tuple[bytes, ...]:
    """A bit, cut off, empty, noise."""
    middle = bytearray(content)
    middle[len(content) // 2] ^= 1
    return bytes(middle), content[: len(content) // 2], b"", bytes(range(256)) * 99


def test_damaged_code_is_never_run_but_compiled_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path))

    @kernel
    def doubled(x):
        return 2.0 * x

    def called() -> int:
        forget(doubled)
        native = compile_kernel(doubled)
        assert native(2.0) == 4.0
        return sum(native.stats.cache_hits.values())

    assert (called(), called()) == (0, 1)
    (file,) = tmp_path.glob("*/*.code")
    content = file.read_bytes()
    for damaged in spoilt(content):
        file.write_bytes(damaged)
        sys.modules["supple.compilation.kernel"]._notes_given.clear()
        with pytest.warns(SuppleNote, match=rf"{re.escape(str(tmp_path))}.*damaged.*compiling it again"):
            assert called() == 0
        assert called() == 1  # and kept anew
    file.unlink()
    file.mkdir()
    with pytest.warns(SuppleNote, match=r"cannot be read \(.*compiling again|cannot be written \("):
        assert called() == 0


def test_a_cache_that_cannot_be_written_is_passed_over_and_told_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path / "full"))
    (tmp_path / "full").touch()  # a file where there should be a folder; of a full disk the system says another word

    @kernel
    def tripled(x):
        return 3.0 * x

    with pytest.warns(SuppleNote, match=r"full cannot be written \(.*in every run; .*SUPPLE_CACHE_DIR"):
        assert compile_kernel(tripled)(2.0) == 6.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_kernel(tripled)(2) == 6


def chain_of_kernels():
    """A kernel `second`, and a kernel `first` that calls the same callee from an inlined kernel."""

    @kernel
    def plain(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += np.cos(x[i]) * np.sin(2.0 * x[i]) + max(x[i], total) + x.sum()
        return total

    names = {"plain": plain, "np": np}
    exec("def inlined(x):\n    return plain(x) + max(x[0], 1.0)\n", names)  # noqa: S102 - kernels find callees as globals
    names["inlined"] = kernel(names["inlined"], inline=True)
    exec("def first(x):\n    return inlined(x) - plain(x)\n", names)  # noqa: S102
    exec("def second(x):\n    return plain(x) * plain(x[1:]) + max(x[1], 2.0)\n", names)  # noqa: S102
    return kernel(names["first"]), kernel(names["second"])


def machine_code(function):
    """The instructions of a kernel, compiled now."""
    from llvmlite import binding

    native = compile_kernel(function)
    native(np.ones(3))
    (compiled,) = native.overloads.values()
    sections = binding.ObjectFileRef.from_data(compiled.library._get_compiled_object()).sections()
    return [item.data() for item in sections if b"text" in (item.name() or b"") and b"rel" not in item.name()]


def test_code_does_not_depend_on_what_was_compiled_before(tmp_path, monkeypatch):
    """A callee must not be inlined only because it was first compiled for an inlined kernel."""
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path / "a"))
    alone = machine_code(chain_of_kernels()[1])
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path / "b"))
    first, second = chain_of_kernels()
    assert machine_code(first) != alone
    assert machine_code(second) == alone


def test_constants_of_every_type_belong_to_the_digest():
    """Numbers with a type, such as np.uint64, and tuples are compiled into the code."""

    def made(constant):
        names = {"CONSTANT": constant}
        exec("def scaled(x):\n    return x * CONSTANT\n", names)  # noqa: S102
        return digest(kernel(names["scaled"]))

    values = (2, 3, 2.0, True, np.uint64(2), np.uint64(3), np.int64(2), (1, 2), (1, 3), np.arange(2), np.arange(3))
    assert len({made(value) for value in values}) == len(values)
    assert made(np.uint64(2)) == made(np.uint64(2))
    assert made(np) == made(math)  # modules count by what the code names in them
