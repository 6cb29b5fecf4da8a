"""Sphinx: blocks of plain equations as MathML."""

from __future__ import annotations

from html import escape

import plain_maths
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Equations(SphinxDirective):
    """A block of plain equations."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Raw HTML, and the text itself for all other builders."""
        lines = list(self.content)
        html = nodes.raw("", block(lines), format="html")
        self.set_source_info(html)
        return [html]


def block(lines: list[str]) -> str:
    """The lines of a block of equations as HTML."""
    found, at = [], 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        pair = lines[at : at + 2]
        drawn = None
        if len(pair) == 2 and all(line.lstrip().startswith("[") for line in pair):
            drawn = plain_maths.stacked([plain_maths.NUMBER.sub("", line) for line in pair])
        if drawn:
            number = plain_maths.NUMBER.search(pair[1])
            found.append(_line([drawn], "", number.group(1) if number else ""))
            at += 2
        else:
            found.append(_line(*plain_maths.equation_line(lines[at])))
            at += 1
    return '<div class="equations">' + "".join(found) + "</div>"


def _line(parts: list[str], citation: str, number: str) -> str:
    label = f'<a class="number" id="eq-{number}" href="#eq-{number}">({number})</a>' if number else ""
    source = f'<span class="source">{escape(citation)}</span>' if citation else ""
    return f'<div class="equation"><div class="formulas">{"".join(parts)}</div>{source}{label}</div>'


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("equations", Equations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
