"""C source text: valid names, numbers and tables, sections for the linker, and code in single precision."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError

# Names from a mechanism file as C identifiers, comments and strings.
#
# The generated code stays valid for any name: an identifier consists of letters, digits and underscores and is unique,
# a comment cannot be closed from inside, and a string contains the name byte by byte.


# Reserved words of C and C++, and names whose files would hide a header of the compiler or each other.
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
    """Return a name as an identifier, beginning with a letter: `tool.x` becomes `tool_x`."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
    if not plain or not plain[0].isalpha():
        plain = f"n{plain}" if plain else "unnamed"
    return plain[:longest].rstrip("_")


def prefix_of(name: str) -> str:
    """Return the prefix of all functions and files."""
    plain = identifier(name, LONGEST_PREFIX).lower()
    return f"{plain}_model" if plain in KEYWORDS or plain in FILES else plain


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a unique upper-case identifier for each name, in order."""
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
    r"""Return text for a C comment: printable ASCII without *, ?, \\ and ", other characters as <U+...>."""
    kept = "".join(
        c if c.isascii() and c.isprintable() and c not in '*?\\"' else f"<U+{ord(c):04X}>" for c in str(text)
    )
    return kept if len(kept) <= longest else kept[: longest - 3] + "..."


def string(text: str) -> str:
    """Return a C string literal: UTF-8 bytes, special ones as three octal digits, so that following digits are safe."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "backslashreplace")
    )
    return f'"{plain}"'


# Numbers and tables as C source that is read back bit for bit.


WIDTH = 110


def c_number(value: float) -> str:
    """Return the shortest decimal that C reads back as the same double."""
    text = repr(float(value))
    return text if any(c in text for c in ".e") else f"{text}.0"


def brace_table(values: NDArray, indent: str = "    ") -> str:
    """Return a table as a nested initializer, with the last axis wrapped into lines."""
    if values.ndim == 1:
        whole = values.dtype.kind in "iu"
        return _wrap_items([str(int(v)) if whole else c_number(v) for v in values.tolist()], indent)
    rows = f",\n{indent}".join(brace_table(row, indent + "  ") for row in values)
    return f"{{\n{indent}{rows}\n{indent[:-2]}}}"


def _wrap_items(items: list[str], indent: str) -> str:
    lines, line = [], ""
    for item in items:
        if line and len(line) + len(item) > WIDTH:
            lines.append(line)
            line = ""
        line += f"{item}, "
    lines.append(line)
    return "{" + f"\n{indent} ".join(text.rstrip() for text in lines).rstrip(",") + "}"


def c_table(kind: str, name: str, values: NDArray) -> str:
    """Return `static const double name[2][3] = {...};`."""
    shape = "".join(f"[{size}]" for size in values.shape)
    return f"static const {kind} {name}{shape} = {brace_table(values)};\n"


# Linker sections of tables and functions: macros that are empty unless they are defined at compile time.


_TABLE = re.compile(
    r"^((?:static )?const (?:double|float|int|unsigned short|struct (?:rest_)?node) \w+(?:\[\d+\])+)( = )", re.MULTILINE
)
_CODE = re.compile(r"^((?:static )?(?:int|void|double|float) \w+\()", re.MULTILINE)


def with_sections(text: str, upper: str) -> str:
    """Return the code with `<UPPER>_TABLES` after every table and `<UPPER>_CODE` before every function."""
    return _CODE.sub(rf"{upper}_CODE \1", _TABLE.sub(rf"\1 {upper}_TABLES\2", text))


# Code in single precision: types, literals and mathematical functions.


Precision = Literal["double", "single"]
PRECISIONS = ("double", "single")
BYTES = {"double": 8, "single": 4}
CLOSE = {"double": 1e-6, "single": 1e-3}  # distance from an edge, in boxes, below which the exact edge is compared

# Comments, strings and parts of type `exact` (`exact_parts`) stay; a number is one with a point or an exponent.
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
    """Return the code with `float` in place of `double`; raise InputError if a number is too large for it."""
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
            f"number {text} is too large for single precision", part="export", hint='use precision="double"'
        )
    shortest = str(value)
    return f"{shortest}f" if any(c in shortest for c in ".e") else f"{shortest}.0f"
