"""C code in double precision as the same code in single: types, literals and functions of the mathematics."""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from supple.diagnostics import InputError
from supple.export.c.location import CLOSE

Precision = Literal["double", "single"]
PRECISIONS = ("double", "single")
BYTES = {"double": 8, "single": 4}

# Comments, strings and what is exact (`exact_parts`) are passed over; a number is one with a point or an exponent.
_TOKEN = re.compile(
    r"/\*.*?\*/"
    r"|typedef double exact;|\(sqrt\)"
    r'|"(?:\\.|[^"\\])*"'
    r"|(?<![\w.])(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(?![\w.])"
    r"|\b(?:double|sqrt|tanh|exp|log|pow|sin|cos|fabs|fmax|fmin|ceil|floor|rint|DBL_MAX)\b",
    re.DOTALL,
)
_NAMES = {"double": "float", "DBL_MAX": "FLT_MAX"}
_CLOSE = f"#define CLOSE {CLOSE['double']!r}"


def single_precision(text: str) -> str:
    """The code with `float` in the place of `double`; refused where a number is too large for it."""
    return _TOKEN.sub(_token, text.replace(_CLOSE, f"#define CLOSE {CLOSE['single']!r}"))


def _token(found: re.Match[str]) -> str:
    text = found.group()
    if text[0] in '/"(' or text.startswith("typedef"):
        return text
    if text[0].isalpha():
        return _NAMES.get(text, f"{text}f")
    if float(text) == np.finfo(float).max:
        return "FLT_MAX"
    with np.errstate(over="ignore", under="ignore"):
        value = np.float32(float(text))
    if not np.isfinite(value):
        raise InputError(
            f"{text} is too large for single precision", part="export", hint="export it in double precision"
        )
    shortest = str(value)
    return f"{shortest}f" if any(c in shortest for c in ".e") else f"{shortest}.0f"
