"""Docstrings in numpydoc form: their sections as Markdown, and their validation."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from words import docstring, sentence

import supple
import supple.control

_HEADING = re.compile(r"^(Parameters|Returns|Yields|Raises|Notes|Examples|Attributes)\n-{3,}$", re.MULTILINE)
_LISTS = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")

CHECKED = frozenset({
    "GL01", "GL03", "GL05", "GL06", "GL07", "GL08",  # layout, and the order of sections
    "SS01", "SS02", "SS03", "SS04", "SS05", "SS06",  # the summary
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR07", "PR10",  # parameters: all, in order, with type and meaning
    "RT01", "RT03", "YD01",  # what is returned
    "SA04",  # every entry of See Also says why
})  # fmt: skip
"""Checks of numpydoc that public functions and classes must pass."""


def has_sections(text: str) -> bool:
    """Return whether a docstring is in numpydoc form."""
    return _HEADING.search(text) is not None


def markdown(text: str) -> str:
    """Convert a docstring in numpydoc form to Markdown, in the order of numpydoc."""
    parsed = NumpyDocString(inspect.cleandoc(text))
    parts = [sentence(" ".join(parsed["Summary"])), _prose(parsed["Extended Summary"])]
    for title in _LISTS:
        if entries := parsed[title]:
            parts += [f"**{title}**", "\n".join(_entry(*entry) for entry in entries)]
    if parsed["See Also"]:
        parts += ["**See also**", "\n".join(_reference(names, text) for names, text in parsed["See Also"])]
    if parsed["Notes"]:
        parts += ["**Notes**", _prose(parsed["Notes"])]
    if parsed["Examples"]:
        parts += ["**Examples**", _examples("\n".join(parsed["Examples"]))]
    return "\n\n".join(part for part in parts if part)


def _entry(name: str, kind: str, lines: list[str]) -> str:
    """Write a parameter as an item of a list, its paragraphs indented below it."""
    head = " : ".join(
        piece for piece in (f"**{sentence(name)}**" if name else "", f"*{sentence(kind)}*" if kind else "") if piece
    )
    body = _prose(lines).replace("\n", "\n  ")
    return f"- {head}\n\n  {body}\n" if body else f"- {head}\n"


def _prose(lines: list[str]) -> str:
    """Convert paragraphs; an empty text stays empty."""
    text = "\n".join(lines)
    return docstring(text) if text.strip() else ""


def _reference(names: list[tuple[str, Any]], text: list[str]) -> str:
    """Write an entry of See Also."""
    listed = ", ".join(f"`{name}`" for name, _ in names)
    return f"- {listed}: {sentence(' '.join(text))}" if text else f"- {listed}"


def _examples(text: str) -> str:
    """Write prompts and their output as code, everything between them as prose."""
    found = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        found.append(f"```pycon\n{paragraph}\n```" if paragraph.lstrip().startswith(">>>") else sentence(paragraph))
    return "\n\n".join(found)


def faults() -> Iterator[str]:
    """Yield what numpydoc finds wrong with the docstrings of public functions and classes."""
    for module in (supple, supple.control):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.ismodule(found):  # the folder of the function, which has its name
                found = getattr(import_module(f"{found.__name__}.{name}"), name)
            # Its own module: by the public name, numpydoc would find the folder `supple.control.margins`.
            for code, message in validate(f"{found.__module__}.{found.__qualname__}")["errors"]:
                if code in CHECKED and not _exempt(found, code, message):
                    yield f"{module.__name__}.{name}: {code} {message}"


def _exempt(found: Any, code: str, message: str) -> bool:
    """Fields of schema models and results are documented one by one; star arguments belong to overloads."""
    if inspect.isclass(found):
        return code in ("PR01", "PR02", "RT01")
    return code == "PR01" and re.fullmatch(r"Parameters \{('\*+\w+'(, )?)+\} not documented", message) is not None
