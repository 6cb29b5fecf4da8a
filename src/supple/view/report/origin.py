"""Where a report comes from: versions, files with their digests, and the commands that make it again."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from supple.view.report.page import Html, Section, commands, folded, heading, section, table

_PACKAGES = ("supple", "numpy", "scipy", "numba", "matplotlib")


def _unloaded(modes: Mapping[str, Any]) -> bool:
    """Whether a reduced model keeps deformation, and leaves out the geometric stiffness of loads at rest."""
    flexible = bool(modes.get("constraint")) or bool(modes.get("internal"))
    return flexible and not (modes.get("preload") or modes.get("stiffening"))


def versions() -> dict[str, str]:
    """Of what computed it."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from its source, not installed
            found[name] = "unknown"
    return found


def digest(file: str | Path) -> str | None:
    """SHA-256 of a file; None if there is none."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    except OSError:
        return None


def origin_section(
    files: Mapping[str, str], typed: Sequence[str], made: Mapping[str, Any] | None = None, description: str = ""
) -> Section:
    """files : what they are -> path; made : provenance of a reduced model; description : of the mechanism, as text."""
    rows = [("written", datetime.now(UTC).isoformat(timespec="seconds"))]
    rows += [("computed with", ", ".join(f"{name} {number}" for name, number in versions().items()))]
    rows += [("on", f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores")]
    for what, path in files.items():
        rows.append((what, Path(path).name))
        found = digest(path)
        rows += [(f"SHA-256 of the {what}", found)] if found else []
    parts: list[Html | None] = [table(("", ""), rows, texts=(0, 1))]
    if made:
        options = {name: value for name, value in made["options"].items() if value is not None}
        of_model = [("model made", made["made"]["at"])]
        of_model += [("with", ", ".join(f"{name} {number}" for name, number in made["versions"].items()))]
        of_model += [(name, str(value)) for name, value in options.items() if name != "modes"]
        of_model += [(f"modes, {name}", str(value)) for name, value in options.get("modes", {}).items()]
        parts += [heading("Options of the reduction"), table(("", ""), of_model, texts=(0, 1))]
    if description:
        parts.append(folded("The mechanism as it was read", commands(description.rstrip().splitlines())))
    return section("Provenance, and how to make it again", commands(typed), *parts)


def quoted(text: str) -> str:
    """As a shell takes it."""
    return shlex.quote(text)


def reduce_command(name: str, model: Any, target: str) -> str:
    """The `supple reduce` that makes a model again."""
    options = model.provenance["options"]
    said = ["supple", "reduce", quoted(name)]
    names = model.layout.coordinates[: model.layout.theta]
    if "path" not in options and len(options["region"]) == 1:
        low, high = options["region"][0]
        pieces = [f"{key}={a:.10g}:{b:.10g}" for key, a, b in zip(names, low, high, strict=True)]
        pieces += [f"{key}={value:.10g}" for key, value in model.held.items()]
        said += ["--region", quoted(",".join(pieces))]
    if options.get("vary"):
        ranges = [f"{key}={a:.10g}:{b:.10g}" for key, (a, b) in options["vary"].items()]
        said += ["--vary", quoted(",".join(ranges))]
    modes = options.get("modes", {})
    if modes.get("constraint"):
        said += ["--constraint-modes", quoted(",".join(modes["constraint"]))]
    if modes.get("internal"):
        said += ["--internal-modes", str(modes["internal"]), "--tracking", modes["tracking"]]
    said += ["--stiffening"] if modes.get("stiffening") else []
    said += ["--no-preload"] if _unloaded(modes) else []
    said += ["--fit", options["fit"]]
    if options.get("boxes") is not None:
        boxes = options["boxes"]
        said += ["--boxes", ",".join(str(n) for n in (boxes if isinstance(boxes, list | tuple) else [boxes]))]
    else:
        said += ["--tolerance", f"{options['tolerance']:g}"]
    said += ["--degree", str(options["degree"])] if options.get("degree") is not None else []
    said += ["--continuous"] if options.get("continuous") else []
    return " ".join([*said, "-o", quoted(target)])
