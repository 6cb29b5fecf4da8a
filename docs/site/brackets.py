"""Split formulas outside brackets."""

from __future__ import annotations

import re

OPEN, CLOSE = {"(": ")", "[": "]", "{": "}"}, ")]}"


def parts(line: str) -> list[str]:
    """Split a line into formulas at wide gaps outside brackets."""
    parts, depth, start = [], 0, 0
    gaps = {gap.start(): gap.end() for gap in re.finditer(r"(?<=[,;:])\s{2,}|\s{3,}", line)}
    for index, c in enumerate(line):
        depth += (c in OPEN) - (c in CLOSE)
        if index in gaps and depth <= 0 and index >= start:
            parts.append(line[start:index])
            start = gaps[index]
    return [part for part in (*parts, line[start:]) if part.strip()]


def closing(text: str, at: int) -> int:
    """Return the index where the bracket at `at` closes, or the length of the text."""
    wanted: list[str] = []
    for index in range(at, len(text)):
        if text[index] in OPEN:
            wanted.append(OPEN[text[index]])
        elif wanted and text[index] == wanted[-1]:
            wanted.pop()
            if not wanted:
                return index
    return len(text)


def split_outside(text: str, separator: str) -> list[str]:
    """Split the text at separators outside brackets."""
    parts, depth, start = [], 0, 0
    for index, c in enumerate(text):
        depth += (c in OPEN) - (c in CLOSE)
        if c == separator and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def cells(line: str, rows: list[str], bracket: str) -> list[str]:
    """Split a row into cells at commas or wide gaps, or into single symbols."""
    if any(len(split_outside(other, ",")) > 1 for other in rows):
        return split_outside(line, ",")
    if any(re.search(r"\S\s{2,}\S", other) for other in rows):
        return re.split(r"\s{2,}", line.strip())
    counts = {len(other.split()) for other in rows}
    if (
        bracket == "["
        and counts != {1}
        and len(counts) == 1
        and not any(re.search(r"\s[-+=]\s|\(", other) for other in rows)
    ):
        return line.split()
    return [line]
