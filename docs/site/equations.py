"""Sphinx extension: blocks of plain equations, and symbols with an index in sentences, as MathML."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import plain_maths
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

# one letter, perhaps with accents, and an index; the quantity may follow ∂
INDEXED = re.compile(r"((?<![\w/.])[^\W\d_][\u0300-\u036f\u20db]*_(?:\{[^}]*\}|[^\W_]+)[ᵀ⁻¹²³]*(?![\w]))")


class Equations(SphinxDirective):
    """A block of plain equations."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return raw HTML, and the text itself for other builders."""
        lines = list(self.content)
        html = nodes.raw("", block(lines), format="html")
        self.set_source_info(html)
        return [html]


def block(lines: list[str]) -> str:
    """Return the lines of a block of equations as HTML."""
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


class IndexedSymbols(SphinxTransform):
    """Set symbols with an index in sentences, M_ij or ∂_kΨ, as formulas; leave the rest unchanged."""

    default_priority = 700

    def apply(self, **kwargs: Any) -> None:
        """Split the texts of the page at such symbols; tables of symbols have them in one column."""
        for table in self.document.findall(nodes.table):
            rows = [row for row in table.findall(nodes.row) if row.children]
            if rows and rows[0].children[0].astext() == "symbol":
                for row in rows[1:]:
                    _set_cell(row.children[0])
        for text in list(self.document.findall(nodes.Text)):
            within = text.parent
            if isinstance(within, (nodes.literal, nodes.literal_block, nodes.raw, nodes.title, nodes.comment)):
                continue
            parts = INDEXED.split(str(text))
            if len(parts) > 1:
                set_parts = [_formula(part) if odd % 2 else nodes.Text(part) for odd, part in enumerate(parts) if part]
                within.replace(text, set_parts)


def _set_cell(cell: nodes.Node) -> None:
    """Set the text of a cell as a formula; leave other cells unchanged."""
    if cell.astext() and all(
        type(node) in (nodes.paragraph, nodes.Text) for node in cell.findall() if node is not cell
    ):
        for paragraph in cell.findall(nodes.paragraph):
            paragraph.children = [_formula(paragraph.astext())]


def _formula(text: str) -> nodes.raw:
    return nodes.raw("", f"<math>{plain_maths.row(text)}</math>", format="html")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive and the transform."""
    app.add_directive("equations", Equations)
    app.add_transform(IndexedSymbols)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
