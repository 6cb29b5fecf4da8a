"""Numbers as data files write them: 12, -0.5, 1.2e-3. Python would also take 1_5, ١٢ and infinity."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 100  # characters


def plain_number(text: str) -> float:
    """The number that a text without blanks is; nan if it is none."""
    return float(text) if len(text) < _LONGEST and _NUMBER.fullmatch(text) else math.nan
