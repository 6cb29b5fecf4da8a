"""Code for one tree: the recursions written down without loops, for its own numbers.

The source of the kernels is run once with numbers that remember how they came about (tracing.py); what they leave
behind is a program of some thousand lines for exactly this tree, without its zeros. It is kept as a file beside the
compiled kernels, under a digest of its text; it holds numbers and no name of anything. Only text that this module has
just written is ever loaded from there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from supple.compilation.kernel import cache_folder
from supple.diagnostics import InputError
from supple.formulations.recursive.memory import AXES, places, tables
from supple.formulations.recursive.recursion import FORWARD_VARIATION, recursion
from supple.formulations.recursive.tracing import Trace, statements
from supple.formulations.recursive.tree import TreeArrays

MOST_AXES = 16
"""The program grows with their third power, and so does the time to compile it."""
_HEAD = '''"""Written by supple.formulations.recursive.specialised: the derivatives of one tree, without loops."""

from supple.compilation import kernel
from supple.formulations.recursive.exchange import bring_in, take_accelerations, take_frames
from supple.formulations.recursive.memory import tables
from supple.formulations.recursive.node import lane_count


@kernel
def program(side, blocks, work):
    """What `recursion` does for FORWARD_VARIATION."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
'''
_HAND_OVER = '''

@kernel
def hand_over(side, lanes, tree_i, tree_f, work, start, A, B):
    """What `take_linear` does."""
    W = len(side)
    for lane in range(lanes):
        a = A[(start + lane) * {size_A} : (start + lane + 1) * {size_A}]
        b = B[(start + lane) * {size_B} : (start + lane + 1) * {size_B}]
{lines}
    take_frames(side, lanes, {n}, tables(tree_i, tree_f)[0], work[{rates} * W :], start, A)
'''
_TAIL = '''

@kernel(purpose="dynamics of trees, many states")
def batch(side, blocks, tree_i, tree_f, work, count, q, v, a, u, A, B):
    """A, B and accelerations of every state, as `batch` in batch.py for FORWARD_VARIATION."""
    for start in range(0, count, len(side)):
        lanes = min(len(side), count - start)
        bring_in(side, blocks, lanes, tree_i, tree_f, q, v, u, start, work)
        program(side, blocks, work)
        take_accelerations(side, lanes, tree_i, tree_f, work, start, a)
        hand_over(side, lanes, tree_i, tree_f, work, start, A, B)


@kernel(purpose="linear models of trees, single calls")
def one_state(side, tree_i, tree_f, work, q, v, u, A, B):
    """As `one_state` in batch.py."""
    bring_in(side, 1, 1, tree_i, tree_f, q, v, u, 0, work)
    program(side, 1, work)
    hand_over(side, 1, tree_i, tree_f, work, 0, A, B)
'''


def source(tree: TreeArrays) -> str:
    """The program of a tree: the same text for the same tree."""
    _require_small(tree)
    at, n = places(tree.tree_i), int(tree.tree_i[AXES])
    trace = Trace()
    work = np.zeros(int(at[13]), dtype=object)
    work[:] = 0.0
    for first, last in ((at[0], at[2]), (at[3], at[4])):  # configuration and rates, applied forces
        for place in range(int(first), int(last)):
            work[place] = trace.input(place)
    numbers = np.array([float(value) for value in tree.tree_f], dtype=object)
    recursion((0,), 1, FORWARD_VARIATION, tree.tree_i, numbers, work)
    wanted = [*range(int(at[2]), int(at[2]) + n), *range(int(at[5]), int(at[6])), *range(int(at[7]), int(at[8]))]
    results = {place: work[place] for place in wanted}
    lines = "\n".join(" " * 8 + line for line in statements(trace, results, "work[{} * W + lane]"))
    return _HEAD + lines + "\n" + _hand_over(tree) + _TAIL


def _hand_over(tree: TreeArrays) -> str:
    """Every entry of A and B from its place, the places written out."""
    at, n, found = places(tree.tree_i), tree.n, tables(tree.tree_i, tree.tree_f)
    lines = []
    for name, first, table in (("a", at[7], found[9]), ("b", at[5], found[10])):
        lines += [f"{name}[{to}] = work[{first + place} * W + lane]" for place, to in table.reshape(-1, 2)]
    text = "\n".join(" " * 8 + line for line in lines)
    return _HAND_OVER.format(size_A=4 * n * n, size_B=2 * n * tree.inputs, lines=text, n=n, rates=at[1])


def specialised(tree: TreeArrays) -> tuple[Callable, Callable]:
    """The kernels `batch` and `one_state` for one tree."""
    text = source(tree)
    name = "tree_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    module = sys.modules.get(f"supple_specialised_{name}") or _loaded(name, text)
    return module.batch, module.one_state


def _loaded(name: str, text: str) -> ModuleType:
    """The text as a module with a file of its own: compiled code is only kept for functions that have one."""
    path = cache_folder() / "specialised" / f"{name}.py"
    _write(path, text)
    qualified = f"supple_specialised_{name}"
    spec = importlib.util.spec_from_file_location(qualified, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[qualified] = module
    spec.loader.exec_module(module)
    return module


def _write(path: Path, text: str) -> None:
    """Beside its place and renamed; left alone if it says the same, so that what was compiled from it stays good."""
    try:
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}.new")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}",
            part="specialised code",
            hint="set SUPPLE_CACHE_DIR to a folder that can be written",
        ) from None


def _require_small(tree: TreeArrays) -> None:
    if tree.n > MOST_AXES:
        raise InputError(
            f"it has {tree.n} axes, more than {MOST_AXES}",
            part="specialised code",
            hint="use the kernels for any tree: for many axes they are as fast",
        )
    if tree.lines:
        raise InputError(
            f"it has {len(tree.lines)} springs, dampers or actuators between two points",
            part="specialised code",
            hint="use the kernels for any tree",
        )
