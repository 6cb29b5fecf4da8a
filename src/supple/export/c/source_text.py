"""C source text: names from a file, numbers and tables, sections for the linker, and code in single precision."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError

# Names from a file as they may stand in C: identifiers, comments and strings.
#
# Whatever a user calls a joint, the generated code keeps its meaning: an identifier is made of letters, digits and
# underscores and is unique; a comment cannot be closed from inside; a string holds the name byte by byte.


# Words that are taken in C or C++, and files whose names would hide a header of the compiler or one another.
KEYWORDS = frozenset(
    (
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
        "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
        "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
        "volatile", "while", "alignas", "alignof", "and", "asm", "bool", "catch", "class", "constexpr",
        "decltype", "delete", "explicit", "export", "false", "friend", "mutable", "namespace", "new",
        "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "template", "this",
        "throw", "true", "try", "typename", "typeof", "using", "virtual", "xor", "main", "errno",
    )
)  # fmt: skip
FILES = frozenset(
    (
        "assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits", "locale",
        "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint", "stdio",
        "stdlib", "stdnoreturn", "string", "tgmath", "threads", "time", "uchar", "wchar", "wctype",
        "example_main", "con", "prn", "aux", "nul",
    )
)  # fmt: skip
LONGEST = 40
LONGEST_PREFIX = 40


def identifier(name: str, longest: int = LONGEST) -> str:
    """Letters, digits and single underscores of a name, beginning with a letter: `tool.x` becomes `tool_x`."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not plain or not plain[0].isalpha():
        plain = f"n{plain}" if plain else "unnamed"
    return plain[:longest].rstrip("_")


def prefix_of(name: str) -> str:
    """What the names of all functions and files begin with."""
    plain = identifier(name, LONGEST_PREFIX).lower()
    return f"{plain}_model" if plain in KEYWORDS or plain in FILES else plain


def identifiers(names: Iterable[str]) -> list[str]:
    """An upper-case identifier for each name, in order, all different."""
    found: list[str] = []
    for name in names:
        plain = identifier(name).upper()
        candidate, count = plain, 1
        while candidate in found:
            count += 1
            candidate = f"{plain}_{count}"
        found.append(candidate)
    return found


def comment(text: object, longest: int = 80) -> str:
    """Text inside /* */: printable ASCII without *, ?, \\ and ", the rest as <U+...>."""
    kept = "".join(
        c if c.isascii() and c.isprintable() and c not in '*?\\"' else f"<U+{ord(c):04X}>" for c in str(text)
    )
    return kept if len(kept) <= longest else kept[: longest - 3] + "..."


def string(text: str) -> str:
    """A string literal: UTF-8 byte by byte, octal where it is not plain (three digits, so that none can follow)."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "backslashreplace")
    )
    return f'"{plain}"'


# Numbers and tables as C source that reads back bit for bit.


WIDTH = 110


def c_number(value: float) -> str:
    """The shortest decimal that is this double; C reads it back exactly."""
    text = repr(float(value))
    return text if any(c in text for c in ".e") else f"{text}.0"


def braced(values: NDArray, indent: str = "    ") -> str:
    """A table as a nested initializer, the last axis filled into lines."""
    if values.ndim == 1:
        whole = values.dtype.kind in "iu"
        return _filled([str(int(v)) if whole else c_number(v) for v in values.tolist()], indent)
    rows = f",\n{indent}".join(braced(row, indent + "  ") for row in values)
    return f"{{\n{indent}{rows}\n{indent[:-2]}}}"


def _filled(items: list[str], indent: str) -> str:
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) > WIDTH:
            lines.append(line)
            line = ""
        line += f"{item}, "
    lines.append(line)
    return "{" + f"\n{indent} ".join(text.rstrip() for text in lines).rstrip(",") + "}"


def c_table(kind: str, name: str, values: NDArray) -> str:
    """`static const double name[2][3] = {...};`"""
    shape = "".join(f"[{size}]" for size in values.shape)
    return f"static const {kind} {name}{shape} = {braced(values)};\n"


# Where a linker puts tables and functions: macros that are empty unless they are defined when compiling.


_TABLE = re.compile(
    r"^((?:static )?const (?:double|float|int|struct (?:rest_)?node) \w+(?:\[\d+\])+)( = )", re.MULTILINE
)
_CODE = re.compile(r"^((?:static )?(?:int|void|double|float) \w+\()", re.MULTILINE)


def with_sections(text: str, upper: str) -> str:
    """The code with `<UPPER>_TABLES` behind every table and `<UPPER>_CODE` before every function."""
    return _CODE.sub(rf"{upper}_CODE \1", _TABLE.sub(rf"\1 {upper}_TABLES\2", text))


# The same code in single precision: types, literals and functions of the mathematics.


Precision = Literal["double", "single"]
PRECISIONS = ("double", "single")
BYTES = {"double": 8, "single": 4}
CLOSE = {"double": 1e-6, "single": 1e-3}  # of a box: from where on edges are looked at, by precision

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
