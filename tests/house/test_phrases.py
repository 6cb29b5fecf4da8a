"""Texts that people read use the words of the field: phrases.txt lists those that they avoid."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src/supple").rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")])
VIEWER = sorted((ROOT / "viewer/src").rglob("*.ts"))
FRAGMENT = re.compile(r"(Of|What|Where|How|Which|That|As) (?!many\b)")


def phrases() -> list[tuple[re.Pattern[str], str]]:
    """Patterns to avoid, and the words to use instead."""
    lines = (Path(__file__).parent / "phrases.txt").read_text("utf-8").splitlines()
    pairs = [line.split("=>") for line in lines if line.strip() and not line.startswith("#")]
    return [(re.compile(pattern.strip(), re.IGNORECASE), better.strip()) for pattern, better in pairs]


def prose(page: str) -> str:
    """A page without blocks of code, indented equations, code spans and the targets of links."""
    page = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    page = re.sub(r"^ {4}.*$", "", page, flags=re.MULTILINE)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", page)


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """Docstrings, messages and other texts of several words, with their lines; literals of code are left out."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 1:
            yield node.lineno, re.sub(r"`[^`]*`", "", node.value)


def found_in(texts: Iterator[tuple[str, str]]) -> list[str]:
    """Every phrase to avoid with its place."""
    found = []
    for place, text in texts:
        plain = " ".join(text.split())
        for pattern, better in phrases():
            if match := pattern.search(plain):
                found.append(f'{place}: "{match[0]}"; write: {better}')
    return found


def test_phrases_are_found():
    """The test itself: each pattern of the list is valid, and text with one of them is refused."""
    assert len(phrases()) > 20
    assert found_in(iter([("here", "the sensor was told twice")])) == [
        'here: "told"; write: given, specified, reported'
    ]


def test_source_texts_avoid_the_phrases():
    found = found_in((f"{file.relative_to(ROOT)}:{line}", text) for file in SOURCES for line, text in strings(file))
    assert not found, "\n".join(found)


def test_pages_avoid_the_phrases():
    found = found_in((str(page.relative_to(ROOT)), prose(page.read_text("utf-8"))) for page in PAGES)
    assert not found, "\n".join(found)


def test_the_page_in_the_browser_avoids_the_phrases():
    texts = (
        (f"{file.relative_to(ROOT)}", text)
        for file in VIEWER
        for text in re.findall(r'"([^"\n]*? [^"\n]*? [^"\n]*)"', file.read_text("utf-8"))
    )
    found = found_in(texts)
    assert not found, "\n".join(found)


def first_lines() -> list[tuple[str, str]]:
    """First line of every docstring, with its place."""
    found = []
    for file in SOURCES:
        tree = ast.parse(file.read_text("utf-8"))
        for node in [tree, *ast.walk(tree)]:
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                found.append((f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 1)}", text.partition("\n")[0]))
    return found


def test_first_lines_of_docstrings_have_a_subject():
    found = [f"{place}: {line}" for place, line in first_lines() if FRAGMENT.match(line)]
    assert not found, "\n".join(found)


def commands() -> list[tuple[str, object]]:
    from supple.cli.main import app

    group = typer.main.get_command(app)
    return sorted(group.commands.items())  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "command"), commands(), ids=lambda value: value if isinstance(value, str) else "")
def test_help_texts_are_sentences(name, command):
    """A command is described by a verb and an object, an option by a noun phrase; both end with a period."""
    assert re.fullmatch(r"[A-Z][a-z]+ [^\n]{5,70}\.", command.help), command.help
    for param in command.params:
        text = param.help or ""
        assert re.match(r"[A-Z`]", text), f"{name} {param.name}: {text}"
        assert text.endswith("."), f"{name} {param.name}: {text}"
        assert not FRAGMENT.match(text), f"{name} {param.name}: {text}"
        assert len(text) <= 260, f"{name} {param.name}: {len(text)} characters"
