"""Generate the API reference from signatures and docstrings of the public names."""

from __future__ import annotations

import dataclasses
import inspect
import re
from enum import Enum
from typing import Any

from numpydoc_sections import has_sections, markdown
from words import cell, docstring

import supple
import supple.control

MARK = re.compile(r"<!-- api (supple(?:\.control)?): ([^>]*?) -->")
BARE = re.compile(r"`(?:supple\.)?(?:control\.)?([A-Za-z_]+)`")


def filled(pages: dict[str, str]) -> dict[str, str]:
    """Replace `<!-- api MODULE: NAME NAME -->` by documentation; `*` means all names that are on no other page."""
    taken = {
        (module, name) for text in pages.values() for module, names in MARK.findall(text) for name in names.split()
    }
    public = {(module.__name__, name) for module in (supple, supple.control) for name in module.__all__}

    def documented(mark: re.Match[str]) -> str:
        module, names = mark.group(1), mark.group(2).split()
        if names == ["*"]:
            names = sorted(name for home, name in public - taken if home == module)
        return "\n\n".join(documented_name(module, name) for name in names)

    return {path: MARK.sub(documented, text) for path, text in pages.items()}


def documented_name(module: str, name: str) -> str:
    """Return one public name as a directive of the Python domain."""
    found = getattr(supple.control if module == "supple.control" else supple, name)
    full = f"{module}.{name}"
    if inspect.isclass(found):
        return _class(full, found)
    if callable(found):
        return _directive("function", f"{full}{_signature(found)}", _text(found))
    return _directive("data", full, "")


def _class(full: str, found: Any) -> str:
    parts = [_text(found)]
    fields = getattr(found, "model_fields", None)
    if fields:
        rows = [f"| `{name}` | {cell(field.description or '')} |" for name, field in fields.items()]
        parts.append("| field | meaning |\n|---|---|\n" + "\n".join(rows))
    elif isinstance(found, type) and issubclass(found, Enum):
        parts.append(", ".join(f"`{one.value}`" for one in found))
    elif dataclasses.is_dataclass(found):
        names = [field.name for field in dataclasses.fields(found) if not field.name.startswith("_")]
        parts.append("Fields: " + ", ".join(f"`{name}`" for name in names))
    parts += [_member(name, found, member) for name, member in _members(found)]
    kind = "exception" if issubclass(found, BaseException) else "class"
    return _directive(kind, full, "\n\n".join(part for part in parts if part), fence="````")


def _members(found: type) -> list[tuple[str, Any]]:
    """Return public methods and properties, including those inherited from classes of supple, in source order."""
    found_members: dict[str, Any] = {}
    for base in found.__mro__:
        if not base.__module__.startswith("supple"):
            continue
        for name, member in vars(base).items():
            shown = (
                isinstance(member, (property, classmethod, staticmethod))
                or inspect.isfunction(member)
                or _cached(member)
            )
            if (
                not name.startswith("_")
                and shown
                and name not in found_members
                and name not in ("model_post_init", "compute_once")
            ):
                found_members[name] = member
    return [(name, member) for name, member in found_members.items() if inspect.getdoc(_plain(member))]


def _member(name: str, owner: type, member: Any) -> str:
    text = _text(_plain(member))
    if isinstance(member, property) or _cached(member):
        return _directive("property", name, text)
    return _directive("method", f"{name}{_signature(_plain(member), bound=not isinstance(member, staticmethod))}", text)


def _plain(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    return getattr(member, "func", None) or getattr(member, "__func__", member)


def _cached(member: Any) -> bool:
    return type(member).__name__ == "cached_property"


def _signature(found: Any, bound: bool = False) -> str:
    """Return the signature: names, kinds and defaults, and the return type if it is short."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return "()"
    parts, star = [], False
    for index, (name, one) in enumerate(signature.parameters.items()):
        if bound and index == 0:
            continue
        if one.kind is one.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        star = star or one.kind is one.VAR_POSITIONAL
        mark = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else f"={_default(one.default)}"
        parts.append(f"{mark}{name}{default}")
    result = signature.return_annotation
    arrow = f" -> {_full(result)}" if isinstance(result, str) and re.fullmatch(r"[\w.| \[\],]+", result) else ""
    return f"({', '.join(parts)}){arrow}"


def _full(annotation: str) -> str:
    """Replace public names in an annotation by their full path."""
    return re.sub(
        r"(?<![\w.])([A-Z]\w+)",
        lambda n: f"supple.{n.group(1)}" if n.group(1) in supple.__all__ else n.group(1),
        annotation,
    )


def _default(value: Any) -> str:
    shown = repr(value.value if isinstance(value, Enum) else value)
    return shown if re.fullmatch(r"[\w.'\"(), -]*", shown) and len(shown) < 40 else "..."


def _text(found: Any) -> str:
    own = getattr(found, "__doc__", None)
    if not own or own.startswith(f"{getattr(found, '__name__', '')}("):  # generated by dataclasses
        return ""
    text = inspect.cleandoc(own)
    return _linked(markdown(text) if has_sections(text) else docstring(text), getattr(found, "__name__", ""))


def _linked(text: str, here: str) -> str:
    """Turn names of the API in docstrings into links."""

    def link(name: re.Match[str]) -> str:
        for module in (supple, supple.control):
            if name.group(1) in module.__all__ and name.group(1) != here:
                return f"{{py:obj}}`{name.group(1)} <{module.__name__}.{name.group(1)}>`"
        return name.group(0)

    return BARE.sub(link, text)


def _directive(kind: str, heading: str, text: str, fence: str = "```") -> str:
    while fence in text:
        fence += "`"
    return f"{fence}{{py:{kind}}} {heading}\n{text}\n{fence}" if text else f"{fence}{{py:{kind}}} {heading}\n{fence}"
