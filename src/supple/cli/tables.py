"""Text that is shown while it is put together."""

from __future__ import annotations

from collections.abc import Sequence

from supple.results.text import Text, number_text

__all__ = ["Tables", "number_text"]


class Tables:
    """Prints lines, tables and matrices on standard output, each at once."""

    def line(self, text: str) -> None:
        Text(text).print()

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        found = Text()
        found.table(titles, rows)
        found.print()

    def matrix(self, title: str, rows: Sequence[str], columns: Sequence[str], values: object) -> None:
        found = Text()
        found.matrix(title, rows, columns, values)
        found.print()
