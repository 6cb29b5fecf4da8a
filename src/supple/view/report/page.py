"""What a page is made of. A text is shown as it is, whatever is in it; only `Html`, which is made here, is markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from supple.results.text import Text
from supple.view.report.page_style import STYLE

# Nothing is asked for from anywhere, and nothing runs.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Html(str):
    """Markup that is right already."""

    __slots__ = ()


@dataclass(frozen=True)
class ReportSection:
    """A heading and what stands under it, in order."""

    title: str
    parts: tuple[Html, ...]


@dataclass(frozen=True)
class Report:
    """A page before it is written.

    cards : what matters most, in a few words: name -> value
    data  : the same for programs, as JSON
    """

    title: str
    subtitle: str
    cards: Mapping[str, str]
    sections: tuple[ReportSection, ...]
    footer: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """The keys and values that `--json` prints: its data and titles."""
        return {**self.data, "title": self.title, "sections": [one.title for one in self.sections]}

    def text(self) -> Text:
        """Its title and cards."""
        out = Text(self.title)
        out.table(("", ""), list(self.cards.items()))
        return out

    def html(self) -> str:
        """The whole file."""
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
    """Under a heading; what is None is left out."""
    return ReportSection(title, tuple(part for part in parts if part))


def escaped_text(text: Any) -> str:
    """As the reader shall see it."""
    return text if isinstance(text, Html) else escape(str(text))


def heading(text: str) -> Html:
    """Within a section."""
    return Html(f"<h3>{escaped_text(text)}</h3>")


def paragraph(text: str, kind: str = "") -> Html:
    """A sentence or a few; `kind` is a class of the style."""
    return Html(f"<p{_class(kind)}>{escaped_text(text)}</p>")


def bullets(texts: Iterable[str]) -> Html | None:
    """Points; nothing if there are none."""
    items = "".join(f"<li>{escaped_text(text)}</li>" for text in texts)
    return Html(f"<ul>{items}</ul>") if items else None


def commands(lines: Sequence[str]) -> Html:
    """What to type."""
    return Html(f"<pre>{chr(10).join(escaped_text(line) for line in lines)}</pre>")


def folded(summary: str, *parts: Html | None) -> Html:
    """What few will read, behind its summary."""
    inside = "".join(part for part in parts if part)
    return Html(f"<details><summary>{escaped_text(summary)}</summary>{inside}</details>")


def beside(*parts: Html | None) -> Html | None:
    """One next to the other where there is room."""
    inside = "".join(f"<div>{part}</div>" for part in parts if part)
    return Html(f'<div class="beside">{inside}</div>') if inside else None


def marked(text: str, kind: str) -> Html:
    """A few words in the colour of a kind: good, bad."""
    return Html(f"<span{_class(kind)}>{escaped_text(text)}</span>")


def html_table(
    heads: Sequence[str], rows: Iterable[Sequence[Any]], *, texts: Sequence[int] = (0,), silent: Sequence[int] = ()
) -> Html | None:
    """texts : columns that hold words, to the left; silent : rows in grey. Nothing if there are no rows."""
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
