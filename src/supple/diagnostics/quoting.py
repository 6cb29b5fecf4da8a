"""What the user wrote, fit to stand in a message: on one line, printable, of bearable length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def excerpt(value: object, longest: int = 60) -> str:
    """The text of a value, shortened, with control characters escaped (a terminal would obey them)."""
    text = str(value)[: 4 * longest]
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
    return line if len(line) <= longest else line[: longest - 3] + "..."


def quoted(value: object, longest: int = 60) -> str:
    """The same in double quotes."""
    return f'"{excerpt(value, longest)}"'


def item_list(items: Sequence[str], most: int = 12) -> str:
    """The items in one line; of many the first ones, and how many more there are."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[: most - 2])} and {len(items) - most + 2} more"


def values_text(names: Iterable[str], values: Iterable[float], digits: int = 6) -> str:
    """`shoulder=0.5, elbow=-1.2`, to so many significant digits."""
    return ", ".join(f"{name}={value:.{digits}g}" for name, value in zip(names, values, strict=True))
