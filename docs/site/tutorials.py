"""Run tutorials, insert their printed and drawn outputs, and write them as notebooks."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from places import ROOT
from session import Cell, run_page

LONGEST = 40  # lines of an output that a page shows


def tutorial(path: Path, folder: Path, cache: Path, *, takeaway: bool = True) -> str:
    """Return the page with its outputs; write its pictures and its notebook into the folder.

    A page that ran before with the same supple is read from the cache.
    """
    text = path.read_text("utf-8")
    found = _ran(text, path.name, cache)
    folder.mkdir(parents=True, exist_ok=True)
    for index, cell in enumerate(found):
        for number, picture in enumerate(cell.pictures):
            (folder / f"{path.stem}-{index}-{number}.png").write_bytes(picture)
    if takeaway:
        made = json.dumps(notebook(text, found), indent=1, ensure_ascii=False)
        (folder / f"{path.stem}.ipynb").write_text(made + "\n", "utf-8")
    return _page(text, found, path.stem, takeaway)


def _ran(text: str, name: str, cache: Path) -> list[Cell]:
    kept = cache / f"{hashlib.sha256((text + source_digest()).encode()).hexdigest()[:24]}.json"
    if kept.is_file():
        return [
            Cell(**{**one, "lines": tuple(one["lines"]), "pictures": [base64.b64decode(p) for p in one["pictures"]]})
            for one in json.loads(kept.read_text("utf-8"))
        ]
    folder = Path(tempfile.mkdtemp())
    try:
        found = run_page(text, folder, name)
    finally:
        shutil.rmtree(folder)
    cache.mkdir(parents=True, exist_ok=True)
    plain = [{**vars(cell), "pictures": [base64.b64encode(p).decode() for p in cell.pictures]} for cell in found]
    kept.write_text(json.dumps(plain), "utf-8")
    return found


@lru_cache
def source_digest() -> str:
    """Return a digest of supple and its examples."""
    digest = hashlib.sha256()
    for folder, ending in (("src/supple", "*.py"), ("examples", "*.yaml")):
        for file in sorted((ROOT / folder).rglob(ending)):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _page(text: str, found: list[Cell], stem: str, takeaway: bool) -> str:
    """Insert outputs below their blocks, and the link to the notebook below the title."""
    lines = text.splitlines()
    for index in reversed(range(len(found))):
        cell = found[index]
        below: list[str] = []
        if cell.text.strip():
            below += ["", "````{container} output", "```text", *_shortened(cell.text), "```", "````"]
        below += [x for number in range(len(cell.pictures)) for x in ("", f"![]({stem}-{index}-{number}.png)")]
        lines[cell.lines[1] : cell.lines[1]] = below
    if takeaway:
        lines[1:1] = ["", f"*Download as a notebook: [{stem}.ipynb]({stem}.ipynb).*"]
    return "\n".join(lines) + "\n"


def _shortened(text: str) -> list[str]:
    lines = text.rstrip().replace("```", "'''").splitlines()
    return (
        lines
        if len(lines) <= LONGEST
        else [*lines[: LONGEST - 8], f"... {len(lines) - LONGEST + 12} more lines ...", *lines[-4:]]
    )


def notebook(text: str, found: list[Cell]) -> dict[str, Any]:
    """Return the page as a Jupyter notebook (nbformat 4.5): text, commands after `!`, files after `%%writefile`."""
    lines = text.splitlines()
    made: list[dict[str, Any]] = []
    at = 0
    for cell in found:
        made.append(_words(lines[at : cell.lines[0]]))
        made.append(_code(cell))
        at = cell.lines[1]
    made.append(_words(lines[at:]))
    made = [one for one in made if one["source"]]
    first = next(index for index, one in enumerate(made) if one["cell_type"] == "code")
    made.insert(first, _plain_code("%matplotlib inline"))
    for number, one in enumerate(made):
        one["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _words(lines: list[str]) -> dict[str, Any]:
    text = re.sub(r"\]\((?!https?:)[^)]*\)", "]", "\n".join(lines).strip())  # links lead to pages that are not there
    return {"cell_type": "markdown", "metadata": {}, "source": re.sub(r"(?<!!)\[([^\]]*)\](?!\()", r"\1", text)}


def _plain_code(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}


def _code(cell: Cell) -> dict[str, Any]:
    source = cell.source.rstrip("\n")
    if cell.kind == "file":
        return _plain_code(f"%%writefile {cell.name}\n{source}")
    if cell.kind == "sh":
        source = "\n".join(
            f"!{line}" if line.startswith(("supple", "python")) else line for line in source.splitlines()
        )
    made = _plain_code(source)
    if cell.text:
        made["outputs"].append({"name": "stdout", "output_type": "stream", "text": cell.text})
    made["outputs"] += [
        {"data": {"image/png": base64.b64encode(p).decode()}, "metadata": {}, "output_type": "display_data"}
        for p in cell.pictures
    ]
    return made
