"""Words in formulas: names of functions, and words between symbols."""

from __future__ import annotations

import re

FUNCTIONS = frozenset(
    re.findall(
        r"\w+",
        "tanh exp diag max min cos sin tan cot arg det rank span log sgn sign median atan conj round cov cost ad curl "
        "rot trans ln tr Re Im",
    )
)
SHORT_WORDS = frozenset(
    re.findall(r"\w+", "or of at up is in to by if so as no on an it and the for its No Ni MAC MPC MPD FRF RMS ZVD")
)


def is_word(run: str) -> bool:
    """Return whether letters are a word, not a product: EA and kGA are products."""
    plain = run.replace("'", "").replace("-", "")
    return run in SHORT_WORDS or bool(
        re.fullmatch(r"[A-Za-z]?[a-z]{2,}", plain) and len(plain) > 2 and plain not in ("kGA",)
    )


def has_words(text: str) -> bool:
    """Return whether a formula is a sentence."""
    return any(is_word(run) and run not in FUNCTIONS for run in re.findall(r"[A-Za-z]{3,}", text))
