"""Names in a result: told apart where they must be, told in short where they are many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def fresh(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores behind it until it is a new one."""
    known = set(taken)
    while name in known:
        name += "_"
    return name


def listed(names: Iterable[str], most: int = 4) -> str:
    """A few names, and how many more there are."""
    found = [name if len(name) <= 24 else f"{name[:23]}…" for name in names]
    if len(found) > most + 1:
        return ", ".join(found[:most]) + f" and {len(found) - most} more"
    return ", ".join(found) or "none"


def undotted(names: Sequence[str]) -> list[str]:
    """tool_x for tool.x, none twice: a dot stands between a system and its signal in python-control."""
    found: list[str] = []
    for name in names:
        plain = name.replace(".", "_")
        while plain in found:
            plain += "_"
        found.append(plain)
    return found
