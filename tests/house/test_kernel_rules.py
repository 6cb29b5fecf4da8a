"""How kernels read: at most eight parameters, packed data by name, nothing unpacked into blanks, no arrays assigned.

Read from the source alone, so that `make check` can run it in a second. An exception has a reason and may only go: one
that is not needed any more fails as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "supple"

MOST_PARAMETERS = 8
FEWEST_BLANKS = 3

# What travels together in kernels, under the names it has there; vectors and matrices of numbers are none of them.
PACKED = {
    "account", "all_tables", "alpha", "arrays", "at", "carried", "coefficients", "flexible", "header", "inputs",
    "iteration", "load", "loads", "model", "motion", "new", "offsets", "options", "pattern", "problem",
    "rest", "rows", "search", "selected", "sizes", "system", "tables", "targets", "tolerance", "tree", "work",
}  # fmt: skip

# Functions that return such a thing: what their result is assigned to is packed as well.
MAKERS = ("row_sizes", "row_header", "row_offsets", "workspace")

# "file:kernel rule" -> why it may stay.
EXCEPTIONS: dict[str, str] = {}


def kernels(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions marked with @kernel or @kernel(...)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = (mark.func if isinstance(mark, ast.Call) else mark for mark in node.decorator_list)
            if any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in marks):
                yield node


def records(trees: list[ast.Module]) -> set[str]:
    """Names of the NamedTuples of the source."""
    return {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any("NamedTuple" in ast.unparse(base) for base in node.bases)
    }


def packed_names(function: ast.FunctionDef, named_tuples: set[str]) -> set[str]:
    """PACKED, and the names that such a thing, or what makes one, is assigned to in the function."""
    found = set(PACKED)
    found |= {
        argument.arg
        for argument in function.args.args
        if argument.annotation is not None and ast.unparse(argument.annotation) in named_tuples
    }
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign):
            continue
        for target, value in _pairs(node):
            call = value.func if isinstance(value, ast.Call) else None
            made = isinstance(call, ast.Name) and (call.id.endswith(MAKERS) or call.id in named_tuples)
            if made or (isinstance(value, ast.Name) and value.id in found):
                found.add(target)
    return found


def _pairs(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of `a = x` and of `a, b = x, y`."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            if isinstance(one, ast.Name):
                yield one.id, other


def is_number(node: ast.expr) -> bool:
    """A literal integer, also a negative one."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def offences(function: ast.FunctionDef, named_tuples: set[str]) -> Iterator[tuple[str, int, str]]:
    """(rule, line, what was found) of one kernel."""
    arguments = function.args
    parameters = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
    if parameters > MOST_PARAMETERS:
        yield "parameters", function.lineno, f"{parameters} parameters"
    packed = packed_names(function, named_tuples)
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and is_number(node.slice):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if name in packed:
                yield "index", node.lineno, ast.unparse(node)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            blanks = sum(isinstance(item, ast.Name) and item.id == "_" for item in node.targets[0].elts)
            if blanks >= FEWEST_BLANKS:
                yield "blanks", node.lineno, ast.unparse(node.targets[0])
        for target in array_assignments(node):
            yield "arrays", node.lineno, ast.unparse(target)


def array_assignments(node: ast.AST) -> Iterator[ast.expr]:
    """Targets such as `x[:n]` that are assigned something that may be an array.

    numba compiles the message of an error with them, which takes seconds; `copy_row` and `copy_table` do not.
    """
    if isinstance(node, ast.AugAssign):
        pairs = [(node.target, node.value)] if isinstance(node.value, ast.Call) else []
    elif isinstance(node, ast.Assign):
        pairs = [(target, node.value) for target in node.targets]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs.extend(zip(target.elts, value.elts, strict=True))
        elif isinstance(target, ast.Tuple):
            pairs.extend((item, value) for item in target.elts)
        elif not isinstance(value, ast.Constant) and has_slice(target):
            yield target


def has_slice(node: ast.expr) -> bool:
    """Whether the expression is a part of an array, such as `x[:n]`."""
    return isinstance(node, ast.Subscript) and any(isinstance(item, ast.Slice) for item in ast.walk(node.slice))


@cache
def found_in(source: Path) -> dict[str, list[str]]:
    """ "file:kernel rule" -> the places that break it."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(source.rglob("*.py"))}
    named_tuples = records(list(trees.values()))
    found: dict[str, list[str]] = {}
    for path, tree in trees.items():
        for function in kernels(tree):
            for rule, line, what in offences(function, named_tuples):
                key = f"{path.relative_to(source).as_posix()}:{function.name} {rule}"
                found.setdefault(key, []).append(f"line {line}: {what}")
    return found


@pytest.mark.slow
def test_kernels_keep_the_rules():
    broken = {key: places for key, places in found_in(SRC).items() if key not in EXCEPTIONS}
    assert not broken, "\n".join(f"{key} ({'; '.join(places[:4])})" for key, places in broken.items())


@pytest.mark.slow
def test_no_exception_outlives_its_need():
    idle = set(EXCEPTIONS) - set(found_in(SRC))
    assert not idle, f"not needed any more, take out: {sorted(idle)}"
    assert all(EXCEPTIONS.values()), "an exception says why"


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("def f(a, b, c, d, e, g, h, i, j): pass", "parameters"),
        ("def f(sizes): return sizes[3]", "index"),
        ("def f(rows): return rows.sizes[-1]", "index"),
        ("def f(rows):\n    shape = row_sizes(rows)\n    return shape[2]", "index"),
        ("def f(system):\n    mine = system\n    return mine[0]", "index"),
        ("def f(x):\n    kept = Kept(x, x)\n    return kept[1]", "index"),
        ("def f(x: Kept): return x[0]", "index"),
        ("def f(x):\n    a, _, _, b, _ = x\n    return a + b", "blanks"),
        ("def f(x, y): x[:2] = y", "arrays"),
        ("def f(x, y): x[:, :2], x[0, 2] = np.dot(y, y), 1.0", "arrays"),
        ("def f(x, y): x[1:], y[0] = halves(y)", "arrays"),
        ("def f(x, y): x[:2] += np.dot(y, y)", "arrays"),
        ("def f(x, y): x[:], y[0] = 0.0, y[1]", None),
        ("def f(x, factor): x[:] *= factor", None),
        ("def f(v, w): return v[0] * w[1] - v[2] * w[0]", None),
        ("def f(at): return at[FORCE] + at[0, 1]", None),
        ("def f(work): return work.force[0]", None),
        ("def f(x):\n    a, _, b = x\n    return a + b", None),
        ("def f(rows): return rows.shape[0]", None),
    ],
)
def test_the_rules_see_what_they_are_for(body, rule, tmp_path):
    record = "class Kept(NamedTuple):\n    a: int\n    b: int\n\n"
    (tmp_path / "some.py").write_text(f"{record}@kernel(inline=True)\n{body}\n")
    assert list(found_in.__wrapped__(tmp_path)) == ([] if rule is None else [f"some.py:f {rule}"])
    (tmp_path / "some.py").write_text(f"{record}{body}\n")  # what is no kernel may do as it likes
    assert not found_in.__wrapped__(tmp_path)
