"""Digest of an export in its C headers, compared when a source of it is compiled."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

_INCLUDED = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
_GUARD = re.compile(r"^#ifndef (\w+)_H\n#define \1_H\n", re.MULTILINE)


class _Stamp(NamedTuple):
    """Digest of a header: end of its include guard, name of the macro, and value."""

    end: int
    macro: str
    digest: str


def stamp_files(files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """Return the files of an export with digests; C sources do not compile with a header of another export.

    A process that is killed while it renames files leaves some new and some old ones. The digest of a header covers its
    text and the source of the same name, so that the same model gives the same bytes. A source compares the digests of
    all headers of the set that it includes, directly or through another header.
    """
    texts = {name: text for name, text in files.items() if isinstance(text, str)}
    stamps = {
        name: _Stamp(guard.end(), f"{guard[1]}_EXPORT", content_digest(text, texts.get(f"{name[:-2]}.c", "")))
        for name, text in texts.items()
        if name.endswith(".h") and (guard := _GUARD.search(text))
    }
    found = dict(files)
    for name, text in texts.items():
        if name in stamps:
            defined = f"#define {stamps[name].macro} {stamps[name].digest} /* digest, checked by the sources */\n"
            found[name] = _insert_piece(text, stamps[name].end, defined)
        elif name.endswith(".c"):
            checks = [_check(name, header, stamps[header]) for header in _headers(text, texts) if header in stamps]
            ends = [line.end() for line in _INCLUDED.finditer(text) if line[1] in stamps]
            if ends:
                found[name] = _insert_piece(text, ends[-1], "".join(checks))
    return found


def _headers(text: str, texts: Mapping[str, str]) -> list[str]:
    """Return the headers of the set that a text includes, directly or through other headers."""
    found: list[str] = []
    due = _INCLUDED.findall(text)
    while due:
        name = due.pop(0)
        if name in texts and name not in found:
            found.append(name)
            due += _INCLUDED.findall(texts[name])
    return found


def _check(source: str, header: str, stamp: _Stamp) -> str:
    return (
        f"#if !defined({stamp.macro}) || {stamp.macro} != {stamp.digest}\n"
        f'#error "{source} and {header} are from two exports: run the export again"\n'
        "#endif\n"
    )


def content_digest(*contents: str | bytes) -> str:
    """Return a 32-bit digest of the contents of files, as a C constant."""
    parts = [content.encode() if isinstance(content, str) else content for content in contents]
    return "0x" + hashlib.sha256(b"\0".join(parts)).hexdigest()[:8]


def _insert_piece(text: str, place: int, piece: str) -> str:
    return text[:place] + piece + text[place:]
