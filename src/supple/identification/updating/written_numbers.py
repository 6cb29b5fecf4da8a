"""The numbers of a description that can be identified, by name, and what follows from each.

A number is one of the file's `parameters:`, or one that stands in a part: `elbow.rx` of a joint, `arm.drive`,
`steel.E`, `tube.area`, `platform.mass`. Everything written as an expression in it follows, with exact slopes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import numpy as np

from supple.array_types import Array
from supple.description.joints.elasticity import RIGID
from supple.description.mechanism import Mechanism
from supple.description.quantities.arithmetic import names_in, parse
from supple.description.quantities.dual import Dual, dual_of
from supple.diagnostics import InputError, nearest
from supple.formats.source import source_of

Path = tuple[str, ...]

VALUES = "values"  # of a table
_SHORT = {"youngs_modulus": "E", "shear_modulus": "G", "density": "rho", "poisson": "nu"}
# What in a part enters mass and stiffness; other numbers move places, or enter neither.
_FIELDS = {
    "joints": ("stiffness", "elastic", "drive"),
    "couplings": ("stiffness",),
    "springs": ("stiffness",),
    "materials": ("youngs_modulus", "shear_modulus", "density", "poisson"),
    "bodies": ("mass", "line_mass", "inertia", "solid"),
    "point_masses": ("mass", "inertia"),
}
# Numbers that say where things are: what depends on one of them is no matter of mass and stiffness alone.
_PLACING = {
    "bodies": ("length", "center", "at", "rotation", "beams"),
    "frames": ("at", "local", "rotation"),
    "joints": ("rest", "axis", "axes", "pitch"),
    "springs": ("rest", "length"),
    "couplings": ("ratio", "sum", "rest"),
}
_ALL_PLACING = ("points", "rest", "configurations", "angle", "shift", "through", "about", "mirror")
_NAMES = ("at", "from", "to", "section", "material", "theory", "about", "axis")  # as plain words they are names


@dataclass(frozen=True)
class WrittenNumber:
    """A number in a part of the description.

    path  : in the data of the file; name : the short one
    parts : of the mechanism that it is in (copies have one each); field : which number of theirs
    """

    path: Path
    name: str
    section: str
    parts: tuple[str, ...]
    field: Path
    text: Any


class Member(NamedTuple):
    """A number that a name stands for, where it is written, and its ratio to the first one."""

    name: str
    path: Path
    ratio: float


@dataclass(frozen=True, eq=False)
class Numbers:
    """Chosen numbers, and all that follows from them.

    names (k,), values (k,) as the mechanism has them; members : the numbers that share each, in fixed ratios
    followers : numbers in parts that depend on them
    """

    mechanism: Mechanism
    names: tuple[str, ...]
    values: Array
    members: tuple[tuple[Member, ...], ...]
    followers: tuple[WrittenNumber, ...]
    parameters: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.names)

    def at(self, values: Array) -> list[Any]:
        """Of each follower its value with its slopes (k,), the chosen numbers being `values`."""
        duals = [Dual(float(x), unit) for x, unit in zip(values, np.eye(len(values)), strict=True)]
        shared = [(item, item.ratio * dual) for dual, group in zip(duals, self.members, strict=True) for item in group]
        given = {item.name: dual for item, dual in shared if item.path[0] == "parameters"}
        names = _resolved(self.parameters, given, self.mechanism)
        direct = {item.path: dual for item, dual in shared if item.path[0] != "parameters"}
        return [
            direct[item.path] if item.path in direct else dual_of(parse(str(item.text), names), names, str(item.text))
            for item in self.followers
        ]


def numbers_of(
    mechanism: Mechanism, wanted: Sequence[str] | Mapping[str, str | Sequence[str]], fixed: Sequence[str] = ()
) -> Numbers:
    """The numbers that names or patterns (`knee_*`) mean, without those that `fixed` does.

    wanted : patterns, each number by itself; `elbow:elbow_r*`, or a mapping {"elbow": "elbow_r*"}: all that match share
             one factor, as the stiffnesses of equal joints do
    """
    data, taken = _data(mechanism)
    parameters = _parameters(mechanism, data)
    written = list(_written(mechanism, data))
    short = _names(written)
    needs = {name: _needs(text, parameters) for name, text in parameters.items()}
    known = {**dict.fromkeys(parameters), **short}
    found: dict[str, WrittenNumber | None] = {}
    groups: dict[str, list[str]] = {}
    for pattern, shared in _asked(wanted):
        for name in _matching(pattern, known):
            if name in found or any(fnmatchcase(name, item) or name == _spelled(item) for item in fixed):
                continue
            problem = _problem(name, known[name], written, needs, taken, data, parameters)
            if problem is None:
                found[name] = known[name]
                groups.setdefault(shared or name, []).append(name)
            elif not _pattern(pattern):
                raise InputError(
                    problem, part=f'number "{name}"', hint="choose stiffnesses, materials, sections, masses"
                )
    for pattern in fixed:
        _matching(pattern, known)  # a slip of the pen is told
    if not found:
        raise InputError(
            f"nothing that can be identified is called {', '.join(wanted) or '(nothing)'}", part="parameters",
            hint=nearest(next(iter(wanted), ""), known) if known else "write numbers under `parameters:`",
        )  # fmt: skip
    followers = tuple(
        item for item in written if item in found.values() or _reaches(set(found), _names_of(item.text, needs), needs)
    )
    values = {name: _value(mechanism, name, item) for name, item in found.items()}
    for name, value in values.items():
        if not value > 0.0:
            raise InputError(
                f"it is {value:g}, and only positive numbers are identified, by their logarithm",
                part=f'number "{name}"', hint="leave it out",
            )  # fmt: skip
    paths = {name: ("parameters", name) if item is None else item.path for name, item in found.items()}
    members = tuple(
        tuple(Member(name, paths[name], values[name] / values[group[0]]) for name in group) for group in groups.values()
    )
    first = np.array([values[group[0]] for group in groups.values()])
    return Numbers(mechanism, tuple(groups), first, members, followers, parameters)


def _asked(wanted: Sequence[str] | Mapping[str, str | Sequence[str]]) -> Iterator[tuple[str, str | None]]:
    """Patterns, and the name that what they match shares."""
    if isinstance(wanted, Mapping):
        for shared, patterns in wanted.items():
            for pattern in [patterns] if isinstance(patterns, str) else patterns:
                yield pattern, shared
        return
    for item in wanted:
        shared, colon, pattern = item.partition(":")
        yield (pattern.strip(), shared.strip()) if colon else (item.strip(), None)


def _data(mechanism: Mechanism) -> tuple[Mapping[str, Any], frozenset[str]]:
    tree = source_of(mechanism)
    if tree is None:
        return mechanism.model_dump(exclude_defaults=True, by_alias=True), frozenset()
    return tree.data, tree.taken


def _parameters(mechanism: Mechanism, data: Mapping[str, Any]) -> dict[str, Any]:
    """As they are written; as numbers where the mechanism was loaded with others."""
    written = data.get("parameters") or {}
    found: dict[str, Any] = {}
    for name, value in mechanism.parameters.items():
        text = written.get(name, float(value))
        if isinstance(text, str):
            other = {key: float(item) for key, item in mechanism.parameters.items()}
            same = dual_of(parse(text, other), {key: item for key, item in other.items() if key != name}, text)
            text = text if abs(float(same) - float(value)) <= 1e-12 * abs(float(value)) else float(value)
        found[name] = text if isinstance(text, str) else float(value)
    return found


def _needs(text: Any, parameters: Mapping[str, Any]) -> set[str]:
    return set(_needed(text, tuple(parameters))) if isinstance(text, str) else set()


@lru_cache(maxsize=4096)
def _needed(text: str, parameters: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names_in(parse(text, dict.fromkeys(parameters))) & set(parameters))


def _resolved(parameters: Mapping[str, Any], given: Mapping[str, Any], mechanism: Mechanism) -> dict[str, Any]:
    """All parameters, those that depend on the given ones with their slopes."""
    needs = {name: set() if name in given else _needs(text, parameters) for name, text in parameters.items()}
    found: dict[str, Any] = {}
    for name in TopologicalSorter(needs).static_order():
        text = parameters[name]
        if name in given:
            found[name] = given[name]
        elif isinstance(text, str) and any(isinstance(found[item], Dual) for item in needs[name]):
            found[name] = dual_of(parse(text, parameters), found, text)
        else:
            found[name] = float(mechanism.parameters[name])
    return found


def _written(mechanism: Mechanism, data: Mapping[str, Any]) -> Iterator[WrittenNumber]:
    """All numbers of parts that enter mass and stiffness."""
    origins: dict[tuple[str, str], Path] = mechanism.remembered("copied", dict)
    copies: dict[Path, list[str]] = {}
    for (_, called), origin in origins.items():
        copies.setdefault(origin, []).append(called)
    for prefix, group in _groups(data):
        for section in (*_FIELDS, "sections"):
            for name, part in (group.get(section) or {}).items():
                path = (*prefix, section, name)
                names = tuple(copies.get(path, [name]))
                if names[0] not in getattr(mechanism, section) or not isinstance(part, Mapping):
                    continue
                for field, text in _leaves(part, ()):
                    if section != "sections" and field[0] not in _FIELDS[section]:
                        continue
                    if isinstance(text, bool) or not isinstance(text, int | float | str) or field[-1] == "damping":
                        continue
                    own = field
                    if section == "joints" and field[0] in ("stiffness", "elastic"):
                        way = _direction(mechanism, names[0], field)
                        if way is None or text == RIGID:
                            continue
                        own = ("stiffness", way, *field[2:])
                    yield WrittenNumber((*path, *field), _short(name, section, own), section, names, own, text)


def _direction(mechanism: Mechanism, joint: str, field: Path) -> str | None:
    """The direction that a number of a joint's stiffness is along; None where directions are coupled, or it is none."""
    found = mechanism.joints[joint].elasticity(mechanism.plane)
    if len(field) == 4:
        return field[1] if field[1] in found.tables and field[2] == VALUES else None
    if len(field) != 2 or np.any(found.K - np.diag(np.diag(found.K))):
        return None
    way = found.directions[int(field[1])] if field[1].isdecimal() else field[1]
    return None if way in found.tables or way not in (*found.soft, *found.driven.values()) else way


def _groups(data: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield (), data
    for name, group in (data.get("copies") or {}).items():
        yield ("copies", name), group


def _leaves(part: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(part, Mapping):
        for key, value in part.items():
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(part, list | tuple):
        for i, value in enumerate(part):
            yield from _leaves(value, (*path, str(i)))
    else:
        yield path, part


def _short(name: str, section: str, field: Path) -> str:
    if section == "joints":
        return f"{name}.{'.'.join(item for item in field if item not in ('elastic', 'stiffness'))}"
    return f"{name}.{'.'.join(_SHORT.get(item, item) for item in field)}"


def _names(written: Sequence[WrittenNumber]) -> dict[str, WrittenNumber]:
    """By short names, or by whole paths where two would be called the same."""
    found: dict[str, list[WrittenNumber]] = {}
    for item in written:
        found.setdefault(item.name, []).append(item)
    return {(name if len(items) == 1 else ".".join(item.path)): item for name, items in found.items() for item in items}


def _spelled(name: str) -> str:
    """`ankle.kx` is another way to write `ankle.x`."""
    part, dot, last = name.rpartition(".")
    return f"{part}{dot}{last[1:]}" if dot and last in ("kx", "ky", "kz", "krx", "kry", "krz") else name


def _pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")


def _matching(pattern: str, known: Mapping[str, Any]) -> list[str]:
    name = _spelled(pattern)
    found = [item for item in known if fnmatchcase(item, name)] if _pattern(name) else [name] * (name in known)
    if not found:
        raise InputError(f'no number of the file is called "{pattern}"', part="parameters", hint=nearest(name, known))
    return found


def _reaches(chosen: set[str], names: set[str], needs: Mapping[str, set[str]]) -> bool:
    """Whether some of `names` follows from one that is chosen."""
    todo, seen = set(names), set()
    while todo:
        name = todo.pop()
        if name in chosen:
            return True
        seen.add(name)
        todo |= needs.get(name, set()) - seen
    return False


def _names_of(text: Any, needs: Mapping[str, Any]) -> set[str]:
    return names_in(parse(text, needs)) & set(needs) if isinstance(text, str) else set()


def _problem(
    name: str, item: WrittenNumber | None, written: Sequence[WrittenNumber], needs: Mapping[str, set[str]],
    taken: frozenset[str], data: Mapping[str, Any], parameters: Mapping[str, Any],
) -> str | None:  # fmt: skip
    """Why a number cannot be identified, or None."""
    if item is not None:
        return None
    if _reaches({name}, set(taken), needs):
        return "it enters the tables of geometry or masses, and lengths and places are not identified"
    for prefix, group in _groups(data):
        for path, text in _leaves(group, ()):
            if not isinstance(text, str) or not _placing(path):
                continue
            if _depends(name, text, needs, parameters):
                return f"{'.'.join((*prefix, *path))} depends on it, and lengths and places are not identified"
    if not any(_reaches({name}, _names_of(other.text, needs), needs) for other in written):
        return "no stiffness, section, material or mass depends on it"
    return None


def _placing(path: Path) -> bool:
    """Whether a number at this path says where something is."""
    if path[0] in _ALL_PLACING:
        return True
    return path[0] in _PLACING and len(path) > 2 and path[2] in _PLACING[path[0]] and path[-1] not in _NAMES


def _depends(name: str, text: str, needs: Mapping[str, set[str]], parameters: Mapping[str, Any]) -> bool:
    try:
        found = names_in(parse(text, parameters)) & set(parameters)
    except InputError:
        return False  # a name, or a sentence
    return _reaches({name}, found, needs)


def _value(mechanism: Mechanism, name: str, item: WrittenNumber | None) -> float:
    if item is None:
        return float(mechanism.parameters[name])
    part: Any = getattr(mechanism, item.section)[item.parts[0]]
    if item.section == "joints" and item.field[0] == "stiffness":
        found = part.elasticity(mechanism.plane)
        if len(item.field) == 4:
            return float(found.tables[item.field[1]].values[int(item.field[3])])
        i = found.directions.index(item.field[1])
        return float(found.K[i, i])
    return float(at_path(part, item.field))


def at_path(part: Any, path: Path) -> Any:
    """What stands at a path in a part of a mechanism, or in the data of its file."""
    for key in path:
        if isinstance(part, Mapping):
            part = part[key]
        else:
            part = part[int(key)] if isinstance(part, list | tuple) else getattr(part, key)
    return part


def no_numbers(mechanism: Mechanism) -> Numbers:
    """None at all: the mechanism as it stands."""
    return Numbers(mechanism, (), np.zeros(0), (), (), _parameters(mechanism, _data(mechanism)[0]))
