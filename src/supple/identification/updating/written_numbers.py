"""Parameters of a description that can be identified, by name, and the values that depend on each.

A parameter is an entry of the file's `parameters:`, or a value of a part: `elbow.rx` of a joint, `arm.drive`,
`steel.E`, `tube.area`, `platform.mass`. Every expression that contains it follows, with exact derivatives.
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
from supple.diagnostics import InputError, nearest, unknown_name
from supple.formats.source import source_of

Path = tuple[str, ...]

VALUES = "values"  # of a table
_SHORT = {"youngs_modulus": "E", "shear_modulus": "G", "density": "rho", "poisson": "nu"}
# Values of parts that enter mass and stiffness; other values move points, or enter neither.
_FIELDS = {
    "joints": ("stiffness", "elastic", "drive"),
    "couplings": ("stiffness",),
    "springs": ("stiffness",),
    "materials": ("youngs_modulus", "shear_modulus", "density", "poisson"),
    "bodies": ("mass", "line_mass", "inertia", "solid"),
    "point_masses": ("mass", "inertia"),
}
# Values that define geometry: parameters that they depend on affect more than mass and stiffness.
_PLACING = {
    "bodies": ("length", "center", "at", "rotation", "beams"),
    "frames": ("at", "local", "rotation"),
    "joints": ("rest", "axis", "axes", "pitch"),
    "springs": ("rest", "length"),
    "couplings": ("ratio", "sum", "rest"),
}
_ALL_PLACING = ("points", "rest", "configurations", "angle", "shift", "through", "about", "mirror")
_NAMES = ("at", "from", "to", "section", "material", "theory", "about", "axis")  # single words here are names


@dataclass(frozen=True)
class WrittenNumber:
    """A value of a part of the description.

    path  : in the data of the file; name : the short one
    parts : of the mechanism that have it (copies have one each); field : path of the value in a part
    """

    path: Path
    name: str
    section: str
    parts: tuple[str, ...]
    field: Path
    text: Any


class Member(NamedTuple):
    """A value that a parameter sets, its path in the file, and its ratio to the first one."""

    name: str
    path: Path
    ratio: float


@dataclass(frozen=True, eq=False)
class Numbers:
    """Chosen parameters, and all values that depend on them.

    names (k,), values (k,) in the mechanism; members : the values that share each, in fixed ratios
    followers : values of parts that depend on them
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
        """Return the value of each follower with its slopes (k,), at these values of the parameters."""
        duals = [Dual(float(x), unit) for x, unit in zip(values, np.eye(len(values)), strict=True)]
        shared = [(item, item.ratio * dual) for dual, group in zip(duals, self.members, strict=True) for item in group]
        given = {item.name: dual for item, dual in shared if item.path[0] == "parameters"}
        names = _resolve(self.parameters, given, self.mechanism)
        direct = {item.path: dual for item, dual in shared if item.path[0] != "parameters"}
        return [
            direct[item.path] if item.path in direct else dual_of(parse(str(item.text), names), names, str(item.text))
            for item in self.followers
        ]


def numbers_of(
    mechanism: Mechanism, chosen: Sequence[str] | Mapping[str, str | Sequence[str]], fixed: Sequence[str] = ()
) -> Numbers:
    """Return the parameters that match names or patterns (`knee_*`), without those in `fixed`.

    chosen : patterns, each match a parameter of its own; with `elbow:elbow_r*`, or a mapping {"elbow": "elbow_r*"}, all
             matches share one factor, such as the stiffnesses of equal joints
    """
    data, taken = _data(mechanism)
    parameters = _parameters(mechanism, data)
    written = list(_part_values(mechanism, data))
    short = _names(written)
    needs = {name: _needs(text, parameters) for name, text in parameters.items()}
    known = {**dict.fromkeys(parameters), **short}
    found: dict[str, WrittenNumber | None] = {}
    groups: dict[str, list[str]] = {}
    for pattern, shared in _patterns(chosen):
        for name in _match_names(pattern, known):
            if name in found or any(fnmatchcase(name, item) or name == _usual_spelling(item) for item in fixed):
                continue
            problem = _problem(name, known[name], written, needs, taken, data, parameters)
            if problem is None:
                found[name] = known[name]
                groups.setdefault(shared or name, []).append(name)
            elif not _pattern(pattern):
                raise InputError(
                    problem, part=f'parameter "{name}"', hint="choose stiffnesses, materials, sections or masses"
                )
    for pattern in fixed:
        _match_names(pattern, known)  # refuses a pattern without match
    if not found:
        raise InputError(
            f"no parameter that can be identified matches {', '.join(chosen) or '(nothing)'}", part="parameters",
            hint=nearest(next(iter(chosen), ""), known) if known else "define values under `parameters:`",
        )  # fmt: skip
    followers = tuple(
        item for item in written if item in found.values() or _reaches(set(found), _names_of(item.text, needs), needs)
    )
    values = {name: _value(mechanism, name, item) for name, item in found.items()}
    for name, value in values.items():
        if not value > 0.0:
            raise InputError(
                f"must be positive to be identified, by its logarithm (got {value:g})",
                part=f'parameter "{name}"', hint="leave it out",
            )  # fmt: skip
    paths = {name: ("parameters", name) if item is None else item.path for name, item in found.items()}
    members = tuple(
        tuple(Member(name, paths[name], values[name] / values[group[0]]) for name in group) for group in groups.values()
    )
    first = np.array([values[group[0]] for group in groups.values()])
    return Numbers(mechanism, tuple(groups), first, members, followers, parameters)


def _patterns(chosen: Sequence[str] | Mapping[str, str | Sequence[str]]) -> Iterator[tuple[str, str | None]]:
    """Yield patterns, and the name of the factor that their matches share."""
    if isinstance(chosen, Mapping):
        for shared, patterns in chosen.items():
            for pattern in [patterns] if isinstance(patterns, str) else patterns:
                yield pattern, shared
        return
    for item in chosen:
        shared, colon, pattern = item.partition(":")
        yield (pattern.strip(), shared.strip()) if colon else (item.strip(), None)


def _data(mechanism: Mechanism) -> tuple[Mapping[str, Any], frozenset[str]]:
    tree = source_of(mechanism)
    if tree is None:
        return mechanism.model_dump(exclude_defaults=True, by_alias=True), frozenset()
    return tree.data, tree.taken


def _parameters(mechanism: Mechanism, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters as written in the file, or as numbers if the mechanism was loaded with other values."""
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
    return set(_parameters_in(text, tuple(parameters))) if isinstance(text, str) else set()


@lru_cache(maxsize=4096)
def _parameters_in(text: str, parameters: tuple[str, ...]) -> frozenset[str]:
    return frozenset(names_in(parse(text, dict.fromkeys(parameters))) & set(parameters))


def _resolve(parameters: Mapping[str, Any], given: Mapping[str, Any], mechanism: Mechanism) -> dict[str, Any]:
    """Return all parameters; those that depend on the given ones with their slopes."""
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


def _part_values(mechanism: Mechanism, data: Mapping[str, Any]) -> Iterator[WrittenNumber]:
    """Yield all values of parts that enter mass and stiffness."""
    origins: dict[tuple[str, str], Path] = mechanism.compute_once("copied", dict)
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
                        direction = _direction(mechanism, names[0], field)
                        if direction is None or text == RIGID:
                            continue
                        own = ("stiffness", direction, *field[2:])
                    yield WrittenNumber((*path, *field), _short(name, section, own), section, names, own, text)


def _direction(mechanism: Mechanism, joint: str, field: Path) -> str | None:
    """Return the direction of a joint's stiffness value; None if directions are coupled, or it is not a stiffness."""
    found = mechanism.joints[joint].elasticity(mechanism.plane)
    if len(field) == 4:
        return field[1] if field[1] in found.tables and field[2] == VALUES else None
    if len(field) != 2 or np.any(found.K - np.diag(np.diag(found.K))):
        return None
    direction = found.directions[int(field[1])] if field[1].isdecimal() else field[1]
    return None if direction in found.tables or direction not in (*found.soft, *found.driven.values()) else direction


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
    """Return the values by short names, or by whole paths where short names would be equal."""
    found: dict[str, list[WrittenNumber]] = {}
    for item in written:
        found.setdefault(item.name, []).append(item)
    return {(name if len(items) == 1 else ".".join(item.path)): item for name, items in found.items() for item in items}


def _usual_spelling(name: str) -> str:
    """Return the usual spelling of a name: `ankle.kx` means `ankle.x`."""
    part, dot, last = name.rpartition(".")
    return f"{part}{dot}{last[1:]}" if dot and last in ("kx", "ky", "kz", "krx", "kry", "krz") else name


def _pattern(text: str) -> bool:
    return any(mark in text for mark in "*?[")


def _match_names(pattern: str, known: Mapping[str, Any]) -> list[str]:
    name = _usual_spelling(pattern)
    found = [item for item in known if fnmatchcase(item, name)] if _pattern(name) else [name] * (name in known)
    if not found:
        raise unknown_name("parameter", pattern, known, part="parameters")
    return found


def _reaches(chosen: set[str], names: set[str], needs: Mapping[str, set[str]]) -> bool:
    """Return True if one of `names` depends on a chosen one."""
    todo, visited = set(names), set()
    while todo:
        name = todo.pop()
        if name in chosen:
            return True
        visited.add(name)
        todo |= needs.get(name, set()) - visited
    return False


def _names_of(text: Any, needs: Mapping[str, Any]) -> set[str]:
    return names_in(parse(text, needs)) & set(needs) if isinstance(text, str) else set()


def _problem(
    name: str, item: WrittenNumber | None, written: Sequence[WrittenNumber], needs: Mapping[str, set[str]],
    taken: frozenset[str], data: Mapping[str, Any], parameters: Mapping[str, Any],
) -> str | None:  # fmt: skip
    """Return the reason why a parameter cannot be identified, or None."""
    if item is not None:
        return None
    if _reaches({name}, set(taken), needs):
        return "it affects tables of geometry or masses; lengths and positions cannot be identified"
    for prefix, group in _groups(data):
        for path, text in _leaves(group, ()):
            if not isinstance(text, str) or not _is_geometry(path):
                continue
            if _depends(name, text, needs, parameters):
                return f"{'.'.join((*prefix, *path))} depends on it; lengths and positions cannot be identified"
    if not any(_reaches({name}, _names_of(other.text, needs), needs) for other in written):
        return "no stiffness, section, material or mass depends on it"
    return None


def _is_geometry(path: Path) -> bool:
    """Return True if a value at this path defines geometry."""
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
    """Return the value at a path in a part of a mechanism, or in the data of its file."""
    for key in path:
        if isinstance(part, Mapping):
            part = part[key]
        else:
            part = part[int(key)] if isinstance(part, list | tuple) else getattr(part, key)
    return part


def no_parameters(mechanism: Mechanism) -> Numbers:
    """Return an empty set of parameters of the mechanism."""
    return Numbers(mechanism, (), np.zeros(0), (), (), _parameters(mechanism, _data(mechanism)[0]))
