"""Convert plain text (docstrings, help, descriptions of a schema) to Markdown."""

from __future__ import annotations

import inspect
import re
import textwrap

import blocks

ENTRY = re.compile(r"^(\S[^:`]{0,60}?)\s+: (.*)$")
PROSE = re.compile(r"(?:\b[a-z]{3,}\b[ ,]+){3}|\.$")  # words enough for a sentence, or its end
CODE = re.compile(r"(``[^`]+``|`[^`]*`)")
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)  # a numpydoc heading
LISTED = {"Parameters", "Other Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes"}
DIRECTIVE = re.compile(r"  # doctest: .*$", re.MULTILINE)


def sentence(text: str) -> str:
    """Convert text to one line of Markdown: special characters are escaped, code is unchanged."""
    pieces = CODE.split(" ".join(text.split()))
    return "".join(piece if piece.startswith("`") else re.sub(r"([*<\[\]{}$_#])", r"\\\1", piece) for piece in pieces)


def cell(text: str) -> str:
    """Convert text to a cell of a Markdown table."""
    return sentence(text).replace("|", "\\|")


def code(text: str) -> str:
    """Format code in a cell of a Markdown table."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def docstring(text: str) -> str:
    """Convert a docstring: numpydoc sections, paragraphs, `name : meaning` lists, indented equations and code."""
    parts = SECTION.split(text.strip())
    found = [_paragraphs(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        content = _listed(body) if title in LISTED else _paragraphs(body)
        if title == "See Also":  # names as code, which becomes links
            content = re.sub(
                r"^- \*\*(.+?)\*\*:", lambda name: f"- `{name[1]}`:".replace("\\", ""), content, flags=re.M
            )
        found.append(f"**{title}**\n\n{content}")
    return "\n\n".join(part for part in found if part)


def _paragraphs(text: str) -> str:
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        if not paragraph.strip():
            continue
        if all(line.startswith("    ") for line in lines):
            found.append(_block(lines))
        elif lines[0].startswith(">>> "):
            found.append(f"```pycon\n{DIRECTIVE.sub('', paragraph)}\n```")
        elif any(ENTRY.match(line) for line in lines):
            found.extend(_entries(lines))
        elif all("=" in line for line in lines) and blocks.SYMBOLS.search(paragraph) and not PROSE.search(paragraph):
            found.append(_block(lines))
        else:
            found.append(sentence(paragraph))
    return "\n\n".join(found)


def _listed(body: str) -> str:
    """Convert the entries of a section such as Parameters: a line `name : type`, then an indented description."""
    items: list[str] = []
    for entry in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, rest = entry.partition("\n")
        name, _, kind = (part.strip() for part in head.partition(" : "))
        description = _paragraphs(inspect.cleandoc("\n" + rest)) if rest.strip() else ""
        label = f"**{sentence(name)}**" + (f" ({sentence(kind)})" if kind else "")
        items.append(textwrap.indent(f"{label}\n\n{description}".strip(), "  ").replace("  ", "- ", 1))
    return "\n".join(items)


def _block(lines: list[str]) -> str:
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    content = "\n".join(line[indent:] for line in lines)
    language = blocks.kind(content)
    if language == "text" and "(" in content and "=" in content and not blocks.SYMBOLS.search(content):
        language = "python"
    return f"```{{equations}}\n{content}\n```" if language == "equations" else f"```{language}\n{content}\n```"


def _entries(lines: list[str]) -> list[str]:
    """Convert `name : meaning` lines, continued by indented ones, to a list; text before them is a paragraph."""
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
