"""Elements and attributes that URDF defines for links, joints and constraints; and names of parts.

Standard readers skip what they do not know, so files contain additions of their own (`<contact>` in a link,
current="10" of a limit). Those are reported and left out. What cannot be an addition is refused: a name similar to a
missing one (`<limits>`, lowr="-1"), an element in the wrong place, and any unknown name about geometry or mass.
"""

from __future__ import annotations

import difflib
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from supple.description.mechanism import GROUND
from supple.description.quantities.quantity import plain_number
from supple.diagnostics import InputError, SuppleWarning, nearest
from supple.diagnostics.errors import excerpt, quote


@dataclass(frozen=True)
class ElementKind:
    """Element: number of values per attribute (0 for text), and the elements inside it.

    required : attributes that must exist; positive : attributes that cannot be negative
    open     : whether files may add attributes of their own
    """

    attributes: dict[str, int]
    inside: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    open: bool = False


_POSE = ElementKind({"xyz": 3, "rpy": 3})
_DIRECTION = ElementKind({"xyz": 3})
_LINK_NAME = ElementKind({"link": 0})
KINDS = {
    "robot": ElementKind({"name": 0, "version": 0}, ("link", "joint", "constraint"), open=True),
    "link": ElementKind({"name": 0, "type": 0}, ("inertial",), open=True),
    "joint": ElementKind(
        {"name": 0, "type": 0}, ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"), open=True
    ),
    "constraint": ElementKind(
        {"name": 0, "type": 0},
        ("parent", "child", "parent_origin", "child_origin", "parent_axis", "child_axis"),
    ),
    "inertial": ElementKind({}, ("origin", "mass", "inertia")),
    "origin": _POSE,
    "parent_origin": _POSE,
    "child_origin": _POSE,
    "axis": _DIRECTION,
    "parent_axis": _DIRECTION,
    "child_axis": _DIRECTION,
    "parent": _LINK_NAME,
    "child": _LINK_NAME,
    "mass": ElementKind({"value": 1}, required=("value",)),
    "inertia": ElementKind(
        dict.fromkeys(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), 1), required=("ixx", "iyy", "izz")
    ),
    "limit": ElementKind(
        dict.fromkeys(("lower", "upper", "effort", "velocity"), 1), positive=("effort", "velocity"), open=True
    ),
    "dynamics": ElementKind({"damping": 1, "friction": 1}, open=True),
    "mimic": ElementKind({"joint": 0, "multiplier": 1, "offset": 1}, required=("joint",)),
}
PARTS = KINDS["robot"].inside
# Elements to which files may add their own, with standard elements that are not read: geometry for display,
# drives, and data of simulators.
_ADDED_TO = {
    "robot": {"material", "transmission", "gazebo", "sensor", "ros2_control"},
    "link": {"visual", "collision"},
    "joint": {"calibration", "safety_controller"},
}
_LIKE = 0.6  # of difflib, as in `nearest`
_MOST = 6


def part_of(element: Any) -> str:
    """Return the name of an element in messages: link "arm"."""
    return f"{element.tag} {quote(element.get('name', ''))}"


def fault(message: str, element: Any, file: str, *, within: Any = None, hint: str | None = None) -> InputError:
    """Return an error at an element, about the link or joint that contains it."""
    part = part_of(element if within is None else within)
    return InputError(message, part=part, file=file, line=element.sourceline, hint=hint)


def keep_parts(root: Any, file: str) -> None:
    """Check links, joints and constraints, and remove everything else from <robot>.

    Elements and attributes that URDF does not define are named in one warning.
    """
    added: dict[str, int] = {}  # name -> line of its first occurrence
    _check_attributes(root, root, added, file)
    for part in list(root):
        if part.tag not in PARTS:
            _leave_out(part, root, PARTS, added, file, within=root)
            continue
        if not part.get("name"):
            raise InputError(f"a <{part.tag}> has no name", file=file, line=part.sourceline, hint='add name="..."')
        _check(part, part, added, file)
    if added:
        listed = ", ".join(f"{what} (line {line})" for what, line in list(added.items())[:_MOST])
        more = f" and {len(added) - _MOST} more" if len(added) > _MOST else ""
        warnings.warn(f"{file}: ignoring what URDF does not define: {listed}{more}", SuppleWarning, stacklevel=2)


def _check(element: Any, part: Any, added: dict[str, int], file: str) -> None:
    """Check an element of a link, joint or constraint with all elements inside it."""
    _check_attributes(element, part, added, file)
    text = " ".join([element.text or "", *(inner.tail or "" for inner in element)]).strip()
    if text:
        raise fault(
            f"<{element.tag}> contains the text {quote(text, 30)}",
            element, file, within=part, hint="write values as attributes",
        )  # fmt: skip
    known = KINDS[element.tag].inside
    first: dict[str, int] = {}
    for inner in list(element):
        if inner.tag not in known:
            missing = [tag for tag in known if element.find(tag) is None]
            _leave_out(inner, element, missing, added, file, within=part)
            continue
        if inner.tag in first:
            raise fault(
                f"there is a second <{inner.tag}> (the first is in line {first[inner.tag]})",
                inner, file, within=part, hint="remove one of them",
            )  # fmt: skip
        first[inner.tag] = inner.sourceline
        _check(inner, part, added, file)


def _leave_out(
    element: Any, outer: Any, missing: Sequence[str], added: dict[str, int], file: str, *, within: Any
) -> None:
    """Remove an element that is not read; refuse one that is probably a mistake."""
    tag, hint = excerpt(element.tag), None
    homes = [name for name, kind in KINDS.items() if element.tag in kind.inside]
    if outer.tag not in _ADDED_TO:
        hint = nearest(tag, KINDS[outer.tag].inside)
    elif "xacro" in tag:
        hint = "expand the xacro first"
    elif element.tag in KINDS and len(homes) == 1:
        hint = f"it belongs in <{homes[0]}>"
    elif difflib.get_close_matches(tag, missing, cutoff=_LIKE):
        hint = nearest(tag, missing)
    if hint is not None:
        raise fault(f"unknown element <{tag}> in <{outer.tag}>", element, file, within=within, hint=hint)
    if element.tag not in _ADDED_TO[outer.tag]:
        added.setdefault(f"<{tag}> in <{outer.tag}>", element.sourceline)
    outer.remove(element)


def _check_attributes(element: Any, part: Any, added: dict[str, int], file: str) -> None:
    """Require all mandatory attributes, finite numbers of the right count, and no misspelt names."""
    kind = KINDS[element.tag]
    for name in kind.required:
        if element.get(name) is None:
            known = nearest(name, list(element.attrib)) if element.attrib else f'add {name}="..."'
            raise fault(f"<{element.tag}> has no {name}", element, file, within=part, hint=known)
    missing = [name for name in kind.attributes if name not in element.attrib]
    for name, text in element.attrib.items():
        if name in kind.attributes:
            _require_numbers(name, text, kind, element, part, file)
        elif not kind.open or difflib.get_close_matches(name, missing, cutoff=_LIKE):
            raise fault(
                f'unknown attribute {excerpt(name)}="{excerpt(text)}" of <{element.tag}>',
                element, file, within=part, hint=nearest(name, missing or kind.attributes),
            )  # fmt: skip
        else:
            added.setdefault(f"{excerpt(name)} of <{element.tag}>", element.sourceline)


def _require_numbers(name: str, text: str, kind: ElementKind, element: Any, part: Any, file: str) -> None:
    count = kind.attributes[name]
    if count == 0:
        return
    values = [plain_number(word) for word in text.split()]
    given = f'{name}="{excerpt(text)}" of <{element.tag}>'
    if len(values) != count or not all(math.isfinite(value) for value in values):
        hint = "expand the xacro first" if "${" in text else "correct the value"
        many = "a finite number" if count == 1 else f"{count} finite numbers"
        raise fault(f"{given} must be {many}", element, file, within=part, hint=hint)
    if name in kind.positive and min(values) < 0.0:
        raise fault(f"{given} must not be negative", element, file, within=part, hint="give 0 or more")


# Names of links and joints as names of parts: URDF allows any text, a mechanism letters, digits, _ and -.


_LONGEST = 64
_RESERVED = (GROUND,)


def part_names(written: Iterable[str]) -> dict[str, str]:
    """Return {name in the URDF: name of the part}, in the order of the file.

    Every character that a name may not have becomes _, a name that does not begin with a letter is prefixed with _, and
    long names are cut. Names that are already used (or `ground`) are extended by _2, _3, ...; valid names are assigned
    first and stay.
    """
    names = list(dict.fromkeys(written))
    fine = [name for name in names if _map_name(name) == name and name not in _RESERVED]
    taken = {*fine, *_RESERVED}
    found = {name: name for name in fine}
    for name in names:
        if name not in found:
            found[name] = _free(_map_name(name), taken)
            taken.add(found[name])
    return {name: found[name] for name in names}


def choose_name(wanted: str, taken: Iterable[str]) -> str:
    """Return a name for an additional part that no other part has."""
    return _free(wanted[:_LONGEST], set(taken))


def rename_parts(value: Any, names: dict[str, str]) -> Any:
    """Return the data of a side-car with URDF names replaced by those of the parts, including keys and `name.point`."""
    if isinstance(value, dict):
        return {_rename_reference(key, names): rename_parts(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [rename_parts(inner, names) for inner in value]
    return _rename_reference(value, names) if isinstance(value, str) else value


def _rename_reference(text: str, names: dict[str, str]) -> str:
    if text in names:
        return names[text]
    head, dot, tail = text.rpartition(".")
    return f"{names[head]}.{tail}" if dot and head in names else text


def _map_name(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_\-]", "_", name)
    if not re.match(r"[A-Za-z_]", text):
        text = "_" + text
    return text[:_LONGEST]


def _free(wanted: str, taken: set[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted[: _LONGEST - 1 - len(str(number))]}_{number}"
    return name
