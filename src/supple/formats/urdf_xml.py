"""URDF as XML: strict, without entities, and cut down to what has to do with mechanics.

The parser of XML is lxml, under guard: a document type could name files and grow in memory, so it is refused, and so is
everything that is not well formed (other readers mend it silently).
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from lxml import etree

from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import brief, quoted

LARGEST = 2**24  # bytes
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)

# Element inside <link>, <joint> or <constraint>: its attributes, and how many numbers each has.
_NUMBERS: dict[str, dict[str, int]] = {
    "origin": {"xyz": 3, "rpy": 3},
    "parent_origin": {"xyz": 3, "rpy": 3},
    "child_origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "parent_axis": {"xyz": 3},
    "child_axis": {"xyz": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), 1),
    "limit": dict.fromkeys(("lower", "upper", "effort", "velocity"), 1),
    "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"multiplier": 1, "offset": 1},
}
_REQUIRED = {"mass": ("value",), "inertia": ("ixx", "iyy", "izz"), "mimic": ("joint",)}
_KEPT = {"link": {"inertial"}, "joint": {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}}
_KEPT["constraint"] = {"parent", "child", "parent_origin", "child_origin", "parent_axis", "child_axis"}


def read_robot(path: str | Path) -> Any:
    """The element <robot> of a file, with links, joints and constraints alone; its `base` is the file's name."""
    return robot_element(_content(path), brief(path, 500))


def robot_element(content: bytes, file: str) -> Any:
    """The element <robot> of a text; every value in it that is a number is one."""
    root = _parsed(content, file)
    if root.tag != "robot":
        raise InputError(
            f"it begins with <{brief(root.tag)}>, not <robot>", file=file, line=root.sourceline, hint="give a URDF file"
        )
    for part in list(root):
        if part.tag not in _KEPT:  # pictures, transmissions, what belongs to simulators
            root.remove(part)
            continue
        if not part.get("name"):
            raise InputError(f"a <{part.tag}> has no name", file=file, line=part.sourceline, hint='add name="..."')
        for inner in list(part):
            if inner.tag not in _KEPT[part.tag]:
                part.remove(inner)
        for inner in part.iter():
            _require_numbers(inner, part, file)
    if not root.findall("link"):
        raise InputError(
            "it has no links", file=file, line=root.sourceline, hint="a robot needs <link> and <joint> elements"
        )
    return root


def part_of(element: Any) -> str:
    """What messages call an element: link "arm"."""
    return f"{element.tag} {quoted(element.get('name', ''))}"


def fault(message: str, element: Any, file: str, *, within: Any = None, hint: str | None = None) -> InputError:
    """An error at an element, about the link or joint it stands in."""
    part = part_of(element if within is None else within)
    return InputError(message, part=part, file=file, line=element.sourceline, hint=hint)


def _content(path: str | Path) -> bytes:
    name = brief(path, 500)
    try:
        place = Path(path)
        if not place.exists():
            raise InputError("there is no such file", file=name, hint="check the name and the folder")
        if not place.is_file():
            raise InputError("this is not a file", file=name, hint="name the file inside it")
        with place.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read ({reason})", file=name) from error
    if len(content) > LARGEST:
        raise InputError(f"more than {LARGEST // 2**20} MiB", file=name, hint="keep meshes in files of their own")
    return content


def _parsed(content: bytes, file: str) -> Any:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", file=file, line=line, hint="save it as UTF-8") from error
    # Comments leave blanks behind, so that what they hold does not count and lines stay.
    bare = _COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
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


def _require_numbers(element: Any, part: Any, file: str) -> None:
    """Attributes that are numbers are finite ones, as many as there should be; those that must be are there."""
    wanted = _NUMBERS.get(element.tag, {})
    for name in _REQUIRED.get(element.tag, ()):
        if element.get(name) is None:
            known = nearest(name, list(element.attrib)) if element.attrib else f'add {name}="..."'
            raise fault(f"<{element.tag}> has no {name}", element, file, within=part, hint=known)
    for name, count in wanted.items():
        text = element.get(name)
        if text is None:
            continue
        values = [_number(word) for word in text.split()]
        if len(values) != count or not all(math.isfinite(value) for value in values):
            hint = "expand the xacro first" if "${" in text else "check the text"
            many = "a finite number" if count == 1 else f"{count} finite numbers"
            raise fault(
                f'{name}="{brief(text)}" of <{element.tag}> is not {many}', element, file, within=part, hint=hint
            )


def _number(word: str) -> float:
    try:
        return float(word) if len(word) < 100 else math.nan
    except ValueError:
        return math.nan
