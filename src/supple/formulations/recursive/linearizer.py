"""Repeated linearization: A and B of one state or many, written to the same arrays in every call."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

import numpy as np

from supple.array_types import Array
from supple.compilation import compile_kernel
from supple.compilation.threads import cores
from supple.diagnostics import InputError
from supple.formulations.recursive.batch import LinearizationResults, Results, batch, memory_size, one_state
from supple.formulations.recursive.dynamics import SIDE_BY_SIDE, empty_state_space, memory, pieces_of, run_in_threads
from supple.formulations.recursive.gather import States
from supple.formulations.recursive.memory import PackedTree, places, tables
from supple.formulations.recursive.recursion import FORWARD_VARIATION, recursion
from supple.formulations.recursive.tree import TreeArrays

_SPECIAL_SIDE = 16  # a program without loops keeps little in memory: this much fits the fastest cache


class StateLinearizer:
    """Linearization d(δq, δq̇)/dt = A (δq, δq̇) + B δu at one state, in place: A (2n, 2n), B (2n, m), q̈ (n,).

    Arguments are not checked: q (nq,), q̇ (n,) and u (m,) are contiguous arrays of float64.

        linearizer = StateLinearizer(tree)
        A, B = linearizer(q, rates, u)      # the same arrays at every call
    """

    def __init__(self, tree: TreeArrays, *, special: bool = False):
        kernel = specialise_kernels(tree)[1] if special else one_state
        n = tree.n
        self._run, self._side = compile_kernel(kernel, fused=True), (0,)
        self._tree, self._memory = tree.packed, memory(int(memory_size(tree.packed.integers, 1)))
        at = places(tree.packed.integers).accelerations
        self.accelerations = self._memory[at : at + n]
        A, B = empty_state_space(tree, 1)
        self.A, self.B, self._model = A[0], B[0], LinearizationResults(A.reshape(-1), B.reshape(-1))

    def __call__(self, q: Array, rates: Array, u: Array) -> tuple[Array, Array]:
        self._run(self._side, self._tree, self._memory, q, rates, u, self._model)
        return self.A, self.B


class BatchLinearizer:
    """Linearization of `count` states in one call: A (N, 2n, 2n), B (N, 2n, m), accelerations (N, n).

    q (N, nq), q̇ (N, n) and u (N, m) are contiguous arrays of float64. threads : None for all cores.
    """

    def __init__(self, tree: TreeArrays, count: int, *, threads: int | None = None, special: bool = False):
        self.tree, self.count, self.special = tree, count, special
        self.threads = cores() if threads is None else threads
        self._run = compile_kernel(specialise_kernels(tree)[0] if special else batch, fused=True)
        self._side = (0,) * (_SPECIAL_SIDE if special else SIDE_BY_SIDE)
        size = int(memory_size(tree.packed.integers, len(self._side)))
        self._memories = [memory(size) for _ in range(max(self.threads, 1))]
        self.A, self.B = empty_state_space(tree, count)
        self.accelerations = np.zeros((count, tree.n))

    def __call__(self, q: Array, rates: Array, u: Array) -> tuple[Array, Array]:
        free, given = list(self._memories), States(q, rates, self.accelerations, u)

        def part(start: int, stop: int) -> None:
            states, model = pieces_of(given, start, stop), pieces_of(LinearizationResults(self.A, self.B), start, stop)
            work = self.tree.packed, free.pop(), stop - start, states
            if self.special:
                self._run(self._side, 1, *work, model)
            else:
                self._run(self._side, 1, FORWARD_VARIATION, *work, Results(*model, model.A[:0]))

        run_in_threads(part, self.count, self.threads)
        return self.A, self.B


# Code for one tree: the recursions written down without loops, for its own numbers.
#
# The source of the kernels is run once with numbers that remember how they came about (`Trace`); what they leave
# behind is a program of some thousand lines for exactly this tree, without its zeros. It holds numbers and no name of
# anything, and is run as it was written, never from a file; what is compiled from it is kept, as of any kernel.


MOST_AXES = 16
"""Limit of the number of axes: size and compilation time of the program grow with their third power."""
_HEAD = '''"""Written by supple.formulations.recursive.linearizer: the derivatives of one tree, without loops."""

from supple.compilation import inline_kernel, kernel
from supple.formulations.recursive.gather import States, bring_in
from supple.formulations.recursive.memory import parts, tables
from supple.formulations.recursive.memory import lane_count
from supple.formulations.recursive.gather import take_accelerations, take_frames

bring_one = inline_kernel(bring_in)


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


def program_text(tree: TreeArrays) -> str:
    """Return the program of a tree, which is the same text for equal trees."""
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
    """Return statements that write every entry of A and B, with explicit positions."""
    at, n, entries = places(tree.packed.integers), tree.n, tables(tree.packed)
    lines = []
    for name, first, table in (("a", at.out, entries.of_A), ("b", at.inverse, entries.of_B)):
        lines += [f"{name}[{to}] = work[{first + place} * W + lane]" for place, to in table.reshape(-1, 2)]
    text = "\n".join(" " * 8 + line for line in lines)
    return _HAND_OVER.format(size_A=4 * n * n, size_B=2 * n * tree.inputs, lines=text)


def specialise_kernels(tree: TreeArrays) -> tuple[Callable, Callable]:
    """Return the kernels `batch` and `one_state` for one tree."""
    text = program_text(tree)
    name = "supple_specialised_tree_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    module = sys.modules.get(name) or _load_module(name, text)
    return module.batch, module.one_state


def _load_module(name: str, text: str) -> ModuleType:
    """Return the text as a module."""
    module = ModuleType(name)
    sys.modules[name] = module  # what is kept of compiled code names it
    exec(compile(text, f"<{name}>", "exec"), module.__dict__)  # noqa: S102 - the text that `program_text` has just written
    return module


def _require_small(tree: TreeArrays) -> None:
    if tree.n > MOST_AXES:
        raise InputError(
            f"the tree has {tree.n} axes, more than the limit of {MOST_AXES}",
            part="code generation",
            hint="use the general kernels, which are as fast for many axes",
        )
    if tree.distances:
        raise InputError(
            f"the tree has {len(tree.distances)} springs, dampers or actuators between two points",
            part="code generation",
            hint="use the general kernels",
        )


# Numbers that remember how they were computed, to write a kernel down without its loops.
#
# A kernel called interpreted with `Traced` numbers in its arrays leaves behind the expressions it evaluated. Zeros and
# ones of the one case at hand disappear on the way, and what is computed twice is written once.


_LONGEST = 12  # operations in one expression: longer ones are hard on the compiler


class Traced:
    """One number: an input, or an operation on other numbers. Equal numbers are the same object."""

    __array_ufunc__ = None  # numpy's scalars leave arithmetic to it
    __slots__ = ("arguments", "number", "operation", "trace")

    def __init__(self, trace: Trace, number: int, operation: str, arguments: tuple):
        self.trace, self.number, self.operation, self.arguments = trace, number, operation, arguments

    def __add__(self, other: object) -> object:
        return self.trace.sum(self, other)

    def __radd__(self, other: object) -> object:
        return self.trace.sum(other, self)

    def __sub__(self, other: object) -> object:
        return self.trace.difference(self, other)

    def __rsub__(self, other: object) -> object:
        return self.trace.difference(other, self)

    def __mul__(self, other: object) -> object:
        return self.trace.product(self, other)

    def __rmul__(self, other: object) -> object:
        return self.trace.product(other, self)

    def __truediv__(self, other: object) -> object:
        return self.trace.node("/", (self, other))

    def __rtruediv__(self, other: object) -> object:
        return self.trace.node("/", (other, self))

    def __neg__(self) -> object:
        return self.trace.negative(self)


class Trace:
    """All numbers of one computation in their order."""

    def __init__(self) -> None:
        self.numbers: list[Traced] = []
        self._known: dict[tuple, Traced] = {}

    def input(self, place: int) -> Traced:
        return self.node("input", (place,))

    def node(self, operation: str, arguments: tuple) -> Traced:
        key = (operation, *(("n", a.number) if isinstance(a, Traced) else ("c", a) for a in arguments))
        if key not in self._known:
            made = Traced(self, len(self.numbers), operation, arguments)
            self.numbers.append(made)
            self._known[key] = made
        return self._known[key]

    def sum(self, a: object, b: object) -> object:
        if not isinstance(a, Traced) and a == 0.0:
            return b
        if not isinstance(b, Traced) and b == 0.0:
            return a
        if isinstance(b, Traced) and b.operation == "neg":
            return self.difference(a, b.arguments[0])
        if isinstance(a, Traced) and a.operation == "neg":
            return self.difference(b, a.arguments[0])
        return self.node("+", (a, b))

    def difference(self, a: object, b: object) -> object:
        if not isinstance(b, Traced) and b == 0.0:
            return a
        if not isinstance(a, Traced) and a == 0.0:
            return self.negative(b)
        if isinstance(b, Traced) and b.operation == "neg":
            return self.sum(a, b.arguments[0])
        return 0.0 if a is b else self.node("-", (a, b))

    def product(self, a: object, b: object) -> object:
        for x, y in ((a, b), (b, a)):
            if not isinstance(x, Traced):
                if x == 0.0:
                    return 0.0
                if x == 1.0:
                    return y
                if x == -1.0:
                    return self.negative(y)
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Traced) and x.operation == "neg":
                return self.negative(self.product(x.arguments[0], y))
        if isinstance(a, Traced) and isinstance(b, Traced) and a.number > b.number:
            a, b = b, a  # the order does not matter: write it once
        return self.node("*", (a, b))

    def negative(self, a: object) -> object:
        if not isinstance(a, Traced):
            return -a  # type: ignore[operator]
        return a.arguments[0] if a.operation == "neg" else self.node("neg", (a,))


def statements(trace: Trace, results: Mapping[int, object], place: str) -> Iterable[str]:
    """Return the lines of a program that reads inputs at `place` (a format of their number) and writes the results."""
    used = _uses(trace, results.values())
    text: dict[int, tuple[str, int]] = {}

    def write_operand(item: object) -> tuple[str, int]:
        return text[item.number] if isinstance(item, Traced) else (repr(float(item)), 0)  # type: ignore[arg-type]

    for number in trace.numbers:
        count = used.get(number.number, 0)
        if count == 0:
            continue
        if number.operation == "input":
            expression, size = place.format(number.arguments[0]), _LONGEST
        elif number.operation == "neg":
            inner, size = write_operand(number.arguments[0])
            expression = f"(-{inner})"
        else:
            (left, a), (right, b) = (write_operand(item) for item in number.arguments)
            expression, size = f"({left} {number.operation} {right})", a + b + 1
        if count > 1 or size >= _LONGEST:
            name = f"t{number.number}"
            yield f"{name} = {expression}"
            text[number.number] = (name, 0)
        else:
            text[number.number] = (expression, size)
    for at, result in results.items():
        yield f"{place.format(at)} = {write_operand(result)[0]}"


def _uses(trace: Trace, results: Iterable[object]) -> dict[int, int]:
    """Return how often each number is used by those that the results need."""
    used: dict[int, int] = {}
    needed = [item for item in results if isinstance(item, Traced)]
    while needed:
        item = needed.pop()
        used[item.number] = used.get(item.number, 0) + 1
        if used[item.number] == 1 and item.operation != "input":
            needed += [argument for argument in item.arguments if isinstance(argument, Traced)]
    return used
