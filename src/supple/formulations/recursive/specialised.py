"""Code for one tree: the recursions written down without loops, for its own numbers.

The source of the kernels is run once with numbers that remember how they came about (tracing.py); what they leave
behind is a program of some thousand lines for exactly this tree, without its zeros. It holds numbers and no name of
anything, and is run as it was written, never from a file; what is compiled from it is kept, as of any kernel.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable
from types import ModuleType

import numpy as np

from supple.diagnostics import InputError
from supple.formulations.recursive.memory import PackedTree, places, tables
from supple.formulations.recursive.recursion import FORWARD_VARIATION, recursion
from supple.formulations.recursive.tracing import Trace, statements
from supple.formulations.recursive.tree import TreeArrays

MOST_AXES = 16
"""The program grows with their third power, and so does the time to compile it."""
_HEAD = '''"""Written by supple.formulations.recursive.specialised: the derivatives of one tree, without loops."""

from supple.compilation import inlined, kernel
from supple.formulations.recursive.gather import States, bring_in
from supple.formulations.recursive.memory import parts, tables
from supple.formulations.recursive.node import lane_count
from supple.formulations.recursive.scatter import take_accelerations, take_frames

bring_one = inlined(bring_in)


@kernel
def program(side, blocks, work):
    """What `recursion` does for FORWARD_VARIATION."""
    W, lanes = len(side), lane_count(side, blocks)
    for lane in range(lanes):
'''
_HAND_OVER = '''

@kernel
def hand_over(side, lanes, tree, memory, work, start, model):
    """What `take_linear` does."""
    W = len(side)
    for lane in range(lanes):
        a = model.A[(start + lane) * {size_A} : (start + lane + 1) * {size_A}]
        b = model.B[(start + lane) * {size_B} : (start + lane + 1) * {size_B}]
{lines}
    take_frames(side, lanes, tree, memory, start, model.A)
'''
_TAIL = '''

@kernel(purpose="dynamics of trees, many states")
def batch(side, blocks, packed, work, count, states, model):
    """A, B and accelerations of every state, as `batch` in batch.py for FORWARD_VARIATION."""
    tree, memory = tables(packed), parts(side, packed.integers, work)
    for start in range(0, count, len(side)):
        lanes = min(len(side), count - start)
        bring_in(side, blocks, lanes, tree, memory, states, start)
        program(side, blocks, work)
        take_accelerations(side, lanes, tree, memory, start, states.accelerations)
        hand_over(side, lanes, tree, memory, work, start, model)


@kernel(purpose="linear models of trees, single calls")
def one_state(side, packed, work, q, rates, u, model):
    """As `one_state` in batch.py."""
    tree, memory = tables(packed), parts(side, packed.integers, work)
    bring_one(side, 1, 1, tree, memory, States(q, rates, memory.accelerations, u), 0)
    program(side, 1, work)
    hand_over(side, 1, tree, memory, work, 0, model)
'''


def source(tree: TreeArrays) -> str:
    """The program of a tree: the same text for the same tree."""
    _require_small(tree)
    header, at, trace = tree.packed.integers, places(tree.packed.integers), Trace()
    work = np.zeros(int(at.end), dtype=object)
    work[:] = 0.0
    given = (at.configuration, at.accelerations), (at.applied, at.bias)  # and rates; and resistance
    for place in _all(given):
        work[place] = trace.input(place)
    numbers = np.array([float(value) for value in tree.packed.numbers], dtype=object)
    recursion((0,), 1, FORWARD_VARIATION, PackedTree(header, numbers), work)
    wanted = _all(((at.accelerations, at.given), (at.inverse, at.change), (at.out, at.nodes)))
    results = {place: work[place] for place in wanted}
    lines = "\n".join(" " * 8 + line for line in statements(trace, results, "work[{} * W + lane]"))
    return _HEAD + lines + "\n" + _hand_over(tree) + _TAIL


def _all(ranges: Iterable[tuple[int, int]]) -> list[int]:
    return [place for first, last in ranges for place in range(int(first), int(last))]


def _hand_over(tree: TreeArrays) -> str:
    """Every entry of A and B from its place, the places written out."""
    at, n, entries = places(tree.packed.integers), tree.n, tables(tree.packed)
    lines = []
    for name, first, table in (("a", at.out, entries.of_A), ("b", at.inverse, entries.of_B)):
        lines += [f"{name}[{to}] = work[{first + place} * W + lane]" for place, to in table.reshape(-1, 2)]
    text = "\n".join(" " * 8 + line for line in lines)
    return _HAND_OVER.format(size_A=4 * n * n, size_B=2 * n * tree.inputs, lines=text)


def specialised(tree: TreeArrays) -> tuple[Callable, Callable]:
    """The kernels `batch` and `one_state` for one tree."""
    text = source(tree)
    name = "supple_specialised_tree_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    module = sys.modules.get(name) or _loaded(name, text)
    return module.batch, module.one_state


def _loaded(name: str, text: str) -> ModuleType:
    """The text as a module."""
    module = ModuleType(name)
    sys.modules[name] = module  # what is kept of compiled code names it
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - the text that `source` has just written
    return module


def _require_small(tree: TreeArrays) -> None:
    if tree.n > MOST_AXES:
        raise InputError(
            f"it has {tree.n} axes, more than {MOST_AXES}",
            part="specialised code",
            hint="use the kernels for any tree: for many axes they are as fast",
        )
    if tree.distances:
        raise InputError(
            f"it has {len(tree.distances)} springs, dampers or actuators between two points",
            part="specialised code",
            hint="use the kernels for any tree",
        )
