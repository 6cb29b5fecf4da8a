"""Determine the language of unlabelled blocks: equations, commands, Python, or text drawings."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

NUMBERED = re.compile(r"\s\(\d+[a-z]?\)\s*$")
SYMBOLS = re.compile(r"[α-ωΑ-Ω∂∫√ᵀ₀₁²⁻]|[̀-ͯ]|[ẋẍẏÿżžẇẅ]")
COMMAND = re.compile(r"^(supple|make|python|pip|cc|git|\$CC|source|export|pytest) ")


def kind(content: str) -> str:
    """Return the language of an unlabelled block: `equations`, `sh`, `python` or `text`."""
    lines = [line for line in content.splitlines() if line.strip()]
    if any(NUMBERED.search(line) for line in lines):
        return "equations"
    if any(COMMAND.match(line) for line in lines):
        return "sh" if all(COMMAND.match(line) or line[:1] in " #" for line in lines) else "text"
    if re.search(r"^(import |from )|supple\.\w+\(|\w+\.\w+\(.*\)", content, re.MULTILINE):
        return "python" if not re.search("─", content) else "text"
    if "=" in content and SYMBOLS.search(content) and "#" not in content and "─" not in content:
        return "equations"
    return "text"


def label_blocks(text: str) -> str:
    """Label every unlabelled block of a page; indented blocks become fences."""
    lines = text.splitlines()
    for token in reversed(MarkdownIt("commonmark").parse(text)):
        unnamed = token.type == "code_block" or (token.type == "fence" and not token.info)
        if token.map is None or not unnamed:
            continue
        language = kind(token.content)
        first, last = token.map
        while last > first and not lines[last - 1].strip():
            last -= 1
        content = token.content.rstrip("\n").splitlines()
        margin = " " * (_indent(lines[first]) - (0 if token.type == "fence" else 4 + _indent(content[0])))  # of a list
        opening = "```{equations}" if language == "equations" else f"```{language}"
        lines[first:last] = [margin + line for line in (opening, *content, "```")]
    return "\n".join(lines) + "\n"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
