"""Which keys a model of pydantic's allows at a path of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from supple.description.part_of_kind import PartOfKind
from supple.formats.yaml_tree import KeyPath


def fields_of(model: type[BaseModel]) -> Callable[[KeyPath], list[str]]:
    """The function that `as_input_error` asks for the names allowed at a path."""

    def fields_at(path: KeyPath) -> list[str]:
        types: list[Any] = [model]
        for item in path:
            types = [inner for outer in types for inner in _inside(outer, item)]
        return list(dict.fromkeys(name for each in types if _is_model(each) for name in _names(each)))

    return fields_at


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _names(model: type[BaseModel]) -> dict[str, Any]:
    """The keys of a model as they stand in a file, with their types."""
    own = model.keys_of_kinds() if issubclass(model, PartOfKind) else {}
    return {**own, **{field.alias or name: field.annotation for name, field in model.model_fields.items()}}


def _inside(kind: Any, item: str | int) -> Iterator[Any]:
    """The types that may stand at a key or index of a value of this type, alternatives side by side."""
    if _is_model(kind):
        yield from _alternatives(_names(kind).get(str(item)))
        return
    origin, arguments = get_origin(kind), get_args(kind)
    if not isinstance(origin, type) or not arguments:
        return
    if issubclass(origin, Mapping):
        yield from _alternatives(arguments[1])
    elif issubclass(origin, Sequence):
        for each in arguments:
            yield from _alternatives(each)


def _alternatives(kind: Any) -> Iterator[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _alternatives(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for each in get_args(kind):
            yield from _alternatives(each)
    else:
        yield kind
