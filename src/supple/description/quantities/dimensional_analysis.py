"""The dimension of an expression: sums of what is alike, products and powers by exponents, functions of numbers."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from supple.description.quantities.arithmetic import value_of
from supple.description.quantities.dimension import (
    ANGLE,
    PI,
    PLAIN,
    RATIO,
    Dimension,
    common_dimension,
    fits,
    product_dimension,
    to_power,
)
from supple.description.quantities.unit_parsing import UNITS
from supple.diagnostics import InputError
from supple.diagnostics.quoting import quoted

_TAKES = {
    **dict.fromkeys(("sin", "cos", "tan"), ANGLE),
    **dict.fromkeys(("asin", "acos", "atan", "exp", "log"), RATIO),
}


def dimension_of(tree: ast.expr, names: Mapping[str, float], text: str) -> Dimension | None:
    """Of a tree that has a value; None where it hangs on a parameter that is a plain number.

    A number in the text is a plain factor (2*crank is a length if crank is one) and joins a sum with anything. A
    parameter given as a plain number may be of any dimension, so that a file without units is never refused.
    """
    try:
        return _dimension(tree, names, text)
    except InputError as error:
        raise InputError(f"{error.message} in {quoted(text)}", hint=error.hint) from None


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
            return _called(name, [_dimension(item, names, text) for item in arguments])
    return PLAIN


def _called(name: str, arguments: list[Dimension | None]) -> Dimension | None:
    if name == "sqrt":
        return to_power(arguments[0], 0.5)
    if name in _TAKES:
        for item in arguments:
            _require(item, _TAKES[name], f"what {name} is taken of")
        return PLAIN
    found = arguments[0]
    for item in arguments[1:]:
        found = common_dimension(found, item)
    return PLAIN if name == "atan2" else found


def _require(dimension: Dimension | None, wanted: Dimension, what: str) -> None:
    if not fits(dimension, wanted):
        raise InputError(f"{what} is {dimension}, and {wanted} is expected", hint="check the units")
