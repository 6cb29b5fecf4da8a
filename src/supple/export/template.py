"""C sources as template files beside the Python code that fills them in.

A file `state_space.c` holds named parts, each a function or a piece of one. It contains three kinds of marks:

    //@ part tangent        a line that begins a part; it ends where the next one begins
    //@ if friction         the lines up to `//@ else` or `//@ end` are kept if the word is neither empty nor false
    @prefix@                a word; @@ is a literal @
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

Words = dict[str, str | int]
"""Values for a template: texts, numbers, and flags for its choices."""

_PART = re.compile(r"^//@ part (\w+)\n", re.MULTILINE)
_CHOICE = re.compile(r"^ *//@ (if|else|end)(?: (not )?(\w+))?\n", re.MULTILINE)


@cache
def template_parts(package: str, file: str) -> dict[str, str]:
    """Return the parts of a template file by name. package : folder of the file, such as "supple.export.c"."""
    _, *found = _PART.split(resources.files(package).joinpath(file).read_text("utf-8"))
    return dict(zip(found[::2], found[1::2], strict=True))


def fill_template(template: str, words: Mapping[str, str | int]) -> str:
    """Resolve the choices of a template and fill in its words, in one pass: marks inside words are not filled."""
    pieces = _chosen(template, words).split("@")
    return "".join((str(words[piece]) if piece else "@") if i % 2 else piece for i, piece in enumerate(pieces))


def _chosen(template: str, words: Mapping[str, str | int]) -> str:
    """Return the lines that remain once every `//@ if` is decided; choices inside dropped lines need no words."""
    first, *marks = _CHOICE.split(template)
    kept, open_ = [first], [True]
    for kind, negated, word, text in zip(*(iter(marks),) * 4, strict=True):
        if kind == "if":
            open_.append(all(open_) and bool(words[word]) != bool(negated))
        elif kind == "else":
            open_[-1] = not open_[-1]
        else:
            open_.pop()
        if all(open_):
            kept.append(text)
    return "".join(kept)
