"""Exported C on Cortex-M boards, emulated by QEMU: the numbers of this computer, counted instructions, and stack."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from test_law_export import CASES

EXAMPLE = Path(__file__).parents[2] / "examples" / "embedded"
sys.path.insert(0, str(EXAMPLE))

import device  # noqa: E402  (beside its C files)

BOARDS = ("cortex-m4f", "cortex-m33", pytest.param("cortex-m7", marks=pytest.mark.slow))
# Functions of the C library, and of the compiler for double precision where the processor has single precision only.
LISTED = r"sqrtf?|tanhf?|expf?|floorf?|ceilf?|rintf?|fabsf?|fmaxf?|fminf?|memcpy|memset|memmove|__aeabi_\w+"


@pytest.fixture(autouse=True)
def _installed():
    if device.missing():
        pytest.skip(device.missing())


def check(code, folder, board, options=()) -> dict:
    """Compare all results with those of this computer, and return the costs."""
    found, expected, costs = device.compare(code, folder, device.BOARDS[board], options=options)
    assert set(found) == set(expected) == {item.name for item in code.functions}
    for name, values in expected.items():
        assert (found[name][:, 0] == values[:, 0]).all()  # the status
        # The same operations in the same order: only tanh may differ, by its last digits.
        scale = np.abs(values[:, 1:]).max(axis=0, initial=0.0) + 1e-30
        np.testing.assert_array_less(np.abs(found[name] - values)[:, 1:] / scale, 1e-5)
    return costs


@pytest.mark.parametrize("board", BOARDS)
def test_a_model_gives_the_same_numbers(board, machines, tmp_path):
    code = device.model_code(machines["orthoglide"], tmp_path)
    costs = check(code, tmp_path, board)
    header = code.headers[0].read_text()
    stated = {name: int(count) for name, count in re.findall(r"^ \*     (\w+)(?:, \w+)*: (\d+)$", header, re.M)}
    for name in ("inverse", "step_explicit", "step_implicit"):
        # Loads, stores and loops around the stated operations; the worst box needs hardly more than the best.
        assert 0.5 * stated[name] < costs[name].most < 6 * stated[name] + 500
        assert costs[name].least > 0.8 * costs[name].most
        assert 0 < costs[name].stack < 40_000


@pytest.mark.parametrize("board", ["cortex-m7", pytest.param("cortex-m33", marks=pytest.mark.slow)])
def test_a_flexible_model_gives_the_same_numbers(board, machines, tmp_path):
    """Its mass matrix is factorized in double precision, which the M33 emulates."""
    code = device.model_code(machines["ralf"], tmp_path, points=24)
    assert "step_implicit" in check(code, tmp_path, board)


@pytest.mark.parametrize("board", ["cortex-m4f"])
def test_a_law_gives_the_same_numbers(board, tmp_path):
    costs = check(device.law_code(CASES["about an equilibrium"](), tmp_path), tmp_path, board)
    assert 100 < costs["step"].most < 100_000


def test_all_calls_are_listed_and_none_recurses(machines, tmp_path):
    """No allocation, no output, no function of the library but the listed ones, and a bound on the stack."""
    board = device.BOARDS["cortex-m4f"]
    codes = [device.model_code(machines["ralf"], tmp_path), device.law_code(CASES["scheduled"](), tmp_path)]
    for source in (source for code in codes for source in code.sources):
        target = tmp_path / f"{source.stem}.o"
        flags = [*device.FLAGS, *board.options, "-mthumb", "-mfloat-abi=hard", "-fcallgraph-info=su", "-Werror"]
        device.run([device.COMPILER, *flags, "-c", source, "-o", target], folder=tmp_path)
        undefined = device.run(["arm-none-eabi-nm", "-u", target]).split()
        assert [name for name in undefined if name != "U" and not re.fullmatch(LISTED, name)] == []
        graph = target.with_suffix(".ci").read_text()
        calls: dict[str, set[str]] = {}
        for caller, called in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', graph):
            calls.setdefault(caller, set()).add(called)
        assert "bytes (dynamic" not in graph  # every frame has a fixed size
        require_acyclic(calls)


def require_acyclic(calls) -> None:
    done: set[str] = set()

    def visit(name, path):
        assert name not in path, f"{name} calls itself: {' > '.join(path)}"
        if name not in done:
            for called in calls.get(name, ()):
                visit(called, (*path, name))
            done.add(name)

    for name in calls:
        visit(name, ())


@pytest.mark.slow
def test_the_loop_over_a_serial_line_is_the_loop_in_python():
    import closed_loop

    tested, expected, statuses = closed_loop.run_on(device.BOARDS["cortex-m7"], until=0.1)
    assert len(statuses) >= 100
    assert set(statuses) == {0}
    for name, values in expected.inputs.items():
        # Single precision, and its effect on the motion.
        np.testing.assert_allclose(tested.inputs[name], values, rtol=0, atol=1e-4 * np.abs(values).max())


def test_a_missing_tool_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "apt-get install gcc-arm-none-eabi" in device.missing()
    assert "qemu-system-arm" in device.missing()


def test_a_program_that_does_not_compile_says_why(tmp_path):
    (tmp_path / "bad.c").write_text("int main(void) { return x; }\n")
    with pytest.raises(RuntimeError, match=r"arm-none-eabi-gcc failed[\s\S]*'x' undeclared|‘x’ undeclared"):
        device.build([tmp_path / "bad.c"], tmp_path / "bad.elf", device.BOARDS["cortex-m7"])
