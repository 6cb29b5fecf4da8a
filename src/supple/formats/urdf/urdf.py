"""Robots: a URDF file, and a YAML file next to it (its side-car) with what URDF cannot describe.

The side-car has the sections of the mechanism file; its entries for links and joints of the URDF are added to these.
Its own keys are `urdf`, `base`, `mimic` and those that close loops (see `loops`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from lxml import etree
from pydantic import ValidationError

from supple.description.mechanism import Mechanism
from supple.description.quantities.expression import use_parameters
from supple.diagnostics import InputError, describe_unknown
from supple.diagnostics.errors import excerpt, quote
from supple.formats.error_lines import as_input_error, fields_of
from supple.formats.mechanism_file import Parameters, mechanism_of, parameter_values, require_version, with_parameters
from supple.formats.text_file import read_bytes, text_of
from supple.formats.urdf.grammar import keep_parts, part_names, part_of, rename_parts
from supple.formats.urdf.links_and_joints import UrdfOptions, UrdfParts, parts_of_robot
from supple.formats.urdf.loops import Loops, add_loops, constraint_data, markers
from supple.formats.urdf.robot import Robot, robot_of
from supple.formats.yaml_tree import KeyPath, YamlTree, read_text, read_tree

GRAVITY = [0.0, 0.0, -9.81]  # m/s²: by the convention of robotics the z axis of a root link points up

SideCar = str | Path | Mapping[str, Any]


class Choices(Loops):
    """Keys of a side-car that the mechanism file does not have."""

    urdf: str | None = None
    base: Literal["fixed", "floating"] = "fixed"
    mimic: Literal["coupled", "free", "locked"] = "coupled"
    """Treatment of joints that mimic others: they follow them (`coupled`), are independent (`free`), or are locked at
    their offset (`locked`)."""


def load_urdf(path: str | Path, *, sidecar: SideCar | None = None, parameters: Parameters | None = None) -> Mechanism:
    """Return the robot in a URDF file as a mechanism.

    sidecar    : a YAML file, or its data; default: the file of the same name with .yaml next to the URDF
    parameters : values (numbers or expressions) that replace those of the side-car
    """
    place = Path(path)
    if sidecar is None:
        beside = place.with_suffix(".yaml")
        tree = _beside(beside, place) if beside.is_file() else YamlTree({}, {}, str(path))
        folder = place.parent
    elif isinstance(sidecar, Mapping):
        tree, folder = YamlTree(dict(sidecar), {}, "<side-car>"), place.parent
    else:
        tree, folder = read_tree(read_text(sidecar), str(sidecar)), Path(sidecar).parent
    return _mechanism(path, tree, folder, parameters or {})


def mechanism_of_sidecar(tree: YamlTree, folder: Path, *, parameters: Parameters | None = None) -> Mechanism:
    """Return the mechanism of a side-car that names its robot: `urdf: robot.urdf`."""
    named = tree.data["urdf"]
    if not isinstance(named, str):
        raise tree.fault(("urdf",), "the value is not a file name", "urdf", "write urdf: robot.urdf")
    if not _exists(folder / named):
        hint = "give the path relative to the folder of this file"
        raise tree.fault(("urdf",), f"there is no file {quote(named)}", "urdf", hint)
    return _mechanism(folder / named, tree, folder, parameters or {})


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def _beside(beside: Path, urdf: Path) -> YamlTree:
    """Return the side-car next to a robot; another file of that name is refused."""
    tree = read_tree(read_text(beside), str(beside))
    named = tree.data.get("urdf")
    if isinstance(named, str) and (beside.parent / named).resolve() != urdf.resolve():
        raise InputError(
            f"the file has the name of the side-car of {quote(urdf.name)}, but belongs to {quote(named)}",
            part="urdf", file=tree.file, line=tree.line(("urdf",)),
            hint="give the side-car explicitly, or rename one of the files",
        )  # fmt: skip
    if "urdf" not in tree.data and "supple" in tree.data and "bodies" in tree.data:
        raise InputError(
            f"the file is a complete mechanism file, but has the name of the side-car of {quote(urdf.name)}",
            file=tree.file, line=tree.line(("supple",)),
            hint=f"add `urdf: {excerpt(urdf.name)}` if it is the side-car, otherwise rename it",
        )  # fmt: skip
    return tree


def _mechanism(path: str | Path, tree: YamlTree, folder: Path, parameters: Parameters) -> Mechanism:
    if "supple" in tree.data:
        require_version(tree)
    element = read_robot(path)
    file = excerpt(path, 500)
    robot = robot_of(element, file)
    inside, lines = _inside(element, file)
    given = with_parameters(tree.data, parameters)
    choices = _choices(given, inside, tree, parameters)
    names = part_names([*robot.links, *robot.joints])
    chosen = UrdfOptions(
        floating=choices.base == "floating",
        mimic=choices.mimic,
        locked=markers(robot, choices),
        spherical=_spherical(robot, choices, tree),
    )
    parts = parts_of_robot(robot, names, chosen)
    _require_motion(parts)
    where = YamlTree({}, {**lines, **tree.lines}, tree.file, files=dict.fromkeys(lines, file))
    add_loops(parts, choices, where)
    return mechanism_of(_join_parts(parts, given, tree, choices), folder=folder)


def _spherical(robot: Robot, choices: Choices, tree: YamlTree) -> tuple[str, ...]:
    """Return the joints that `joint_name` and `joint_type` make spherical."""
    if len(choices.joint_name) != len(choices.joint_type):
        message = f"there are {len(choices.joint_type)} types for {len(choices.joint_name)} names"
        raise tree.fault(("joint_type",), message, "joint_type", "give one type per entry of joint_name")
    for i, name in enumerate(choices.joint_name):
        if name not in robot.joints:
            message, hint = describe_unknown("joint", name, robot.joints)
            raise tree.fault(("joint_name", i), message, "joint_name", hint)
    return choices.joint_name


def _inside(element: Any, file: str) -> tuple[dict[str, Any], dict[KeyPath, int]]:
    """Return the constraints of the URDF itself in the format of a side-car, with their lines."""
    found: dict[str, Any] = {}
    lines: dict[KeyPath, int] = {}
    for part in element.findall("constraint"):
        name = part.get("name")
        if name in found:
            raise InputError("the name is already used", part=part_of(part), file=file, line=part.sourceline)
        found[name] = constraint_data(part)
        lines["constraints", name] = part.sourceline
        for inner in part:
            lines["constraints", name, inner.tag] = inner.sourceline
    return found, lines


def _choices(given: dict[str, Any], inside: dict[str, Any], tree: YamlTree, parameters: Parameters) -> Choices:
    """Return the side-car's own keys, with numbers evaluated."""
    data = {key: value for key, value in given.items() if key in Choices.model_fields}
    written = data.get("constraints", {})
    if inside and isinstance(written, dict):
        data["constraints"] = {**inside, **written}
    try:
        with use_parameters(parameter_values(given, tree, parameters)):
            return Choices.model_validate(data)
    except ValidationError as error:
        raise as_input_error(error, tree, fields_of(Choices)) from None


def _require_motion(parts: UrdfParts) -> None:
    if not parts.data["bodies"]:
        robot = parts.robot
        raise InputError(
            f"no link can move: every link is fixed to the root link {quote(robot.root)}",
            part=f"robot {quote(robot.name)}", file=robot.file, line=robot.links[robot.root].sourceline,
            hint="write `base: floating` in the side-car if the robot is free in space",
        )  # fmt: skip


def _join_parts(parts: UrdfParts, given: dict[str, Any], tree: YamlTree, choices: Choices) -> YamlTree:
    """Return the mechanism file that results from robot and side-car, with the lines of both."""
    own = {key: value for key, value in given.items() if key not in Choices.model_fields}
    changed = {written: name for written, name in parts.names.items() if written != name}
    own = rename_parts(own, changed)
    data: dict[str, Any] = {"supple": 1, "name": parts.robot.name, "gravity": GRAVITY, **parts.data}
    data["actuators"] = _actuators(parts, own.pop("actuators", None), choices, tree)
    lines: dict[KeyPath, int] = {(): 1, **parts.lines}
    files: dict[KeyPath, str] = {**parts.files}
    for path, line in tree.lines.items():
        if path and path[0] not in Choices.model_fields:
            key = tuple(rename_parts(item, changed) for item in path)
            lines[key], files[key] = line, tree.file
    for section, value in own.items():
        known = data.get(section)
        if section in parts.data and isinstance(value, dict) and isinstance(known, dict):
            data[section] = {**known, **{name: _merge_part(known.get(name), part) for name, part in value.items()}}
        else:
            data[section] = value
    return YamlTree(data, lines, parts.robot.file, files=files, names=parts.written)


def _merge_part(known: Any, part: Any) -> Any:
    """Return a part of the URDF with the keys of the side-car, which take precedence."""
    return {**known, **part} if isinstance(known, dict) and isinstance(part, dict) else part


def _actuators(parts: UrdfParts, given: Any, choices: Choices, tree: YamlTree) -> Any:
    """Return actuators for all joints that can have one, or for those that the side-car lists."""
    if given is None and choices.name_mot is None:
        return parts.actuators
    if isinstance(given, dict):
        acting = ("joint", "between")
        return {
            name: _merge_part(parts.actuators.get(name), part) if not (isinstance(part, dict) and set(part) & {*acting})
            else part
            for name, part in given.items()
        }  # fmt: skip
    listed = given if given is not None else list(choices.name_mot or ())
    key = "actuators" if given is not None else "name_mot"
    if not isinstance(listed, list):
        return given  # the reader of mechanisms reports the error
    found: dict[str, Any] = {}
    for i, item in enumerate(listed):
        name = parts.names.get(item, item) if isinstance(item, str) else item
        if not isinstance(name, str) or name not in parts.actuators:
            message, hint = describe_unknown("joint with one coordinate", item, parts.actuators)
            raise tree.fault((key, i), message, key, hint)
        found[name] = parts.actuators[name]
    return found


# URDF as XML: strict, without entities, and reduced to mechanics.
#
# The XML parser is lxml. A document type could name files and grow in memory, so it is refused, as is everything
# that is not well formed (other readers repair it silently).


LARGEST = 2**24  # bytes
_COMMENTS = {"<!--": "-->", "<?": "?>"}  # comments and processing instructions
_OPENING = re.compile(r"<!--|<\?")


def read_robot(path: str | Path) -> Any:
    """Return the element <robot> of a file, with only links, joints and constraints."""
    return robot_element(read_bytes(path, LARGEST, "keep meshes in files of their own"), excerpt(path, 500))


def robot_element(content: bytes, file: str) -> Any:
    """Return the element <robot> of a text, with all numbers checked."""
    root = _parse(content, file)
    if root.tag != "robot":
        raise InputError(
            f"the root element is <{excerpt(root.tag)}>, not <robot>",
            file=file,
            line=root.sourceline,
            hint="use a URDF file",
        )
    keep_parts(root, file)
    if not root.findall("link"):
        raise InputError(
            "the robot has no links", file=file, line=root.sourceline, hint="add <link> and <joint> elements"
        )
    return root


def _parse(content: bytes, file: str) -> Any:
    text = text_of(content, file)
    bare = _without_comments(text)
    declared = re.search(r"<!\s*(DOCTYPE|ENTITY)", bare, re.IGNORECASE)
    if declared:
        raise InputError(
            "document types and entities are not allowed, since they could read other files or grow without bound",
            file=file, line=bare.count("\n", 0, declared.start()) + 1, hint="write the values directly",
        )  # fmt: skip
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        return etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        problem = excerpt(re.sub(r", line \d+, column \d+.*", "", error.msg or "unexpected end of the file"), 200)
        raise InputError(
            f"this is not valid XML: {problem}", file=file, line=error.lineno or 1, hint="check its tags and quotes"
        ) from None


def _without_comments(text: str) -> str:
    """Return the text with blanks for comments and instructions, so that lines stay the same.

    One pass: a pattern would search the rest of the text from every opening that has no end.
    """
    pieces, at = [], 0
    while found := _OPENING.search(text, at):
        end = text.find(_COMMENTS[found.group()], found.end())
        if end < 0:
            break  # not valid XML; the parser reports the position
        stop = end + len(_COMMENTS[found.group()])
        pieces += [text[at : found.start()], re.sub(r"[^\n]", " ", text[found.start() : stop])]
        at = stop
    return "".join([*pieces, text[at:]])
