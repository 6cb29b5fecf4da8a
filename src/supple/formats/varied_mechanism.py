"""A mechanism with other values of its parameters, or with some of them left open: one description, any values.

Numbers are written as expressions in parameters μ; read again with other values, everything that follows from them
follows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.diagnostics.errors import quoted
from supple.formats.mechanism_file import Parameters, loads, mechanism_of
from supple.formats.mechanism_text import as_text, to_yaml
from supple.formats.source import reader_of, source_of
from supple.formats.yaml_tree import YamlTree

# The mechanism of the same description with other values of some of its parameters.


def varied(mechanism: Mechanism, values: Parameters) -> Mechanism:
    """Built once more as it was written, with these values; parameters that follow from others follow.

    A robot's tables or a URDF beside the file are read again: numbers in them may use parameters too.
    """
    require_parameters(mechanism, values)
    reader = reader_of(mechanism)
    return from_written(mechanism, values) if reader is None else reader(values)


def from_written(mechanism: Mechanism, values: Parameters) -> Mechanism:
    """Built once more from the expressions of its own description alone."""
    written, tree = written_data(mechanism), source_of(mechanism)
    if tree is None:
        return mechanism_of(YamlTree(written, {}, "the mechanism"), parameters=values)
    whole = YamlTree(written, tree.lines, tree.file, tree.files, tree.names, tree.taken)
    return mechanism_of(whole, parameters=values, folder=Path(tree.file).parent)


def written_data(mechanism: Mechanism) -> dict[str, Any]:
    """What a mechanism was built from, before its parameters were put in: plain data with expressions."""
    found = mechanism.known("written")
    return _plain(mechanism.model_dump(exclude_defaults=True, by_alias=True) if found is None else found)


def changed_parameters(first: Mechanism, other: Mechanism) -> dict[str, float]:
    """Parameters of another mechanism of the same description that have other values there; not what follows from
    them."""
    before, after = (written_data(item).get("parameters") or {} for item in (first, other))
    given = [name for name, value in after.items() if value != before.get(name)]
    return {name: float(other.parameters[name]) for name in given if first.parameters[name] != other.parameters[name]}


def depends(mechanism: Mechanism, other: Mechanism) -> bool:
    """Whether they differ in more than their parameters."""
    fields = [name for name in type(mechanism).model_fields if name != "parameters"]
    return any(getattr(mechanism, name) != getattr(other, name) for name in fields)


def require_parameters(mechanism: Mechanism, names: Iterable[str], part: str = "parameters") -> None:
    """These are parameters of the mechanism; an InputError where they are not."""
    for name in names:
        if name not in mechanism.parameters:
            hint = nearest(name, mechanism.parameters) if mechanism.parameters else "write numbers as expressions in it"
            raise InputError(f"there is no parameter {quoted(name)}", part=part, hint=hint)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(exclude_defaults=True, by_alias=True))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


# A mechanism with some of its parameters left open.


_KEPT = 72  # mechanisms that are remembered, with all that was worked out: levels of fits, values of checks, and some
_ASIDE = ("supple", "configurations", "motions", "scenarios", "description")  # they only name things
_FIRST = "the one whose modes it follows"


class VariedMechanism:
    """A mechanism with parameters μ left open: the mechanism at any values of them.

    One that was left as it is has no parameters that are open, and is itself wherever it is asked for.

    nominal : the mechanism at `values`, whose modes those of all others are turned to; names : of μ

    values : of μ there, the mechanism's own if left out
    """

    def __init__(self, mechanism: Mechanism, names: Sequence[str] = (), values: Sequence[float] | None = None):
        self.names = tuple(names)
        self._origin, self._written, self._tree = mechanism, written_data(mechanism), source_of(mechanism)
        require_parameters(mechanism, self.names, "vary")
        for name in self.names:
            _require_followed(name, self._tree)
        own = tuple(float(mechanism.parameters[name]) for name in self.names)
        self.values = own if values is None else tuple(float(value) for value in values)
        self.nominal = mechanism if self.values == own else self.built(self.values)
        self._made: OrderedDict[tuple[float, ...], Mechanism] = OrderedDict()

    def at(self, values: Sequence[float]) -> Mechanism:
        """The mechanism at values of μ; InputError where there is none."""
        key = tuple(float(value) + 0.0 for value in values)
        if key == self.values:
            return self.nominal
        if key not in self._made:
            made = self.built(key)
            made.remembered(_FIRST, lambda: first_of(self.nominal) or self.nominal)
            self._made[key] = made
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]

    def parts(self, x: Array) -> Iterator[tuple[Mechanism, NDArray[np.int64], Array]]:
        """Points x = (θ, μ) (N, s + p) by mechanisms: each with the rows that are its own, and their θ."""
        count = len(self.names)
        if not count:
            yield self.nominal, np.arange(len(x)), x
            return
        theta, mu = np.ascontiguousarray(x[:, :-count]), x[:, -count:] + 0.0
        distinct, which = np.unique(mu, axis=0, return_inverse=True)
        for n, values in enumerate(distinct):
            rows = np.flatnonzero(which.ravel() == n)
            yield self.at(values.tolist()), rows, theta[rows]

    @property
    def text(self) -> str:
        """The description at the nominal values as a mechanism file, with its expressions where parameters are open."""
        if not self.names:
            return to_yaml(self.nominal)
        folder = Path(self._tree.file).parent if self._tree is not None else Path()
        data = {key: value for key, value in self._written.items() if key != "supple"}
        data["parameters"] = {**data["parameters"], **dict(zip(self.names, self.values, strict=True))}
        return as_text(_with_whole_paths(data, folder))

    def bare(self, first: bool) -> str:
        """What coefficients over (θ, μ) depend on, as text: not what only names things, not the values of μ, but for
        those of the first mechanism where modes are turned to its own."""
        if not self.names:
            return to_yaml(self.nominal.replace(configurations={}, motions={}, scenarios={}, description=None))
        data = {key: value for key, value in self._written.items() if key not in _ASIDE}
        values = [value if first else None for value in self.values]
        data["parameters"] = {**data["parameters"], **dict(zip(self.names, values, strict=True))}
        files = [body.superelement.digest for body in self.nominal.bodies.values() if body.superelement]
        return as_text({**data, "open": list(self.names), "files": files})

    def __reduce__(self) -> tuple[Any, ...]:
        """To other processes as text, which reads back to the same numbers."""
        return _arrived, (self.text, self.names)

    def built(self, values: Sequence[float]) -> Mechanism:
        """The mechanism at values of μ, which may know their dimension, made anew and not of the family."""
        return from_written(self._origin, dict(zip(self.names, values, strict=True)))


def as_varied(mechanism: Mechanism | VariedMechanism) -> VariedMechanism:
    """A mechanism as one without parameters that are open."""
    return VariedMechanism(mechanism) if isinstance(mechanism, Mechanism) else mechanism


def first_of(mechanism: Mechanism) -> Mechanism | None:
    """The mechanism whose modes those of this one are turned to, where it is one of a family and not the first."""
    return mechanism.known(_FIRST)


@lru_cache(maxsize=4)
def _arrived(text: str, names: tuple[str, ...]) -> VariedMechanism:
    return VariedMechanism(loads(text), names)


def _require_followed(name: str, tree: YamlTree | None) -> None:
    if tree is not None and name in tree.taken:
        raise InputError(
            "numbers of a table were worked out from it when the file was read", part=f"parameter {quoted(name)}",
            hint="write it as a file of its own (supple convert), and there numbers as expressions in the parameter",
        )  # fmt: skip


def _with_whole_paths(value: Any, folder: Path, inside: bool = False) -> Any:
    """Files of superelements by their whole paths, so that they are found from anywhere."""
    if isinstance(value, dict):
        return {key: _with_whole_paths(item, folder, inside or key == "superelement") for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_paths(item, folder, inside) for item in value]
    if inside and isinstance(value, str) and (folder / value).is_file():
        return str((folder / value).resolve())
    return value
