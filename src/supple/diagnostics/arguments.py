"""Checks of arguments of public functions against their annotations.

A public function begins with

    require_arguments(modes, locals())

An argument of a type that the signature does not allow is refused: `count: must be an integer (got "few")`. Types with
rules of their own (a motion, a region) are checked by the functions that read them.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args, get_origin

from supple.diagnostics.errors import InputError, excerpt, quote

_BEYOND = 1e100  # limit of frequencies, gains and weights: their squares are still finite
_ALIASES = {
    "At": "str | Mapping[str, Any] | ArrayLike | None",
    "PerCoordinate": "Finite | Mapping[str, Finite] | Sized",
    "Weights": "Finite | Mapping[str, Finite] | Sized",
    "Matrix": "Finite | Mapping[str, Finite] | Sized",
    "Parameters": "Mapping[str, Any]",
    "Array": "ArrayLike",
    "NDArray": "ArrayLike",
    "Progress": "Callable",
    "Count": 'int | Literal["auto"]',
    "Bound": "float | tuple[float, float] | ArrayLike",
}
"""Type aliases of annotations, spelled out."""


class ArgumentKind(NamedTuple):
    """An allowed kind of argument: `words` for the message, and a test of values."""

    words: str
    fits: Callable[[Any], bool]


def require_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse the first argument whose annotation does not allow its value; given : {name: value}."""
    for name, kinds in _signature(function):
        if not any(kind.fits(given[name]) for kind in kinds):
            wanted = " or ".join(dict.fromkeys(kind.words for kind in kinds if kind.words))
            hint = _INSTEAD.get((type(given[name]).__name__, wanted))
            raise InputError(f"must be {wanted} (got {value_text(given[name])})", part=name, hint=hint)


def require_one(kind: type, value: Any, part: str) -> None:
    """Refuse a value that is not of a class."""
    if not isinstance(value, kind):
        raise InputError(f"must be {kind.__name__} (got {value_text(value)})", part=part)


def real_numbers(part: str, values: Any, *, finite: bool = True) -> Any:
    """Return values as an array of floats; refuse texts, complex numbers, ragged lists, NaN and ∞."""
    import numpy as np

    if not _is_array(values):
        raise InputError(f"must be numbers (got {value_text(values)})", part=part)
    found = np.asarray(values, dtype=float)
    if finite and not np.isfinite(found).all():
        raise InputError("must be finite (contains NaN or infinity)", part=part, hint="remove these values")
    return found


def value_text(value: Any) -> str:
    """Format a value for a message; objects without a short text are named by their type."""
    if isinstance(value, str):
        return quote(value)
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - any error of the value's own __repr__
        text = ""
    plain = isinstance(value, (Real, complex, bytes, list, tuple, dict, set, type(None)))
    return excerpt(text) if plain and text else _one(type(value).__name__)


@lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> tuple[tuple[str, tuple[ArgumentKind, ...]], ...]:
    """Return the arguments that can be checked, with their allowed kinds."""
    known = getattr(inspect.unwrap(function), "__globals__", {})
    found = []
    for name, one in inspect.signature(function).parameters.items():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) or not isinstance(one.annotation, str):
            continue
        kinds = _kinds(ast.parse(one.annotation, mode="eval").body, known)
        if kinds is not None and name in _NAMED:
            kinds = [_NONE] * (_NONE in kinds) + [_NAMED[name]]
        if kinds is not None:
            found.append((name, tuple(kinds)))
    return tuple(found)


def _kinds(node: ast.expr, known: Mapping[str, Any]) -> list[ArgumentKind] | None:
    """Return the kinds that an annotation allows; None if a part of it has rules of its own."""
    if isinstance(node, ast.BinOp):  # a | b
        both = [_kinds(side, known) for side in (node.left, node.right)]
        return None if None in both else [kind for side in both for kind in side or ()]
    if isinstance(node, ast.Constant):
        return [_NONE] if node.value is None else _kinds(ast.parse(str(node.value), mode="eval").body, known)
    name, inner = _parts(node)
    if name in _ALIASES and name not in _OWN:
        return _kinds(ast.parse(_ALIASES[name], mode="eval").body, known)
    if name in _OWN:
        return [_OWN[name]]
    if name == "Literal":
        return [_one_of([item.value for item in inner if isinstance(item, ast.Constant)])]
    if name in ("Sequence", "list") and inner:
        return [_each(_kinds(inner[0], known))]
    if name == "tuple" and inner and not any(isinstance(item, ast.Constant) for item in inner):
        return [_in_turn([_kinds(item, known) for item in inner])]
    if name == "Mapping" and len(inner) == 2:
        return _describe_mapping(_kinds(inner[1], known))
    thing = known.get(name)
    if get_origin(thing) is Literal:
        return [_one_of(list(get_args(thing)))]
    if isinstance(thing, type) and name != "Any" and not getattr(thing, "_is_protocol", False):
        return [ArgumentKind(_one(name), lambda value: isinstance(value, thing))]
    if thing is None and name in _CLASSES:  # imported only for type checking
        return [ArgumentKind(_one(name), lambda value: name in {base.__name__ for base in type(value).__mro__})]
    return None


def _parts(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """Split `Mapping[str, float]` into its name and the items in brackets."""
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _parts(node.value)[0], list(inner)
    if isinstance(node, ast.Attribute):
        return node.attr, []
    return (node.id if isinstance(node, ast.Name) else ""), []


def _each(items: list[ArgumentKind] | None) -> ArgumentKind:
    """Return the kind of lists whose items have one of these kinds."""
    if items is None:
        return ArgumentKind("a list", is_list)
    of = " or ".join(dict.fromkeys(_plural(kind.words) for kind in items if kind.words))
    return ArgumentKind(
        f"a list of {of}", lambda value: is_list(value) and all(any(k.fits(x) for k in items) for x in value)
    )


def _in_turn(places: list[list[ArgumentKind] | None]) -> ArgumentKind:
    """Return the kind of tuples with one item of each kind, such as a pair of numbers."""

    def fits(value: Any) -> bool:
        if not is_list(value) or len(value) != len(places):
            return False
        return all(kinds is None or any(k.fits(x) for k in kinds) for kinds, x in zip(places, value, strict=True))

    words = [" or ".join(kind.words for kind in kinds or ()) for kinds in places]
    same = len(set(words)) == 1 and words[0]
    return ArgumentKind(f"{len(places)} {_plural(words[0])}" if same else f"{len(places)} values", fits)


def _describe_mapping(items: list[ArgumentKind] | None) -> list[ArgumentKind]:
    def fits(value: Any) -> bool:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            return False
        return items is None or all(any(kind.fits(item) for kind in items) for item in value.values())

    of = "" if items is None else " or ".join(dict.fromkeys(kind.words for kind in items if kind.words))
    return [ArgumentKind(f"{{name: {of}}}" if of else "values by name", fits)]


def _one_of(allowed: list[Any]) -> ArgumentKind:
    """Return the kind of one word of a list; functions check the word itself, and suggest the nearest one."""
    return ArgumentKind(f"one of {', '.join(quote(item) for item in allowed)}", lambda value: isinstance(value, str))


def _one(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIOUaeio" else f"a {name}"


def _plural(words: str) -> str:
    article, _, name = words.partition(" ")
    return f"{name}s" if article in ("a", "an") else words


def is_text(value: Any, *allowed: str) -> bool:
    """Return whether a value is a text and one of the allowed words."""
    return isinstance(value, str) and value in allowed


def is_list(value: Any) -> bool:
    """Return whether a value is a sequence; a text is not one."""
    if isinstance(value, (str, bytes, bytearray, Mapping)):
        return False
    return isinstance(value, Sequence) or (hasattr(value, "dtype") and getattr(value, "ndim", 0) == 1)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_truth(value)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _is_number(value: Any) -> bool:
    if hasattr(value, "dtype") and getattr(value, "ndim", 1) == 0 and value.dtype.kind in "iuf":
        value = value.item()
    return isinstance(value, Real) and not _is_truth(value) and value == value and _in_range(value)


def _in_range(value: Any) -> bool:
    """Return whether an integer fits into 64 bits."""
    return not isinstance(value, Integral) or -(2**63) <= int(value) < 2**63


def _is_sized(value: Any) -> bool:
    """Return whether a value is an array, or a number within the limit."""
    import numpy as np

    return _is_array(value) and (np.ndim(value) > 0 or (_is_number(value) and abs(value) <= _BEYOND))


def _is_array(value: Any, kinds: str = "biuf") -> bool:
    """Return whether a value converts to an array of numbers; texts, mappings and ragged lists do not."""
    if isinstance(value, (str, bytes, bytearray, Mapping, set, frozenset, type(None))) or callable(value):
        return False
    import numpy as np

    try:
        kind = np.asarray(value).dtype.kind
    except Exception:  # noqa: BLE001 - any error of the value's own __array__
        return False
    return kind in kinds


def _is_path(value: Any) -> bool:
    if not isinstance(value, (str, os.PathLike)):
        return False
    text = os.fspath(value)
    return isinstance(text, str) and bool(text) and "\0" not in text


_NONE = ArgumentKind("", lambda value: value is None)
_OWN = {
    "None": _NONE,
    "int": ArgumentKind("an integer", _is_whole),
    "float": ArgumentKind("a number", _is_number),
    "Finite": ArgumentKind("a number", lambda value: _is_number(value) and abs(value) <= _BEYOND),
    "bool": ArgumentKind("True or False", _is_truth),
    "str": ArgumentKind("a string", lambda value: isinstance(value, str) and "\0" not in value),
    "Path": ArgumentKind("a path", _is_path),
    "PathLike": ArgumentKind("a path", _is_path),
    "ArrayLike": ArgumentKind("numbers", _is_array),
    "Sized": ArgumentKind("numbers", _is_sized),
    "ComplexLike": ArgumentKind("numbers", lambda value: _is_array(value, "biufc")),
    "Callable": ArgumentKind("a function", callable),
}
_NAMED = {
    "seed": ArgumentKind("an integer from 0", lambda value: _is_whole(value) and value >= 0),
    "sample_time": ArgumentKind("a positive number of seconds", lambda value: _is_number(value) and 0.0 < value <= 1e6),
    "computation_delay": ArgumentKind(
        "a number of seconds, zero or positive", lambda value: _is_number(value) and 0.0 <= value <= 1e6
    ),
}
"""Arguments with the same rule in all functions."""
_INSTEAD = {
    ("ReducedModel", "a Mechanism"): "a reduced model has its own methods: model.linearize(...), model.frf(...)",
}
"""Hints for arguments that are often confused: given type, required type, and hint."""
_CLASSES = ("Mechanism", "ReducedModel", "LinearModel", "Configuration", "Trajectory", "Responses", "TimeRecords")
