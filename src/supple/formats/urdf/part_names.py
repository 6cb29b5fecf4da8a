"""Names of links and joints as names of parts: URDF allows any text, a mechanism letters, digits, _ and -."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from supple.description.mechanism import GROUND

_LONGEST = 64
_RESERVED = (GROUND,)


def part_names(written: Iterable[str]) -> dict[str, str]:
    """{name in the URDF: name of the part}, in the order of the file.

    Every character that a name may not have becomes _, a name that does not begin with a letter gets _ in front, and
    what is too long is cut. A name that is taken (or is `ground`) gets _2, _3, ... behind; names that are fine as they
    are come first and stay.
    """
    names = list(dict.fromkeys(written))
    fine = [name for name in names if _mapped(name) == name and name not in _RESERVED]
    taken = {*fine, *_RESERVED}
    found = {name: name for name in fine}
    for name in names:
        if name not in found:
            found[name] = _free(_mapped(name), taken)
            taken.add(found[name])
    return {name: found[name] for name in names}


def unused(wanted: str, taken: Iterable[str]) -> str:
    """A name for a part of our own that no other part has."""
    return _free(wanted[:_LONGEST], set(taken))


def renamed(value: Any, names: dict[str, str]) -> Any:
    """The data of a side-car with names as in the URDF replaced by those of the parts, keys and `name.point` too."""
    if isinstance(value, dict):
        return {_renamed(key, names): renamed(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner, names) for inner in value]
    return _renamed(value, names) if isinstance(value, str) else value


def _renamed(text: str, names: dict[str, str]) -> str:
    if text in names:
        return names[text]
    head, dot, tail = text.rpartition(".")
    return f"{names[head]}.{tail}" if dot and head in names else text


def _mapped(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_\-]", "_", name)
    if not re.match(r"[A-Za-z_]", text):
        text = "_" + text
    return text[:_LONGEST]


def _free(wanted: str, taken: set[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted[: _LONGEST - 1 - len(str(number))]}_{number}"
    return name
