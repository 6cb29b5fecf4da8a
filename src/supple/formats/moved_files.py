"""A mechanism file written into another folder: what it names beside itself is named from there."""

from __future__ import annotations

import json
import os
from pathlib import Path

from supple.formats.edited_yaml import nodes_of


def moved_references(text: str, origin: Path, place: Path) -> dict[tuple[str, ...], str]:
    """Values of a YAML text that name files (tables, matrices, a robot), as a file in folder `place` names them.

    origin : the folder that the text's names start from. A name is that of a file if there is one of that name.
    """
    if origin.resolve() == place.resolve():
        return {}
    found = {}
    for path, node in nodes_of(text):
        name = text[node.start : node.stop].strip("\"'") if node.kind == "scalar" else ""
        if Path(name).suffix and not Path(name).is_absolute() and "\n" not in name and (origin / name).is_file():
            found[path] = json.dumps(_from(place, origin / name), ensure_ascii=False)
    return found


def _from(place: Path, file: Path) -> str:
    try:
        return Path(os.path.relpath(file.resolve(), place.resolve())).as_posix()
    except ValueError:  # on another drive
        return file.resolve().as_posix()
