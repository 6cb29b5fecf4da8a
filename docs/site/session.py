"""Run a page: write its files and run its commands and its Python in order, in a folder of its own.

In a page,

- a block whose first line names a file (`# crane.yaml`, `<!-- arm.urdf -->`) is that file;
- lines of a `sh` block that begin with `supple` are run, as is `python FILE`;
- a `python` block is run; what it prints, the value of its last line and its pictures are kept.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import runpy
import shlex
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

FILE = re.compile(r"^(?:#|//|<!--)\s*([\w.-]+\.(?:yaml|urdf|csv|c|py))\s*(?:-->)?\s*$")


@dataclass
class Cell:
    """A block of the page, its lines, and its outputs."""

    kind: str  # file, sh or python
    source: str
    lines: tuple[int, int]
    name: str = ""  # of the file
    text: str = ""
    pictures: list[bytes] = field(default_factory=list)


class PageError(Exception):
    """Error in a block of a page."""


def cells(text: str) -> list[Cell]:
    """Return the blocks of a page that are run."""
    found = []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type != "fence" or token.map is None:
            continue
        language = token.info.split(" ")[0]
        lines = (token.map[0], token.map[1])
        first = token.content.split("\n", 1)[0]
        named = FILE.match(first)
        if named and language != "text":
            found.append(Cell("file", token.content, lines, name=named.group(1)))
        elif language in ("sh", "python"):
            found.append(Cell(language, token.content, lines))
    return found


def run_page(text: str, folder: Path, page: str, names: dict[str, Any] | None = None) -> list[Cell]:
    """Run a page in a folder; return the cells with their outputs."""
    found = cells(text)
    names = {"__name__": "__page__"} if names is None else names
    with _in(folder):
        for cell in found:
            try:
                _run(cell, folder, names)
            except (Exception, SystemExit) as error:
                where = f"{page}:{cell.lines[0] + 1}"
                raise PageError(f"{where}: {type(error).__name__}: {error}\n{cell.source}\n{cell.text}") from error
    return found


def _run(cell: Cell, folder: Path, names: dict[str, Any]) -> None:
    if cell.kind == "file":
        (folder / cell.name).write_text(cell.source, "utf-8")
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            if cell.kind == "sh":
                for line in cell.source.replace("\\\n", " ").splitlines():
                    _command(line)
            else:
                cell.pictures = _python(cell.source, names)
        finally:
            cell.text = printed.getvalue()


def _command(line: str) -> None:
    from supple.cli.main import run

    words = shlex.split(line, comments=True)
    if not words:
        return
    if words[0] == "python" and len(words) > 1:
        runpy.run_path(words[1], run_name="__main__")
        return
    if words[0] != "supple":
        raise PageError(f"{words[0]!r} is neither supple nor python")
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            run(words[1:])
        except SystemExit as end:
            if end.code:
                raise PageError(f"{line}: status {end.code}: {said.getvalue()}") from None
    if "warning" in said.getvalue():
        raise PageError(f"{line}: {said.getvalue()}")


def _python(source: str, names: dict[str, Any]) -> list[bytes]:
    """Run lines of Python; print the value of the last one, as a notebook does; return the pictures."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<page>", "exec"), names)  # noqa: S102 - our own pages
    value = None
    if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
        value = eval(compile(ast.Expression(last.value), "<page>", "eval"), names)  # noqa: S307
    elif isinstance(last, ast.Expr):
        exec(compile(ast.Module([last], []), "<page>", "exec"), names)  # noqa: S102
    return _shown(value)


def _shown(value: Any) -> list[bytes]:
    from matplotlib.figure import Figure

    figures = []
    if "matplotlib.pyplot" in sys.modules:
        import matplotlib.pyplot as plt

        figures = [plt.figure(number) for number in plt.get_fignums()]
    drawn = getattr(value, "figure", None)
    if isinstance(value, Figure) or isinstance(drawn, Figure):
        figure = value if isinstance(value, Figure) else drawn
        figures = [*(one for one in figures if one is not figure), figure]
    elif value is not None:
        print(repr(value))
    found = []
    for figure in figures:
        kept = io.BytesIO()
        figure.savefig(kept, format="png", dpi=110, bbox_inches="tight")
        found.append(kept.getvalue())
    if figures and "matplotlib.pyplot" in sys.modules:
        plt.close("all")
    return found


@contextlib.contextmanager
def _in(folder: Path) -> Any:
    """Run in a folder, without a display and with a fixed line width."""
    before, variables = Path.cwd(), {name: os.environ.get(name) for name in ("MPLBACKEND", "COLUMNS", "SUPPLE_KERNELS")}
    os.environ |= {"MPLBACKEND": "agg", "COLUMNS": "110"}
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


if __name__ == "__main__":  # python docs/site/session.py PAGE ...: run pages, each in a folder that is thrown away
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # pages print θ in every locale
    for given in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as thrown_away:
            for one in run_page(Path(given).read_text("utf-8"), Path(thrown_away), given):
                print(one.text, end="")
