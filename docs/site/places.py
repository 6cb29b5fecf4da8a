"""Map files of the repository to pages of the site, and rewrite links."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
}
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCE = re.compile(r"^\s*(```+|~~~+)")


def pages() -> dict[str, str]:
    """Return the path in the site of each page of the repository."""
    found = {path: place for path, place in OUTSIDE.items() if (ROOT / path).is_file()}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        found[_relative(file)] = "index.md" if file == ROOT / "docs/README.md" else str(file.relative_to(ROOT / "docs"))
    for file in sorted((ROOT / "examples").glob("*/README.md")):
        found[_relative(file)] = f"gallery/{file.parent.name}.md"
    return found


def place(path: str, known: dict[str, str]) -> str | None:
    """Return the path of a file in the site: a page, or a file that belongs to one; None for others."""
    if path in known:
        return known[path]
    if path in ("examples", "docs"):
        return "gallery.md" if path == "examples" else "index.md"
    folder, _, name = path.partition("/")
    if folder == "examples" and "/" not in name:
        return known.get(f"{path}/README.md")
    if folder in ("examples", "docs") and (ROOT / path).is_file():
        return f"gallery/{name}" if folder == "examples" else name
    return path if "/" not in path and (ROOT / path).is_file() else None


def rewritten(text: str, path: str, known: dict[str, str]) -> tuple[str, set[str]]:
    """Rewrite the links of a page for the site; also return the files (not pages) that it links to."""
    files: set[str] = set()
    here = PurePosixPath(known[path]).parent

    def link(found: re.Match[str]) -> str:
        target, _, anchor = found.group(1).partition("#")
        if not target or re.match(r"[a-z]+:", target) or "`" in target:
            return found.group(1)
        linked = os.path.normpath(PurePosixPath(path).parent / target)
        there = place(linked, known)
        if there is None:
            return found.group(1)  # sphinx reports the broken link
        if not there.endswith(".md"):
            files.add(linked)
        return os.path.relpath(there, here) + (f"#{anchor}" if anchor else "")

    lines: list[str] = []
    open_fences: list[tuple[str, bool]] = []  # each with whether it holds code; a directive holds more of the page
    for line in text.splitlines():
        mark = FENCE.match(line)
        if mark and open_fences and line.strip() == open_fences[-1][0].strip():
            open_fences.pop()
        elif mark and not (open_fences and open_fences[-1][1]):
            open_fences.append((mark.group(1), not line[mark.end() :].startswith("{")))
        code = line.startswith("    ") or (bool(open_fences) and open_fences[-1][1])
        lines.append(line if code else LINK.sub(link, line))
    return "\n".join(lines) + "\n", files


def _relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()
