"""Arguments of public functions, looked at before anything is done with them: what their annotations say.

A function that anyone may call begins with

    require_arguments(modes, locals())

and what is of no kind that its signature names is refused in one sentence: `count: it is "few"; give a whole number`.
Kinds that have rules of their own (what a motion may be, or a region) are left to whoever reads them.
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args, get_origin

from supple.diagnostics.errors import InputError, excerpt, quoted

_BEYOND = 1e100  # frequencies, gains and weights: their squares are still numbers
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
"""Names for what several functions take, spelled out."""


class ArgumentKind(NamedTuple):
    """What an argument may be: `words` for the message, and whether a value fits."""

    words: str
    fits: Callable[[Any], bool]


def require_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse the first argument that is of none of the kinds its annotation names; given : {name: value}."""
    for name, kinds in _signature(function):
        if not any(kind.fits(given[name]) for kind in kinds):
            wanted = " or ".join(dict.fromkeys(kind.words for kind in kinds if kind.words))
            more = _INSTEAD.get((type(given[name]).__name__, wanted), "")
            raise InputError(f"it is {value_text(given[name])}", part=name, hint=f"give {wanted}{more}")


def require_one(kind: type, value: Any, part: str) -> None:
    """Refuse what is not of a class."""
    if not isinstance(value, kind):
        raise InputError(f"it is {value_text(value)}", part=part, hint=f"give {kind.__name__}")


def real_numbers(part: str, values: Any, *, finite: bool = True) -> Any:
    """Values as an array of floats; texts, complex numbers, unequal lists, NaN and ∞ are refused."""
    import numpy as np

    if not _is_array(values):
        raise InputError(f"it is {value_text(values)}", part=part, hint="give numbers")
    found = np.asarray(values, dtype=float)
    if finite and not np.isfinite(found).all():
        raise InputError("holds values that are not finite", part=part, hint="leave them out")
    return found


def value_text(value: Any) -> str:
    """A value as a message shows it; of what cannot be shown, its type."""
    if isinstance(value, str):
        return quoted(value)
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - whatever its own __repr__ raises
        text = ""
    plain = isinstance(value, (Real, complex, bytes, list, tuple, dict, set, type(None)))
    return excerpt(text) if plain and text else _one(type(value).__name__)


@lru_cache(maxsize=512)
def _signature(function: Callable[..., Any]) -> tuple[tuple[str, tuple[ArgumentKind, ...]], ...]:
    """The arguments that can be looked at, with their kinds."""
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
    """All that an annotation allows; None where a part of it has rules of its own."""
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
        return _mapping(_kinds(inner[1], known))
    thing = known.get(name)
    if get_origin(thing) is Literal:
        return [_one_of(list(get_args(thing)))]
    if isinstance(thing, type) and name != "Any" and not getattr(thing, "_is_protocol", False):
        return [ArgumentKind(_one(name), lambda value: isinstance(value, thing))]
    if thing is None and name in _CLASSES:  # imported for its type alone
        return [ArgumentKind(_one(name), lambda value: name in {base.__name__ for base in type(value).__mro__})]
    return None


def _parts(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """`Mapping[str, float]` as its name and what stands in its brackets."""
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return _parts(node.value)[0], list(inner)
    if isinstance(node, ast.Attribute):
        return node.attr, []
    return (node.id if isinstance(node, ast.Name) else ""), []


def _each(items: list[ArgumentKind] | None) -> ArgumentKind:
    """Any number of things of one kind."""
    if items is None:
        return ArgumentKind("a list", is_list)
    of = " or ".join(dict.fromkeys(_plural(kind.words) for kind in items if kind.words))
    return ArgumentKind(
        f"a list of {of}", lambda value: is_list(value) and all(any(k.fits(x) for k in items) for x in value)
    )


def _in_turn(places: list[list[ArgumentKind] | None]) -> ArgumentKind:
    """One thing of each kind, as a pair of numbers."""

    def fits(value: Any) -> bool:
        if not is_list(value) or len(value) != len(places):
            return False
        return all(kinds is None or any(k.fits(x) for k in kinds) for kinds, x in zip(places, value, strict=True))

    words = [" or ".join(kind.words for kind in kinds or ()) for kinds in places]
    same = len(set(words)) == 1 and words[0]
    return ArgumentKind(f"{len(places)} {_plural(words[0])}" if same else f"{len(places)} values", fits)


def _mapping(items: list[ArgumentKind] | None) -> list[ArgumentKind]:
    def fits(value: Any) -> bool:
        if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
            return False
        return items is None or all(any(kind.fits(item) for kind in items) for item in value.values())

    of = "" if items is None else " or ".join(dict.fromkeys(kind.words for kind in items if kind.words))
    return [ArgumentKind(f"{{name: {of}}}" if of else "values by name", fits)]


def _one_of(allowed: list[Any]) -> ArgumentKind:
    """Which word it is, whoever reads it says, with the nearest one; here only that it is a word."""
    said = ", ".join(quoted(item) for item in allowed)
    return ArgumentKind(f"one of {said}", lambda value: isinstance(value, str))


def _one(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIOUaeio" else f"a {name}"


def _plural(words: str) -> str:
    article, _, name = words.partition(" ")
    return f"{name}s" if article in ("a", "an") else words


def is_text(value: Any, *allowed: str) -> bool:
    """Whether it is one of some words; nothing else is compared with them."""
    return isinstance(value, str) and value in allowed


def is_list(value: Any) -> bool:
    """Several things in order; a text is one thing."""
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
    """Whole numbers as arrays can hold them."""
    return not isinstance(value, Integral) or -(2**63) <= int(value) < 2**63


def _is_sized(value: Any) -> bool:
    """More than one number, or what a single one may be."""
    import numpy as np

    return _is_array(value) and (np.ndim(value) > 0 or (_is_number(value) and abs(value) <= _BEYOND))


def _is_array(value: Any, kinds: str = "biuf") -> bool:
    """Numbers in one block; texts, mappings and lists of lists of unequal length are none."""
    if isinstance(value, (str, bytes, bytearray, Mapping, set, frozenset, type(None))) or callable(value):
        return False
    import numpy as np

    try:
        kind = np.asarray(value).dtype.kind
    except Exception:  # noqa: BLE001 - whatever its own __array__ raises
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
    "int": ArgumentKind("a whole number", _is_whole),
    "float": ArgumentKind("a number", _is_number),
    "Finite": ArgumentKind("a number", lambda value: _is_number(value) and abs(value) <= _BEYOND),
    "bool": ArgumentKind("True or False", _is_truth),
    "str": ArgumentKind("a text", lambda value: isinstance(value, str) and "\0" not in value),
    "Path": ArgumentKind("a path", _is_path),
    "PathLike": ArgumentKind("a path", _is_path),
    "ArrayLike": ArgumentKind("numbers", _is_array),
    "Sized": ArgumentKind("numbers", _is_sized),
    "ComplexLike": ArgumentKind("numbers", lambda value: _is_array(value, "biufc")),
    "Callable": ArgumentKind("a function", callable),
}
_NAMED = {
    "seed": ArgumentKind("a whole number from 0 on", lambda value: _is_whole(value) and value >= 0),
    "sample_time": ArgumentKind("a number of seconds above 0", lambda value: _is_number(value) and 0.0 < value <= 1e6),
    "computation_delay": ArgumentKind(
        "a number of seconds from 0 on", lambda value: _is_number(value) and 0.0 <= value <= 1e6
    ),
}
"""Arguments that are alike wherever they stand."""
_INSTEAD = {
    ("ReducedModel", "a Mechanism"): "; a reduced model has its own: model.linearize(...), model.frf(...)",
}
"""Taken for each other: what is given, what is wanted, and what else was meant."""
_CLASSES = ("Mechanism", "ReducedModel", "LinearModel", "Configuration", "Trajectory", "Responses", "TimeRecords")
