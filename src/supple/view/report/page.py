"""Elements of a report page, and its style.

Text is always escaped; only `Html`, which is created here, is markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from supple.results.text import Text
from supple.view.house_style import FAINT, GRID, INK, PALETTE

# Style of every report: light or dark as the reader's screen, light on paper.


# Colours of the figures and their names on the page, so that figures follow dark mode.
COLOURS = {
    "#ffffff": "paper", INK: "ink", GRID: "grid", FAINT: "faint", "#bbbbbb": "edge", "#555555": "soft",
    "#cfcfcf": "ghost", "#dddddd": "edge", "#e4e4e4": "grid", "#eaeaea": "grid",
} | {colour: f"c{i}" for i, colour in enumerate(PALETTE)}  # fmt: skip

_LIGHT = {
    "paper": "#ffffff", "ink": INK, "soft": "#555555", "faint": FAINT, "edge": "#bbbbbb", "grid": GRID,
    "ghost": "#cfcfcf", "card": "#f5f6f8", "good": "#2f7d46", "bad": "#b3371f",
} | {f"c{i}": colour for i, colour in enumerate(PALETTE)}  # fmt: skip
_DARK = {
    "paper": "#15181d", "ink": "#e4e6ea", "soft": "#aab0ba", "faint": "#7f8793", "edge": "#555c68", "grid": "#2a2f38",
    "ghost": "#4a515c", "card": "#1d2128", "good": "#6cc287", "bad": "#f0846c",
    "c0": "#7fb0e6", "c1": "#ec8a74", "c2": "#84c490", "c3": "#c09ad4", "c4": "#dfb566", "c5": "#6fcaca",
    "c6": "#e08db2", "c7": "#a8a8a8",
}  # fmt: skip


def _declare_colours(colours: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


STYLE = (
    f"""
:root {{ color-scheme: light dark; {_declare_colours(_LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_declare_colours(_DARK)} }} }}
@media print {{ :root {{ color-scheme: light; {_declare_colours(_LIGHT)} }} }}
"""
    + """
@page { margin: 16mm 14mm }
* { box-sizing: border-box }
body { font: 15px/1.55 "DejaVu Sans", Verdana, "Segoe UI", sans-serif; color: var(--ink); background: var(--paper);
  max-width: 66rem; margin: 0 auto; padding: 2.2rem 1.4rem 3rem; overflow-wrap: anywhere }
header { border-bottom: 2px solid var(--c0); padding-bottom: .9rem }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 } header p { margin: .35rem 0 0; color: var(--soft) }
h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; padding-bottom: .25rem; border-bottom: 1px solid var(--edge) }
h3 { font-size: 1rem; margin: 1.6rem 0 .3rem } p { margin: .6rem 0 } ul { padding-left: 1.2rem }
a { color: var(--c0) } nav { font-size: .88rem; margin: .9rem 0 0 } nav a { margin-right: 1.1rem; white-space: nowrap }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.3rem 0 0 }
.card { background: var(--card); border-radius: 6px; padding: .65rem .8rem }
.card b { display: block; font-size: 1.2rem; font-weight: 600; line-height: 1.3 }
.card span { color: var(--soft); font-size: .8rem }
.beside { display: flex; flex-wrap: wrap; column-gap: 3rem; margin: .5rem 0 } .beside > div { max-width: 100% }
.wide { overflow-x: auto } table { border-collapse: collapse; margin: .6rem 0 .2rem; font-size: .88rem }
td, th { padding: .22rem 1.1rem .22rem 0; text-align: right; vertical-align: top; overflow-wrap: normal }
th { font-weight: 600; border-bottom: 1px solid var(--edge); white-space: nowrap }
tbody tr + tr td { border-top: 1px solid var(--grid) } td.l, th.l { text-align: left }
tr.silent td { color: var(--faint) } .good { color: var(--good) } .bad { color: var(--bad) }
figure { margin: 1rem 0 .4rem } figure svg, figure img { max-width: 100%; height: auto; display: block }
figure img { background: #fff; border-radius: 4px }
figcaption, .small { color: var(--soft); font-size: .83rem; margin: .3rem 0 0 }
pre { background: var(--card); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto; font-size: .82rem }
pre, code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre-wrap }
details { margin: .6rem 0 } summary { cursor: pointer; color: var(--soft) }
footer { margin-top: 3rem; padding-top: .6rem; border-top: 1px solid var(--edge); color: var(--soft); font-size: .8rem }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt } nav { display: none }
  h2, h3 { break-after: avoid }
  figure, .cards, tr, pre { break-inside: avoid } .wide { overflow: visible } thead { display: table-header-group }
  details { display: block } a { color: inherit; text-decoration: none } }
"""
)


# No external resources, no scripts.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


# Parts of a page: sections, paragraphs, tables.


class Html(str):
    """Text that is already valid markup."""

    __slots__ = ()


@dataclass(frozen=True)
class ReportSection:
    """Section of a report: heading and contents."""

    title: str
    parts: tuple[Html, ...]


@dataclass(frozen=True)
class Report:
    """Report page before it is written.

    Attributes
    ----------
    title, subtitle : str
        Headings.
    cards : dict of str to str
        Key figures, {name: value}.
    sections : tuple of ReportSection
        Contents.
    footer : str
        Last line.
    data : dict
        Contents for programs, as JSON data.
    """

    title: str
    subtitle: str
    cards: Mapping[str, str]
    sections: tuple[ReportSection, ...]
    footer: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def json_data(self) -> dict[str, Any]:
        """Return the data that `--json` prints: `data` with the titles."""
        return {**self.data, "title": self.title, "sections": [one.title for one in self.sections]}

    def text(self) -> Text:
        """Return a text with the title and the cards."""
        out = Text(self.title)
        out.table(("", ""), list(self.cards.items()))
        return out

    def html(self) -> str:
        """Return the complete HTML file as text."""
        listed = "".join(f'<a href="#s{i}">{escaped_text(one.title)}</a>' for i, one in enumerate(self.sections))
        cards = "".join(
            f'<div class="card"><b>{escaped_text(value)}</b><span>{escaped_text(name)}</span></div>'
            for name, value in self.cards.items()
        )
        body = "\n".join(
            f'<section id="s{i}"><h2>{escaped_text(one.title)}</h2>\n{chr(10).join(one.parts)}</section>'
            for i, one in enumerate(self.sections)
        )
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
            f"<title>{escaped_text(self.title)}</title><style>{STYLE}</style></head>\n<body>\n"
            f"<header><h1>{escaped_text(self.title)}</h1><p>{escaped_text(self.subtitle)}</p><nav>{listed}</nav></header>\n"
            f'<div class="cards">{cards}</div>\n{body}\n<footer>{escaped_text(self.footer)}</footer>\n</body></html>\n'
        )


def report_section(title: str, *parts: Html | None) -> ReportSection:
    """Return a section from its heading and parts; parts that are None are omitted."""
    return ReportSection(title, tuple(part for part in parts if part))


def escaped_text(text: Any) -> str:
    """Return text as HTML that displays it unchanged."""
    return text if isinstance(text, Html) else escape(str(text))


def heading(text: str) -> Html:
    """Return a heading within a section."""
    return Html(f"<h3>{escaped_text(text)}</h3>")


def paragraph(text: str, kind: str = "") -> Html:
    """Return a paragraph; `kind` is a class of the style."""
    return Html(f"<p{_class(kind)}>{escaped_text(text)}</p>")


def bullets(texts: Iterable[str]) -> Html | None:
    """Return a bullet list; None if there are no texts."""
    items = "".join(f"<li>{escaped_text(text)}</li>" for text in texts)
    return Html(f"<ul>{items}</ul>") if items else None


def commands(lines: Sequence[str]) -> Html:
    """Return commands as preformatted text."""
    return Html(f"<pre>{chr(10).join(escaped_text(line) for line in lines)}</pre>")


def fold_parts(summary: str, *parts: Html | None) -> Html:
    """Return parts that are folded behind a summary."""
    inside = "".join(part for part in parts if part)
    return Html(f"<details><summary>{escaped_text(summary)}</summary>{inside}</details>")


def beside(*parts: Html | None) -> Html | None:
    """Return parts side by side if there is space."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    return Html(f'<div class="beside">{inside}</div>') if inside else None


def mark_text(text: str, kind: str) -> Html:
    """Return text in the colour of a kind: good, bad."""
    return Html(f"<span{_class(kind)}>{escaped_text(text)}</span>")


def html_table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], *, texts: Sequence[int] = (0,), silent: Sequence[int] = ()
) -> Html | None:
    """Return a table; None if there are no rows.

    texts  : left-aligned columns of words
    silent : rows in grey
    """
    body = [
        f"<tr{_class('silent' if i in silent else '')}>"
        + "".join(f"<td{_class('l' if k in texts else '')}>{escaped_text(cell)}</td>" for k, cell in enumerate(cells))
        + "</tr>"
        for i, cells in enumerate(rows)
    ]
    if not body:
        return None
    top = "".join(f"<th{_class('l' if k in texts else '')}>{escaped_text(head)}</th>" for k, head in enumerate(heads))
    return Html(
        f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>\n{chr(10).join(body)}\n</tbody></table></div>'
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
