"""Arithmetic expressions as text: a syntax tree of numbers, names, operators and functions only.

The text comes from a file or a command line that cannot be trusted, so no part of it is executed. The tree is evaluated
here, every number is a float (no huge integers), and length and depth are limited.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable, Container, Mapping

from supple.description.quantities.unit_parsing import (
    CONSTANTS,
    NOT_ALONE,
    UNITS,
    expand_units,
    nearest_unit,
    unknown_unit,
)
from supple.diagnostics import InputError, describe_unknown, nearest
from supple.diagnostics.errors import excerpt, quote

LONGEST = 500  # characters
DEEPEST = 40  # levels of nested parentheses, calls, signs and powers

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}

_ANY = 1000
FUNCTIONS: dict[str, tuple[Callable[..., float], int, int]] = {  # the function, fewest and most arguments
    "sin": (math.sin, 1, 1), "cos": (math.cos, 1, 1), "tan": (math.tan, 1, 1),
    "asin": (math.asin, 1, 1), "acos": (math.acos, 1, 1), "atan": (math.atan, 1, 1),
    "atan2": (math.atan2, 2, 2), "hypot": (math.hypot, 1, _ANY),
    "sqrt": (math.sqrt, 1, 1), "exp": (math.exp, 1, 1), "log": (math.log, 1, 2), "abs": (abs, 1, 1),
    "min": (lambda *values: min(values), 1, _ANY),
    "max": (lambda *values: max(values), 1, _ANY),
}  # fmt: skip

_REFUSED: dict[type[ast.AST], str] = {
    ast.Attribute: "a dot after a name",
    ast.Subscript: "an index in brackets",
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.JoinedStr: "a string",
    ast.Compare: "a comparison",
    ast.BoolOp: "a logical operator",
    ast.IfExp: "a condition",
    ast.NamedExpr: "an assignment",
    ast.Starred: "a star in a call",
    ast.Tuple: "a comma outside a function",
    ast.List: "a list",
}


def parse(text: str, names: Container[str] = ()) -> ast.expr:
    """Return the syntax tree of an expression, checked only for its length and depth.

    names : names of parameters, for the hint of an error
    """
    if not text.strip():
        raise InputError("the expression is empty", hint="write a number")
    if len(text) > LONGEST:
        raise InputError(
            f"the expression is too long ({len(text)} characters, at most {LONGEST})",
            hint="split it into parameters",
        )
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > DEEPEST:
            raise _too_deep(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser's advice on Python style is not for the user
            # Line ends inside a folded scalar become spaces; a leading space would be an indentation.
            return ast.parse(expand_units(" ".join(text.split())), mode="eval").body
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise _unreadable(text, names) from error


def names_in(tree: ast.expr) -> set[str]:
    """Return the names that an expression needs: all names except those of called functions."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}


def value_of(tree: ast.expr, names: Mapping[str, float], text: str) -> float:
    """Return the finite value of a tree; `names` take precedence over constants and units."""
    return _value(tree, names, text, 0)


def _value(node: ast.expr, names: Mapping[str, float], text: str, depth: int) -> float:
    if depth > DEEPEST:
        raise _too_deep(text)
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _finite("a number", text, float, number)
        case ast.Name(id=name):
            return _evaluate_name(name, names, text)
        case ast.Attribute(value=ast.Constant(value=1), attr=unit) if unit in UNITS:  # written by `expand_units`
            return UNITS[unit].factor
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
            value = _value(operand, names, text, depth + 1)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp():
            return _chain(node, names, text, depth)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _evaluate_call(name, [_value(item, names, text, depth + 1) for item in arguments], text)
        case ast.Call(func=ast.Name()):
            raise InputError(f"named arguments are not allowed in an expression: {quote(text)}")
    raise _refuse(node, text)


def _chain(node: ast.BinOp, names: Mapping[str, float], text: str, depth: int) -> float:
    """Return the value of nested binary operations in a loop: a long sum is deep in the tree, but not to its reader."""
    first: ast.expr = node
    links: list[ast.BinOp] = []
    while isinstance(first, ast.BinOp):
        links.append(first)
        first = first.left
    value = _value(first, names, text, depth + 1)
    for link in reversed(links):
        operation = _OPERATORS.get(type(link.op))
        if operation is None:
            raise InputError(
                f"{quote(text)} uses an operator that is not allowed in an expression",
                hint="use + - * / and ** for powers",
            )
        right = _value(link.right, names, text, depth + 1)
        value = _finite("a result", text, operation, value, right)
    return value


def _evaluate_name(name: str, names: Mapping[str, float], text: str) -> float:
    if name in names:
        return _finite(f'"{name}"', text, float, names[name])
    if name in CONSTANTS and not (name in NOT_ALONE and text.strip() == name):
        return CONSTANTS[name]
    if name in FUNCTIONS:
        raise InputError(f'"{name}" in {quote(text)} is a function', hint=f"write {name}(...)")
    advice = nearest(name, [*names, *CONSTANTS])
    if not advice.startswith("did you mean"):  # list only the user's own names
        listed = nearest(name, names)
        advice = f"known parameters: {listed.removeprefix('known: ')}" if names else "no parameters are defined"
    where = "" if text.strip() == name else f" in {quote(text)}"
    raise InputError(f"unknown name {quote(name)}{where}", hint=advice)


def _evaluate_call(name: str, arguments: list[float], text: str) -> float:
    if name not in FUNCTIONS:
        message, hint = describe_unknown("function", name, FUNCTIONS)
        raise InputError(f"{message} in {quote(text)}", hint=hint)
    function, fewest, most = FUNCTIONS[name]
    if not fewest <= len(arguments) <= most:
        more = "" if fewest == most else " or more" if most == _ANY else f" or {most}"
        raise InputError(f"{name} in {quote(text)} takes {fewest}{more} arguments (got {len(arguments)})")
    listed = ", ".join(f"{item:g}" for item in arguments)
    return _finite(f"{name}({listed})", text, function, *arguments)


def _finite(what: str, text: str, function: Callable[..., float], *arguments: float) -> float:
    """Return the function's finite value, or raise an error with the reason."""
    try:
        value = function(*arguments)
    except ZeroDivisionError:
        raise InputError(f"division by zero in {quote(text)}") from None
    except OverflowError:
        raise InputError(f"{what} is too large in {quote(text)}") from None
    except (ValueError, TypeError):
        raise InputError(f"{what} is not a real number in {quote(text)}") from None
    if isinstance(value, complex):
        raise InputError(f"{what} is complex, not a real number, in {quote(text)}")
    if not math.isfinite(value):
        raise InputError(f"{what} is not finite in {quote(text)}")
    return value


def _refuse(node: ast.expr, text: str) -> InputError:
    if isinstance(node, ast.Constant):
        kinds = {str: "a string", bytes: "a string", complex: "a complex number"}
        kind = kinds.get(type(node.value), repr(node.value))
    elif isinstance(node, ast.Call):  # the called object is not a name
        kind = _REFUSED.get(type(node.func), "such a call")
    else:
        kind = _REFUSED.get(type(node), "this")
    hint = "use numbers, parameters, units, + - * / ** and functions such as sin and sqrt"
    if isinstance(node, ast.Tuple):
        hint = "use a decimal point, not a comma"
    return InputError(f"{kind} is not allowed in an expression: {quote(text)}", hint=hint)


def _too_deep(text: str) -> InputError:
    return InputError(f"{quote(text)} is nested too deeply (at most {DEEPEST} levels)", hint="split it into parameters")


def _unreadable(text: str, names: Container[str]) -> InputError:
    """Return the error for a text that does not parse, with the most likely mistake as its hint."""
    message, hint = f"{quote(text)} is not an arithmetic expression", "write it like 2*crank + 10*mm"
    if glued := unknown_unit(text):
        number, name = glued
        if name in names or name in FUNCTIONS:
            hint = f"write a * between {excerpt(number, 20)} and {excerpt(name, 20)}"
        else:
            message = f"{quote(name, 20)} in {quote(text)} is not a unit or a parameter"
            hint = nearest_unit(name)
    elif text.count("(") != text.count(")"):
        hint = "its parentheses do not match"
    elif called := re.search(r"(?<![\w.])(\d[\d.]*)\s*([^\W\d]\w*)", text):  # 2 min(a, b), where min is also a unit
        hint = f"write a * between {excerpt(called[1], 20)} and {excerpt(called[2], 20)}"
    return InputError(message, hint=hint)
