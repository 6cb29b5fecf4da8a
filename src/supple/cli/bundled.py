"""The examples that come with supple."""

from __future__ import annotations

from pathlib import Path

from supple.cli.answer import Answer
from supple.diagnostics import InputError, nearest, require_known
from supple.formats.bundled import MECHANISM, example_file, example_folders

STUDY, README = "study.py", "README.md"


def bundled_names(begun: str) -> list[str]:
    """Those that go on from what is typed; a shell looks for files where there are none."""
    return [name for name in example_folders() if begun and name.startswith(begun)]


def example_folder(name: str) -> Path:
    """The folder of one of them."""
    known = example_folders()
    require_known("example", name, known)
    return known[name]


def example_summary(folder: Path) -> str:
    """What its mechanism file says of it, in one line."""
    from supple.formats.yaml_tree import read_text, read_tree

    file = folder / MECHANISM
    text = read_tree(read_text(file), str(file)).data.get("description")
    return " ".join(str(text).split()) if text else ""


def mechanism_file(answer: Answer, file: str) -> str:
    """The path itself, or that of the example so called if there is no such file."""
    if Path(file).exists():
        return file
    if (found := example_file(file)) is not None:
        answer.note(f'no file is called "{file}", so this is the bundled example {found}')
        return str(found)
    # Without a suffix it was probably meant as an example: say which there are.
    if not Path(file).suffix and Path(file).name == file:
        raise InputError(
            "there is no such file or example", file=file, hint=f"examples {nearest(file, example_folders())}"
        )
    return file
