"""URDF as XML: strict, without entities, and cut down to what has to do with mechanics.

The parser of XML is lxml, under guard: a document type could name files and grow in memory, so it is refused, and so is
everything that is not well formed (other readers mend it silently).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lxml import etree

from supple.diagnostics import InputError
from supple.diagnostics.quoting import brief
from supple.formats.text_file import read_bytes, text_of
from supple.formats.urdf.grammar import keep_parts

LARGEST = 2**24  # bytes
_REMARKS = {"<!--": "-->", "<?": "?>"}  # comments and processing instructions
_OPENING = re.compile(r"<!--|<\?")


def read_robot(path: str | Path) -> Any:
    """The element <robot> of a file, with links, joints and constraints alone; its `base` is the file's name."""
    return robot_element(read_bytes(path, LARGEST, "keep meshes in files of their own"), brief(path, 500))


def robot_element(content: bytes, file: str) -> Any:
    """The element <robot> of a text; every value in it that is a number is one."""
    root = _parsed(content, file)
    if root.tag != "robot":
        raise InputError(
            f"it begins with <{brief(root.tag)}>, not <robot>", file=file, line=root.sourceline, hint="give a URDF file"
        )
    keep_parts(root, file)
    if not root.findall("link"):
        raise InputError(
            "it has no links", file=file, line=root.sourceline, hint="a robot needs <link> and <joint> elements"
        )
    return root


def _parsed(content: bytes, file: str) -> Any:
    text = text_of(content, file)
    bare = _without_remarks(text)
    declared = re.search(r"<!\s*(DOCTYPE|ENTITY)", bare, re.IGNORECASE)
    if declared:
        raise InputError(
            "a document type or an entity is declared, which could name other files or grow without bound",
            file=file, line=bare.count("\n", 0, declared.start()) + 1, hint="write the values in its place",
        )  # fmt: skip
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        return etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        problem = brief(re.sub(r", line \d+, column \d+.*", "", error.msg or "it ends too early"), 200)
        raise InputError(
            f"this is not XML: {problem}", file=file, line=error.lineno or 1, hint="check its tags and quotes"
        ) from None


def _without_remarks(text: str) -> str:
    """The text with blanks for comments and instructions, so that what they hold does not count and lines stay.

    One pass: a pattern would search the rest of the text from every opening that has no end.
    """
    pieces, at = [], 0
    while found := _OPENING.search(text, at):
        end = text.find(_REMARKS[found.group()], found.end())
        if end < 0:
            break  # no XML; the parser says where
        stop = end + len(_REMARKS[found.group()])
        pieces += [text[at : found.start()], re.sub(r"[^\n]", " ", text[found.start() : stop])]
        at = stop
    return "".join([*pieces, text[at:]])
