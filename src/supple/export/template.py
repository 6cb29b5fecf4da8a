"""C sources as template files next to the Python that fills them.

A file `state_space.c` holds named parts, each a function or a piece of one. Three kinds of marks are filled:

    //@ part tangent        a line that begins a part; it ends where the next one begins
    //@ if friction         the lines up to `//@ else` or `//@ end` are kept if the word is neither empty nor false
    @prefix@                a word; @@ is the sign itself
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

Words = dict[str, str | int]
"""What a template is filled with: texts and numbers, and truths for its choices."""

_PART = re.compile(r"^//@ part (\w+)\n", re.MULTILINE)
_CHOICE = re.compile(r"^ *//@ (if|else|end)(?: (not )?(\w+))?\n", re.MULTILINE)


@cache
def template_parts(package: str, file: str) -> dict[str, str]:
    """Parts of a template file by name; package : the folder it lies in, such as "supple.export.c"."""
    _, *found = _PART.split(resources.files(package).joinpath(file).read_text("utf-8"))
    return dict(zip(found[::2], found[1::2], strict=True))


def filled(template: str, words: Mapping[str, str | int]) -> str:
    """A template with its choices made and its words filled in, in one pass: a word that holds @prefix@ stays."""
    pieces = _chosen(template, words).split("@")
    return "".join((str(words[piece]) if piece else "@") if i % 2 else piece for i, piece in enumerate(pieces))


def _chosen(template: str, words: Mapping[str, str | int]) -> str:
    """The lines that remain once every `//@ if` is decided; choices inside lines that are left out need no words."""
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
