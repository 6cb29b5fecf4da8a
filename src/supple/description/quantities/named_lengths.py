"""Lengths of a shape: in a fixed order, or by name with alternatives.

tube: [16 mm, 14 mm]                  in the order outer, inner
tube: {outer: 16 mm, wall: 1 mm}      by name; `wall` replaces `inner`
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Discriminator, Tag, create_model

from supple.description.quantities.quantity import Part, PositiveLength


class Alternative(NamedTuple):
    """Alternative length of a shape, given in place of one of its own.

    replaces : name of the length it replaces
    length   : function of all lengths by name (those given, and the alternative itself) that returns the replaced one
    """

    replaces: str
    length: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, eq=False)
class NamedLengths:
    """Lengths of one shape.

    owner, shape : the parts that have the shape ("section", "solid"), and its key; both name the type in the schema
    names        : in the order of the positional form
    alternatives : other lengths by name; an alternative may refer to lengths whose own alternative was given
    types        : type of each length in the positional form; default: positive lengths
    """

    owner: str
    shape: str
    names: tuple[str, ...]
    alternatives: Mapping[str, Alternative] = field(default_factory=dict)
    types: tuple[Any, ...] = ()

    @property
    def positional(self) -> Any:
        """Type of the positional form: one length, or as many as there are names."""
        types = self.types or (PositiveLength,) * len(self.names)
        return types[0] if len(types) == 1 else tuple.__class_getitem__(types)

    @cached_property
    def either(self) -> Any:
        """Type of both forms; the named form is a model whose attributes are the lengths."""
        of = dict(zip(self.names, self.types or (PositiveLength,) * len(self.names), strict=True))
        of |= dict.fromkeys(self.alternatives, PositiveLength)
        fields: dict[str, Any] = {name: (what | None, None) for name, what in of.items()}
        called = f"{self.owner.title()}{self.shape.title().replace('_', '')}Lengths"
        text = f"Lengths of a {self.shape} ({self.owner}) by name, m."
        named: Any = create_model(called, __base__=Part, __doc__=text, **fields)
        checked = Annotated[named, AfterValidator(self._complete)]
        return Annotated[
            Annotated[self.positional, Tag("positional")] | Annotated[checked, Tag("named")],
            Discriminator(_detect_form),
        ]

    @cached_property
    def positional_type(self) -> Any:
        """Type of both forms, with the named form converted to the positional one."""
        return Annotated[
            self.either, AfterValidator(lambda given: given if _plain(given) else self._list_lengths(given))
        ]

    def _list_lengths(self, given: Any) -> Any:
        found = self.values(given)
        return found[0] if len(found) == 1 else found

    def values(self, given: Any, changed: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """Return the lengths in their order.

        Parameters
        ----------
        given : float, tuple or model
            Lengths as they were read, m.
        changed : mapping, optional
            Other values by name, or by position ("0", "1") for the positional form.
        """
        changed = changed or {}
        if _plain(given):
            listed = given if isinstance(given, tuple) else (given,)
            return tuple(changed.get(str(i), value) for i, value in enumerate(listed))
        known = {name: changed.get(name, value) for name, value in given if value is not None}
        for name, other in self.alternatives.items():
            if name in known:
                known[other.replaces] = other.length(known)
        return tuple(known[name] for name in self.names)

    def _complete(self, given: Any) -> Any:
        """Require that each length is given once, by its name or by an alternative, and is positive."""
        for name in self.names:
            others = [key for key, other in self.alternatives.items() if other.replaces == name]
            found = given.chosen(name, *others)
            if len(found) != 1:
                wanted = " or ".join([name, *others])
                both = f", not {' and '.join(found)}" if found else ""
                raise ValueError(f"a {self.shape} needs {'one of ' * bool(others)}{wanted}{both}")
        for name, value in zip(self.names, self.values(given), strict=True):
            used = next(
                (key for key in self.alternatives if given.chosen(key) and self._find_replaced(key) == name), None
            )
            if used is not None and not value > 0.0:
                raise ValueError(
                    f"{name} must be positive, but {used} {getattr(given, used):g} m leaves {value:g} m; use a "
                    f"smaller {used}"
                )
        return given

    def _find_replaced(self, alternative: str) -> str:
        return self.alternatives[alternative].replaces


def _plain(given: Any) -> bool:
    return isinstance(given, float | int | tuple)


def _detect_form(value: Any) -> str:
    return "named" if isinstance(value, Mapping | Part) else "positional"
