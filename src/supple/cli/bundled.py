"""Bundled examples as arguments of commands."""

from __future__ import annotations

from pathlib import Path

from supple.cli.answer import Answer
from supple.diagnostics import InputError, nearest, require_known
from supple.formats.bundled import MECHANISM, example_file, example_folders

STUDY, README = "study.py", "README.md"


def bundled_names(begun: str) -> list[str]:
    """Return the examples that complete the typed text, for shell completion."""
    return [name for name in example_folders() if begun and name.startswith(begun)]


def example_folder(name: str) -> Path:
    """Return the folder of an example."""
    known = example_folders()
    require_known("example", name, known)
    return known[name]


def example_summary(folder: Path) -> str:
    """Return the description in the mechanism file of an example, in one line."""
    from supple.formats.yaml_tree import read_text, read_tree

    file = folder / MECHANISM
    text = read_tree(read_text(file), str(file)).data.get("description")
    return " ".join(str(text).split()) if text else ""


def mechanism_file(answer: Answer, file: str) -> str:
    """Return the path itself, or the mechanism file of the example with this name if no such file exists."""
    if Path(file).exists():
        return file
    if (found := example_file(file)) is not None:
        answer.note(f'using the bundled example "{file}"')
        return str(found)
    # A name without a suffix was probably meant as an example: list the examples.
    if not Path(file).suffix and Path(file).name == file:
        raise InputError("no such file or bundled example", file=file, hint=nearest(file, example_folders()))
    return file
