"""Numbers and tables as C source that reads back bit for bit."""

from __future__ import annotations

from numpy.typing import NDArray

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
