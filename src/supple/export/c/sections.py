"""Where a linker puts tables and functions: macros that are empty unless they are defined when compiling."""

from __future__ import annotations

import re

_TABLE = re.compile(
    r"^((?:static )?const (?:double|float|int|struct (?:rest_)?node) \w+(?:\[\d+\])+)( = )", re.MULTILINE
)
_CODE = re.compile(r"^((?:static )?(?:int|void|double|float) \w+\()", re.MULTILINE)


def with_sections(text: str, upper: str) -> str:
    """The code with `<UPPER>_TABLES` behind every table and `<UPPER>_CODE` before every function."""
    return _CODE.sub(rf"{upper}_CODE \1", _TABLE.sub(rf"\1 {upper}_TABLES\2", text))
