"""A mechanism on its way to another process: as text, which reads back to the same numbers, and is read once there."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from supple.description.mechanism import Mechanism
from supple.formats.mechanism_file import loads
from supple.formats.mechanism_text import to_yaml


class Travelling:
    """The mechanism itself where it was made; packed, its text. Files that it names must be there on arrival."""

    def __init__(self, described: Mechanism | str):
        self._described = described

    @property
    def mechanism(self) -> Mechanism:
        """Where it has arrived, read when it is first asked for."""
        return _read(self._described) if isinstance(self._described, str) else self._described

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        here = self._described
        return Travelling, (here if isinstance(here, str) else to_yaml(here),)


@lru_cache(maxsize=4)
def _read(text: str) -> Mechanism:
    return loads(text)
