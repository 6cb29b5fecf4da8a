"""Plain sentences (docstrings, help, descriptions of a schema) as Markdown that says the same."""

from __future__ import annotations

import re

import blocks

ENTRY = re.compile(r"^(\S[^:`]{0,60}?)\s+: (.*)$")
PROSE = re.compile(r"(?:\b[a-z]{3,}\b[ ,]+){3}|\.$")  # words enough for a sentence, or its end
CODE = re.compile(r"(`[^`]*`)")


def sentence(text: str) -> str:
    """One line of Markdown: what has a meaning there is escaped, code stays code."""
    pieces = CODE.split(" ".join(text.split()))
    return "".join(piece if piece.startswith("`") else re.sub(r"([*<\[\]{}$_#])", r"\\\1", piece) for piece in pieces)


def cell(text: str) -> str:
    """The same within a table."""
    return sentence(text).replace("|", "\\|")


def code(text: str) -> str:
    """Code within a table."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def docstring(text: str) -> str:
    """A docstring: paragraphs, `name : meaning` as a list, equations and code that are indented."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        lines = paragraph.splitlines()
        if all(line.startswith("    ") for line in lines):
            found.append(_block(lines))
        elif any(ENTRY.match(line) for line in lines):
            found.extend(_entries(lines))
        elif all("=" in line for line in lines) and blocks.SYMBOLS.search(paragraph) and not PROSE.search(paragraph):
            found.append(_block(lines))
        else:
            found.append(sentence(paragraph))
    return "\n\n".join(found)


def _block(lines: list[str]) -> str:
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    content = "\n".join(line[indent:] for line in lines)
    language = blocks.kind(content)
    if language == "text" and "(" in content and "=" in content and not blocks.SYMBOLS.search(content):
        language = "python"
    return f"```{{equations}}\n{content}\n```" if language == "equations" else f"```{language}\n{content}\n```"


def _entries(lines: list[str]) -> list[str]:
    """`name : meaning` lines, continued by indented ones; what stands before them is a paragraph of its own."""
    before: list[str] = []
    entries: list[tuple[str, str]] = []
    for line in lines:
        entry = ENTRY.match(line)
        if entry:
            entries.append((entry.group(1), entry.group(2)))
        elif entries:
            name, meaning = entries[-1]
            entries[-1] = (name, f"{meaning} {line.strip()}")
        else:
            before.append(line)
    listed = "\n".join(f"- **{sentence(name)}**: {sentence(meaning)}" for name, meaning in entries)
    return [*([sentence(" ".join(before))] if before else []), listed]
