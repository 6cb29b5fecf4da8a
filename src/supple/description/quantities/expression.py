"""Numbers as expressions with dimensions, parameters, and the evaluation of a description's numbers.

A number in a mechanism file may be `0.5`, `crank/2`, `40deg` or `sqrt(a**2 + b**2)`. The file's parameters are resolved
once. While the parts of the file are built, `number` evaluates expressions with these current parameters.
"""

from __future__ import annotations

import ast
import keyword
import math
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from graphlib import CycleError, TopologicalSorter
from numbers import Real
from types import MappingProxyType
from typing import Any

from supple.description.quantities.arithmetic import FUNCTIONS, names_in, parse, value_of
from supple.description.quantities.dimension import (
    ANGLE,
    PI,
    PLAIN,
    RATIO,
    Dimension,
    Measured,
    common_dimension,
    fits,
    product_dimension,
    require,
    to_power,
)
from supple.description.quantities.unit_parsing import CONSTANTS, UNITS
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import quote

# The dimension of an expression: equal dimensions in sums, exponents in products and powers, functions of numbers.


_TAKES = {
    **dict.fromkeys(("sin", "cos", "tan"), ANGLE),
    **dict.fromkeys(("asin", "acos", "atan", "exp", "log"), RATIO),
}


def dimension_of(tree: ast.expr, names: Mapping[str, float], text: str) -> Dimension | None:
    """Return the dimension of a tree that has a value; None if it depends on a parameter that is a plain number.

    A number in the text is a plain factor (2*crank is a length if crank is one) and can be added to anything. A
    parameter given as a plain number may have any dimension, so that a file without units is never refused.
    """
    try:
        return _dimension(tree, names, text)
    except InputError as error:
        raise InputError(f"{error.message} in {quote(text)}", hint=error.hint) from None


def _dimension(node: ast.expr, names: Mapping[str, float], text: str) -> Dimension | None:
    match node:
        case ast.Attribute(attr=unit):
            return UNITS[unit].dimension
        case ast.Name(id=name) if name in names:
            return getattr(names[name], "dimension", None)
        case ast.Name(id=name):
            return PI if name == "pi" else UNITS[name].dimension if name in UNITS else PLAIN
        case ast.UnaryOp(operand=operand):
            return _dimension(operand, names, text)
        case ast.BinOp(left=left, right=right, op=operation):
            a, b = _dimension(left, names, text), _dimension(right, names, text)
            match operation:
                case ast.Mult():
                    return product_dimension(a, b)
                case ast.Div():
                    return product_dimension(a, to_power(b, -1))
                case ast.Pow():
                    _require(b, RATIO, "an exponent")
                    return to_power(a, value_of(right, names, text))
            return common_dimension(a, b)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _derive_dimension(name, [_dimension(item, names, text) for item in arguments])
    return PLAIN


def _derive_dimension(name: str, arguments: list[Dimension | None]) -> Dimension | None:
    if name == "sqrt":
        return to_power(arguments[0], 0.5)
    if name in _TAKES:
        for item in arguments:
            _require(item, _TAKES[name], f"the argument of {name}")
        return PLAIN
    found = arguments[0]
    for item in arguments[1:]:
        found = common_dimension(found, item)
    return PLAIN if name == "atan2" else found


def _require(dimension: Dimension | None, wanted: Dimension, what: str) -> None:
    if not fits(dimension, wanted):
        raise InputError(f"{what} is {dimension}, but {wanted} is expected", hint="check the units")


# Values: one expression, a block of parameters, and the numbers of a description.


_NONE: Mapping[str, float] = MappingProxyType({})
_current: ContextVar[Mapping[str, float]] = ContextVar("current parameters", default=_NONE)


def evaluate_expression(text: str, names: Mapping[str, float]) -> float:
    """Return the finite value of an expression in SI; `names` take precedence over constants and units."""
    return float(_evaluate_tree(parse(text, names), names, text))


def quantity(text: str, wanted: Dimension | None = None) -> float:
    """Return a value from the command line in SI: `40deg`, `12mm`, `-0.3`, `1.5 rad`, `2*pi/3`.

    wanted : the required dimension, unless the value is a plain number
    """
    found = _evaluate_tree(parse(text), _NONE, text)
    return float(found) if wanted is None else require(found, wanted)


def _evaluate_tree(tree: ast.expr, names: Mapping[str, float], text: str) -> float:
    """Return the value of a tree, with its dimension if it has one."""
    value = value_of(tree, names, text)
    dimension = dimension_of(tree, names, text)
    return value if dimension is None or dimension.plain else Measured(value, dimension, " ".join(text.split()))


def resolve_parameters(
    raw: Mapping[str, float | int | str], overrides: Mapping[str, float | int | str] = _NONE
) -> dict[str, float]:
    """Return the values of parameters that may refer to one another in any order.

    Values with a unit keep their dimension.

    overrides : values that replace those of the file; expressions in the other parameters are allowed
    """
    for name in overrides:
        require_known("parameter", name, raw)
    written = {**raw, **overrides}
    trees: dict[str, ast.expr] = {}
    for name, value in written.items():
        _check_name(name)
        if isinstance(value, str):
            with _about(name):
                trees[name] = parse(value, written)
    needs = {name: names_in(trees[name]) & written.keys() if name in trees else set() for name in written}
    values: dict[str, float] = {}
    for name in _in_order(needs):
        with _about(name):
            value = written[name]
            values[name] = _evaluate_tree(trees[name], values, str(value)) if name in trees else _plain(value)
    return {name: values[name] for name in written}  # in the order of the file


@contextmanager
def use_parameters(values: Mapping[str, float]) -> Iterator[None]:
    """Evaluate expressions with these parameters inside the context."""
    token = _current.set(MappingProxyType(dict(values)))
    try:
        yield
    finally:
        _current.reset(token)


def current_parameters() -> Mapping[str, float]:
    """Return the parameters that `number` currently uses (none outside `use_parameters`)."""
    return _current.get()


def number(value: Any) -> float:
    """Return a number, or the value of an expression in the current parameters, with its dimension.

    Used as a validator of pydantic, which handles only ValueError.
    """
    try:
        names = current_parameters()
        return _evaluate_tree(parse(value, names), names, value) if isinstance(value, str) else _plain(value)
    except InputError as error:
        raise ValueError(str(error)) from error


def _plain(value: Any) -> float:
    """Return a finite float from any real number that is not a bool."""
    if isinstance(value, Measured):
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputError(f"{quote(value)} is not a number", hint="write a number or an expression")
    try:
        result = float(value)
    except OverflowError:
        raise InputError("the number is too large", hint="the limit is 1.8e308") from None
    if not math.isfinite(result):
        raise InputError(f"{result} is not a finite number", hint="remove the key if there is no value")
    return result


@contextmanager
def _about(name: str) -> Iterator[None]:
    """Add the name of the parameter to errors raised in the context."""
    try:
        yield
    except InputError as error:
        raise InputError(
            error.message, part=f'parameter "{name}"', hint=error.hint, path=("parameters", name)
        ) from error


def _check_name(name: str) -> None:
    """Require that a parameter's name can be used in an expression: an identifier, no function, no Python keyword."""
    problem = hint = None
    # A letter that Python normalizes to another one (ϕ to φ) could not be looked up.
    if not name.isidentifier() or unicodedata.normalize("NFKC", name) != name:
        problem, hint = "this name cannot be used in an expression", "use letters, digits and _, starting with a letter"
    elif keyword.iskeyword(name):
        problem, hint = "this name has another meaning in an expression", f'rename it to "{name}_"'
    elif name in FUNCTIONS:
        problem, hint = f"{name} is the name of a function", "choose another name"
    if problem:
        raise InputError(problem, part=f"parameter {quote(name)}", hint=hint, path=("parameters", name))


def _in_order(needs: Mapping[str, set[str]]) -> list[str]:
    """Return the names so that each comes after those it needs."""
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = error.args[1][:0:-1]  # graphlib lists the needed before the needing, and the first one twice
        first = min(circle, key=list(needs).index)
        start = circle.index(first)
        circle = [*circle[start:], *circle[:start], first]
        chain = circle if len(circle) <= 8 else [*circle[:6], "...", first]
        raise InputError(
            f"the definition is circular: {' -> '.join(chain)}",
            part=f'parameter "{first}"',
            hint=f'"{first}" is also a unit; choose another name for the parameter'
            if circle == [first, first] and first in CONSTANTS
            else "replace one of them by a number",
            path=("parameters", first),
        ) from None
