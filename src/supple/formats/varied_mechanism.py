"""Mechanism with other parameter values, or with some parameters left open: one description for all values.

Numbers are expressions in parameters μ; they are evaluated again for other values, with everything that depends on
them.
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
from supple.diagnostics import InputError, require_known
from supple.diagnostics.errors import quote
from supple.formats.mechanism_file import Parameters, loads, mechanism_of
from supple.formats.mechanism_text import as_text, to_yaml
from supple.formats.source import reader_of, source_of
from supple.formats.yaml_tree import YamlTree

# A mechanism from the same description with other values of some of its parameters.


def vary_mechanism(mechanism: Mechanism, values: Parameters) -> Mechanism:
    """Build the mechanism again from its description with these parameter values.

    Tables or a URDF that belong to the file are read again, since numbers in them may use parameters too.
    """
    require_parameters(mechanism, values)
    reader = reader_of(mechanism)
    return from_written(mechanism, values) if reader is None else reader(values)


def from_written(mechanism: Mechanism, values: Parameters) -> Mechanism:
    """Build the mechanism again from the expressions of its own description only."""
    written, tree = written_data(mechanism), source_of(mechanism)
    if tree is None:
        return mechanism_of(YamlTree(written, {}, "the mechanism"), parameters=values)
    whole = YamlTree(written, tree.lines, tree.file, tree.files, tree.names, tree.taken)
    return mechanism_of(whole, parameters=values, folder=Path(tree.file).parent)


def written_data(mechanism: Mechanism) -> dict[str, Any]:
    """Return the data a mechanism was built from, with its expressions, before parameters were evaluated."""
    found = mechanism.recall("written")
    return _plain(mechanism.model_dump(exclude_defaults=True, by_alias=True) if found is None else found)


def changed_parameters(first: Mechanism, other: Mechanism) -> dict[str, float]:
    """Return the parameters whose values differ in a second mechanism of the same description.

    Parameters that only follow from others are not included.
    """
    before, after = (written_data(item).get("parameters") or {} for item in (first, other))
    given = [name for name, value in after.items() if value != before.get(name)]
    return {name: float(other.parameters[name]) for name in given if first.parameters[name] != other.parameters[name]}


def depends(mechanism: Mechanism, other: Mechanism) -> bool:
    """Return whether two mechanisms differ in more than their parameters."""
    fields = [name for name in type(mechanism).model_fields if name != "parameters"]
    return any(getattr(mechanism, name) != getattr(other, name) for name in fields)


def require_parameters(mechanism: Mechanism, names: Iterable[str], part: str = "parameters") -> None:
    """Raise an InputError for the first name that is not a parameter of the mechanism."""
    for name in names:
        require_known("parameter", name, mechanism.parameters, empty="add it under parameters:, and use it", part=part)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(exclude_defaults=True, by_alias=True))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


# A mechanism with some of its parameters left open.


_KEPT = 72  # cached mechanisms with their results: enough for the levels of fits and the values of checks
_ASIDE = (
    "supple",
    "configurations",
    "motions",
    "scenarios",
    "description",
)  # sections that do not change the mechanics
_FIRST = "mechanism whose modes it follows"


class VariedMechanism:
    """Mechanism as a function of open parameters μ.

    Without open parameters it is always the same mechanism.

    names   : names of μ
    values  : values of μ of the nominal mechanism; default: the mechanism's own
    nominal : the mechanism at `values`, with whose modes those of all others are aligned
    """

    def __init__(self, mechanism: Mechanism, names: Sequence[str] = (), values: Sequence[float] | None = None):
        self.names = tuple(names)
        self._origin, self._written, self._tree = mechanism, written_data(mechanism), source_of(mechanism)
        require_parameters(mechanism, self.names, "vary")
        for name in self.names:
            _require_followed(name, self._tree)
        own = tuple(float(mechanism.parameters[name]) for name in self.names)
        self.values = own if values is None else tuple(float(value) for value in values)
        self.nominal = mechanism if self.values == own else self.build(self.values)
        self._made: OrderedDict[tuple[float, ...], Mechanism] = OrderedDict()

    def at(self, values: Sequence[float]) -> Mechanism:
        """Return the mechanism at values of μ; InputError if it does not exist."""
        key = tuple(float(value) + 0.0 for value in values)
        if key == self.values:
            return self.nominal
        if key not in self._made:
            made = self.build(key)
            made.compute_once(_FIRST, lambda: first_of(self.nominal) or self.nominal)
            self._made[key] = made
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]

    def parts(self, x: Array) -> Iterator[tuple[Mechanism, NDArray[np.int64], Array]]:
        """Yield mechanisms for points x = (θ, μ) (N, s + p), each with its rows of x, and their θ."""
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
        """The description at the nominal values as a mechanism file, with expressions of open parameters."""
        if not self.names:
            return to_yaml(self.nominal)
        folder = Path(self._tree.file).parent if self._tree is not None else Path()
        data = {key: value for key, value in self._written.items() if key != "supple"}
        data["parameters"] = {**data["parameters"], **dict(zip(self.names, self.values, strict=True))}
        return as_text(_with_whole_paths(data, folder))

    def bare(self, first: bool) -> str:
        """Return the part of the description that coefficients over (θ, μ) depend on, as text.

        Names and the values of μ are not included, except for the values of the first mechanism where modes are aligned
        with its own.
        """
        if not self.names:
            return to_yaml(self.nominal.replace(configurations={}, motions={}, scenarios={}, description=None))
        data = {key: value for key, value in self._written.items() if key not in _ASIDE}
        values = [value if first else None for value in self.values]
        data["parameters"] = {**data["parameters"], **dict(zip(self.names, values, strict=True))}
        files = [body.superelement.digest for body in self.nominal.bodies.values() if body.superelement]
        return as_text({**data, "open": list(self.names), "files": files})

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as text, which reads back to the same numbers."""
        return _restore, (self.text, self.names)

    def build(self, values: Sequence[float]) -> Mechanism:
        """Return a new mechanism at values of μ, which may have a dimension, outside the family."""
        return from_written(self._origin, dict(zip(self.names, values, strict=True)))


def as_varied(mechanism: Mechanism | VariedMechanism) -> VariedMechanism:
    """Return a mechanism as one without open parameters."""
    return VariedMechanism(mechanism) if isinstance(mechanism, Mechanism) else mechanism


def first_of(mechanism: Mechanism) -> Mechanism | None:
    """Return the mechanism whose modes this one's are aligned with, if it is one of a family and not the first."""
    return mechanism.recall(_FIRST)


@lru_cache(maxsize=4)
def _restore(text: str, names: tuple[str, ...]) -> VariedMechanism:
    return VariedMechanism(loads(text), names)


def _require_followed(name: str, tree: YamlTree | None) -> None:
    if tree is not None and name in tree.taken:
        raise InputError(
            "numbers of a table were computed from it when the file was read, so it cannot vary",
            part=f"parameter {quote(name)}",
            hint="convert it to a mechanism file (supple convert) and use expressions in the parameter there",
        )  # fmt: skip


def _with_whole_paths(value: Any, folder: Path, inside: bool = False) -> Any:
    """Return data with absolute paths of superelement files, so that they are found from any folder."""
    if isinstance(value, dict):
        return {key: _with_whole_paths(item, folder, inside or key == "superelement") for key, item in value.items()}
    if isinstance(value, list):
        return [_with_whole_paths(item, folder, inside) for item in value]
    if inside and isinstance(value, str) and (folder / value).is_file():
        return str((folder / value).resolve())
    return value
