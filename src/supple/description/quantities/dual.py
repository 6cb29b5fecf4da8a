"""Dual numbers: arithmetic and functions propagate derivatives, exact to rounding.

(a, a') (b, b') = (ab, a'b + ab'), and so on: one evaluation gives the derivative of an expression, or of a section's
constants. [Griewank and Walther 2008, forward mode]
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.quantities.arithmetic import value_of
from supple.diagnostics import InputError


class Dual:
    """Value and its derivatives (k,) with respect to k parameters."""

    __slots__ = ("slopes", "value")
    __array_ufunc__ = None  # a numpy scalar on the left delegates the product to this class

    def __init__(self, value: float, slopes: Array):
        self.value, self.slopes = float(value), slopes

    def __repr__(self) -> str:
        return f"Dual({self.value:g}, {self.slopes})"

    def __add__(self, other: Any) -> Dual:
        b, db = _parts(other)
        return Dual(self.value + b, self.slopes + db)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slopes)

    def __pos__(self) -> Dual:
        return self

    def __sub__(self, other: Any) -> Dual:
        return self + -other

    def __rsub__(self, other: Any) -> Dual:
        return -self + other

    def __mul__(self, other: Any) -> Dual:
        b, db = _parts(other)
        return Dual(self.value * b, self.slopes * b + self.value * db)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Dual:
        b, db = _parts(other)
        return Dual(self.value / b, (self.slopes - self.value / b * db) / b)

    def __rtruediv__(self, other: Any) -> Dual:
        return Dual(float(other), np.zeros_like(self.slopes)) / self

    def __pow__(self, other: Any) -> Dual:
        b, db = _parts(other)
        value = self.value**b
        along = b * self.value ** (b - 1.0) * self.slopes if b else np.zeros_like(self.slopes)
        return Dual(value, along + (math.log(self.value) * value * db if np.any(db) else 0.0))

    def __rpow__(self, other: Any) -> Dual:
        return Dual(float(other), np.zeros_like(self.slopes)) ** self

    def __abs__(self) -> Dual:
        return -self if self.value < 0.0 else self

    def __lt__(self, other: Any) -> bool:
        return self.value < _parts(other)[0]

    def __gt__(self, other: Any) -> bool:
        return self.value > _parts(other)[0]

    def __bool__(self) -> bool:
        return bool(self.value)

    def through(self, function: Callable[[float], float], slope: float) -> Dual:
        """Return f(x) with its derivative f'(x) times the slopes."""
        return Dual(function(self.value), slope * self.slopes)


def _parts(other: Any) -> tuple[float, Any]:
    return (other.value, other.slopes) if isinstance(other, Dual) else (float(other), 0.0)


_SLOPES: dict[str, Callable[[float], float]] = {
    "sin": math.cos, "cos": lambda x: -math.sin(x), "tan": lambda x: 1.0 + math.tan(x) ** 2,
    "asin": lambda x: 1.0 / math.sqrt(1.0 - x * x), "acos": lambda x: -1.0 / math.sqrt(1.0 - x * x),
    "atan": lambda x: 1.0 / (1.0 + x * x), "sqrt": lambda x: 0.5 / math.sqrt(x), "exp": math.exp,
}  # fmt: skip


def dual_of(tree: ast.expr, names: Mapping[str, Any], text: str) -> Any:
    """Return the value of an expression; a Dual if it depends on one of the `names` that is a Dual."""
    moving = {name for name, value in names.items() if isinstance(value, Dual)}
    if not any(isinstance(node, ast.Name) and node.id in moving for node in ast.walk(tree)):
        plain = {name: value for name, value in names.items() if name not in moving}
        return value_of(tree, plain, text)
    match tree:
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -dual_of(operand, names, text)
        case ast.UnaryOp(operand=operand):
            return dual_of(operand, names, text)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = dual_of(left, names, text), dual_of(right, names, text)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow():
                    return a**b
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _evaluate_call(name, [dual_of(item, names, text) for item in arguments], text)
    raise InputError(f'the derivative of "{text}" is not supported', hint="use + - * / ** and functions")


def _evaluate_call(name: str, given: list[Any], text: str) -> Any:
    if name in _SLOPES:
        (x,) = given
        return x.through(getattr(math, name), _SLOPES[name](x.value))
    if name in ("min", "max"):
        return (min if name == "min" else max)(given, key=lambda item: _parts(item)[0])
    if name == "abs":
        return abs(given[0])
    if name == "hypot":
        return sum(item * item for item in given) ** 0.5
    if name == "atan2":
        y, x = given
        square = _parts(x)[0] ** 2 + _parts(y)[0] ** 2
        slopes = (_parts(y)[1] * _parts(x)[0] - _parts(x)[1] * _parts(y)[0]) / square
        return Dual(math.atan2(_parts(y)[0], _parts(x)[0]), slopes)
    if name == "log":
        found = [_logarithm(item) for item in given]
        return found[0] if len(found) == 1 else found[0] / found[1]
    raise InputError(f'the derivative of {name} in "{text}" is not supported', hint="use other functions")


def _logarithm(x: Any) -> Any:
    return x.through(math.log, 1.0 / x.value) if isinstance(x, Dual) else math.log(x)
