"""A part of one kind, whose record says which keys it has beside those that all kinds share.

    revolute: [ground, arm]        the key is the name of a record, its value is what the record asks for
    axis: z                        a field that all kinds share

Kinds come from a registry, so that one that is registered later is read, written, checked and described like the rest.
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
    """The type of what stands behind a key, and what it is, in words."""

    type: Any
    says: str
    required: bool = True

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.type | None)


class PartOfKind(Part):
    """Its kind's keys are kept beside the fields, under their names."""

    model_config = ConfigDict(extra="allow")

    kinds: ClassVar[Registry[Any]]

    if TYPE_CHECKING:  # the keys of kinds are known to their records alone

        def __init__(self, **data: Any) -> None: ...

    else:

        def __getattr__(self, name: str) -> Any:
            """What the user wrote under the name of a kind: None of all but its own."""
            own = self.__pydantic_extra__ or {}
            return own.get(name) if type(self).kinds.at_hand(name) is not None else super().__getattr__(name)

    @property
    def kind(self) -> str:
        return next(iter(self.__pydantic_extra__ or ()))

    @property
    def said(self) -> Any:
        """What stands behind the name of its kind."""
        return next(iter((self.__pydantic_extra__ or {}).values()))

    def _kinds(self) -> list[str]:
        """Names of the kinds it is said to be of, among all its keys."""
        return [name for name in self.__pydantic_extra__ or () if self.kinds.at_hand(name) is not None]

    @model_validator(mode="wrap")
    @classmethod
    def _keys_of_its_kind(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Values under the kind's keys are what its record asks for, and there are no others."""
        if not isinstance(data, Mapping):
            return handler(data)
        own = {key: value for key, value in data.items() if key not in cls.model_fields}
        chosen = [key for key, value in own.items() if value is not None and cls.kinds.at_hand(key) is not None]
        keys = cls._keys_of(chosen)
        if not own.keys() <= keys.keys():
            chosen = [key for key, value in own.items() if value is not None and key in cls.kinds]
            keys = cls._keys_of(chosen)
        given, faults = _validated(own, keys)
        try:
            found = handler({key: data[key] for key in data if key not in own} | given)
        except ValidationError as error:
            faults += _faults(error)
        faults += cls._strangers(own, keys, chosen)
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
    def _strangers(
        cls, own: Mapping[str, Any], keys: Mapping[str, Key], chosen: list[str]
    ) -> Iterator[InitErrorDetails]:
        for key, value in own.items():
            if key in keys:
                continue
            if key not in cls.keys_of_kinds():
                yield InitErrorDetails(type="extra_forbidden", loc=(key,), input=value)
            elif value is not None and chosen:
                wrong = ValueError(f"a {chosen[0]} {cls.__name__.lower()} has none")
                yield InitErrorDetails(type="value_error", loc=(key,), input=value, ctx={"error": wrong})

    @classmethod
    def keys_of_kinds(cls) -> dict[str, Any]:
        """The keys of every kind, with their types."""
        return {key: what.type for record in cls.kinds.values() for key, what in record.keys.items()}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        found = handler(core_schema)
        described = handler.resolve_ref_schema(found)
        own = {
            key: {**handler(what.adapter.core_schema), "description": what.says}
            for record in cls.kinds.values()
            for key, what in record.keys.items()
        }
        described["properties"] = {**own, **described["properties"]}
        described["additionalProperties"] = False
        return found


def _validated(own: Mapping[str, Any], keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[InitErrorDetails]]:
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
    """What pydantic found, to be raised again."""
    for item in error.errors(include_url=False):
        yield InitErrorDetails(
            type=item["type"], loc=(*within, *item["loc"]), input=item["input"], ctx=item.get("ctx", {})
        )
