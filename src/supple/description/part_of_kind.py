"""Parts whose kind determines their keys, in addition to the keys that all kinds share.

    revolute: [ground, arm]        the key is the name of a record, which defines its value
    axis: z                        a field that all kinds share

Kinds come from a registry, so that a kind registered later is read, written, checked and documented in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    ConfigDict,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails

from supple.description.quantities.quantity import Part
from supple.kinds.registry import Registry


@dataclass(frozen=True, eq=False)
class Key:
    """Key of a kind: the type of its value and its description."""

    type: Any
    description: str
    required: bool = True

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.type | None)


class PartOfKind(Part):
    """Part that stores the keys of its kind next to its fields, as attributes of the same names."""

    model_config = ConfigDict(extra="allow")

    kinds: ClassVar[Registry[Any]]

    if TYPE_CHECKING:  # only the records know the keys of the kinds

        def __init__(self, **data: Any) -> None: ...

    else:

        def __getattr__(self, name: str) -> Any:
            """Return the value of a kind's key; None for the keys of other kinds."""
            own = self.__pydantic_extra__ or {}
            return own.get(name) if type(self).kinds.at_hand(name) is not None else super().__getattr__(name)

    @property
    def kind(self) -> str:
        """Name of its kind."""
        return next(iter(self.__pydantic_extra__ or ()))

    @property
    def kind_value(self) -> Any:
        """Value of the key that names its kind."""
        return next(iter((self.__pydantic_extra__ or {}).values()))

    def _kinds(self) -> list[str]:
        """Return the names of all kinds that occur among its keys."""
        return [name for name in self.__pydantic_extra__ or () if self.kinds.at_hand(name) is not None]

    @model_validator(mode="wrap")
    @classmethod
    def _keys_of_its_kind(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Validate the values of the kind's keys by its record, and refuse unknown keys."""
        if not isinstance(data, Mapping):
            return handler(data)
        own = {key: value for key, value in data.items() if key not in cls.model_fields}
        chosen = [key for key, value in own.items() if value is not None and cls.kinds.at_hand(key) is not None]
        keys = cls._keys_of(chosen)
        if not own.keys() <= keys.keys():
            chosen = [key for key, value in own.items() if value is not None and key in cls.kinds]
            keys = cls._keys_of(chosen)
        given, faults = _validate_keys(own, keys)
        try:
            found = handler({key: data[key] for key in data if key not in own} | given)
        except ValidationError as error:
            faults += _faults(error)
        faults += cls._unknown_keys(own, keys, chosen)
        if faults:
            raise ValidationError.from_exception_data(cls.__name__, faults)
        return found

    @model_serializer(mode="wrap")
    def _kind_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written = handler(self)
        return {key: written[key] for key in self.__pydantic_extra__ or ()} | written

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        given = {name: getattr(self, name) for name in self.model_fields_set}
        yield from ({key: given[key] for key in self.__pydantic_extra__ or ()} | given).items()

    @classmethod
    def _keys_of(cls, kinds: list[str]) -> dict[str, Key]:
        return {key: what for name in kinds for key, what in cls.kinds[name].keys.items()}

    @classmethod
    def _unknown_keys(
        cls, own: Mapping[str, Any], keys: Mapping[str, Key], chosen: list[str]
    ) -> Iterator[InitErrorDetails]:
        for key, value in own.items():
            if key in keys:
                continue
            if key not in cls.keys_of_kinds():
                yield InitErrorDetails(type="extra_forbidden", loc=(key,), input=value)
            elif value is not None and chosen:
                wrong = ValueError(f"a {chosen[0]} {cls.__name__.lower()} does not have this key")
                yield InitErrorDetails(type="value_error", loc=(key,), input=value, ctx={"error": wrong})

    @classmethod
    def keys_of_kinds(cls) -> dict[str, Any]:
        """Return the keys of all kinds, with their types."""
        return {key: what.type for record in cls.kinds.values() for key, what in record.keys.items()}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        found = handler(core_schema)
        described = handler.resolve_ref_schema(found)
        own = {
            key: {**handler(what.adapter.core_schema), "description": what.description}
            for record in cls.kinds.values()
            for key, what in record.keys.items()
        }
        described["properties"] = {**own, **described["properties"]}
        described["additionalProperties"] = False
        return found


def _validate_keys(own: Mapping[str, Any], keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[InitErrorDetails]]:
    given, faults = {}, []
    for key, what in keys.items():
        if own.get(key) is None:
            if what.required:
                faults.append(InitErrorDetails(type="missing", loc=(key,), input=own))
            continue
        try:
            given[key] = what.adapter.validate_python(own[key])
        except ValidationError as error:
            faults += _faults(error, key)
    return given, faults


def _faults(error: ValidationError, *within: str) -> Iterator[InitErrorDetails]:
    """Yield the errors that pydantic found, in the form in which they can be raised again."""
    for item in error.errors(include_url=False):
        yield InitErrorDetails(
            type=item["type"], loc=(*within, *item["loc"]), input=item["input"], ctx=item.get("ctx", {})
        )
