"""Universal files, set by set: pyuff reads and writes the sets, and what it would lose without a word is named.

A set stands between two lines `    -1`. Of an empty file, or one without such lines, pyuff returns an empty list; of
one that was cut off it leaves the last set out; numbers that are missing inside a set shorten it; it writes NaN as 0.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from supple.diagnostics import InputError
from supple.diagnostics.quoting import brief, quoted
from supple.files.whole import written_beside
from supple.formats.text_file import read_bytes

LARGEST = 2**28  # bytes
KINDS = (15, 55, 58, 82, 151, 164, 2411)
_MARK = b"    -1"


def pyuff() -> Any:
    """The package, or how to get it."""
    try:
        import pyuff as package
    except ImportError:
        raise InputError(
            "pyuff is not installed", hint="install it with: pip install 'supple[measurements]', or use .npz or .csv"
        ) from None
    return package


def read_sets(path: str | Path, *, partial: bool = False) -> tuple[list[dict[str, Any]], list[str]]:
    """The sets of the kinds that are known, in the order of the file, and notes on what was left out.

    partial : whether a file that was cut off may be read as far as it goes
    """
    file = brief(path, 500)
    package = pyuff()
    content = read_bytes(path, LARGEST, "split it")
    marks = _marks(content)
    if not content.strip():
        raise InputError("it is empty", file=file, hint="export it again")
    if not marks:
        raise InputError(
            "it has no data set: no line of it is `    -1`, so that it is no universal file", file=file,
            hint="export it as universal file (UFF 58), or give CSV, .mat or .npz its own ending",
        )  # fmt: skip
    notes = []
    if len(marks) % 2:
        kind = _kind(content, marks[-1])
        told = f"it ends within its {_th(len(marks) // 2 + 1)} set{f', of kind {kind}' if kind else ''}: it was cut off"
        if not partial:
            raise InputError(
                told, file=file, hint="copy or export it again; partial=True (--partial) reads the sets before it"
            )
        notes.append(f"{told}, and read without that set")
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        reader, kinds = _reader(package, path, file)
        found = []
        others: dict[int, int] = {}
        for i, number in enumerate(kinds):
            if number in KINDS:
                found.append({**_read(reader, i, number, file), "number": i + 1})
            else:
                others[number] = others.get(number, 0) + 1
    if others:
        told = ", ".join(f"{count} of kind {number}" for number, count in sorted(others.items()))
        notes.append(f"sets that supple does not read are left out: {told}")
    return found, notes


def write_sets(path: str | Path, sets: list[dict[str, Any]]) -> Path:
    """Write sets as pyuff's dictionaries; beside the target first, so that it is written whole or not at all."""
    package = pyuff()
    target = Path(path)
    # pyuff reads the whole file again after every set: each is written into a file of its own.
    with written_beside(target) as beside, tempfile.TemporaryDirectory() as folder, beside.open("wb") as stream:
        one = Path(folder) / "set.uff"
        for item in sets:
            if "data" in item and not np.isfinite(item["data"]).all():
                raise InputError(
                    f"{int((~np.isfinite(item['data'])).sum())} values are not finite",
                    part=item.get("id4", "data"),
                    hint="a universal file has no NaN: take the lines or the channel out",
                )
            one.unlink(missing_ok=True)
            with contextlib.redirect_stdout(io.StringIO()):  # "overwrite" would lose the head of binary sets
                package.UFF(str(one)).write_sets(dict(item), mode="add")
            stream.write(one.read_bytes())
    return target


def _marks(content: bytes) -> list[int]:
    """Where lines begin that open or close a set, as pyuff finds them."""
    found, at = [], content.find(_MARK)
    while at >= 0:
        end = content[at + 6 : at + 7]
        if end in (b"", b"\n", b"\r") or content[at + 6 : at + 80] == b" " * 74:
            found.append(at)
        at = content.find(_MARK, at + 1)
    return found


def _kind(content: bytes, mark: int) -> str:
    lines = content[mark : mark + 200].splitlines()
    text = lines[1][:6].strip() if len(lines) > 1 else b""
    return text.decode("ascii") if text.isdigit() else ""


def _reader(package: Any, path: str | Path, file: str) -> tuple[Any, list[int]]:
    """pyuff's reader, and the kinds of the sets."""
    try:
        reader = package.UFF(str(path))
        return reader, [int(kind) for kind in reader.get_set_types()]
    except Exception as error:  # noqa: BLE001  pyuff raises nothing narrower
        told = brief(error) or type(error).__name__
        raise InputError(f"its sets cannot be told apart ({told})", file=file, hint="export it again") from None


def _read(reader: Any, i: int, kind: int, file: str) -> dict[str, Any]:
    part = f"set {i + 1}, of kind {kind}"
    try:
        found = reader.read_sets(i)
    except Exception as error:  # noqa: BLE001  pyuff raises nothing narrower
        told = brief(error) or type(error).__name__
        raise InputError(
            f"it cannot be read ({told})", part=part, file=file, hint="export it again, or take that set out"
        ) from None
    if not isinstance(found, dict):
        raise InputError("it cannot be read", part=part, file=file, hint="export it again")
    if kind == 58:
        promised, there = int(found.get("num_pts", -1)), len(found.get("data", ()))
        if promised != there:
            raise InputError(
                f"it says {promised} values and has {there}",
                part=f"{part} ({quoted(found.get('id4', ''))})", file=file,
                hint="numbers are missing or were changed by hand: export it again",
            )  # fmt: skip
    return found


def _th(number: int) -> str:
    return f"{number}{'th' if 10 < number % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
