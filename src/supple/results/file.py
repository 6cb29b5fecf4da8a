"""Results on disk: tables as CSV, arrays as .npz or .mat, written atomically."""

from __future__ import annotations

import csv
import keyword
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.files.whole import write_beside
from supple.results.text import fresh

Arrays = dict[str, NDArray[Any]]

SUFFIXES = (".csv", ".npz", ".mat")
_LONGEST = 63  # longest name in Matlab
_MATLAB = ("function", "end", "otherwise", "switch", "case", "catch", "elseif", "parfor", "persistent", "spmd")


def save_result(path: str | Path, columns: Callable[[], Arrays], arrays: Callable[[], Arrays]) -> Path:
    """Write a file atomically; the suffix selects the format: .csv, .npz or .mat.

    .csv : the columns, in SI units, with full precision
    .npz : the arrays by name, for numpy.load without pickle
    .mat : the same for Matlab (version 5); invalid characters in names become _
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"cannot be written: the name ends in none of {', '.join(SUFFIXES)}",
            file=str(target),
            hint="select the format by the ending of the name",
        )

    def write(stream: BinaryIO) -> None:
        if suffix == ".csv":
            stream.write(csv_text(columns()).encode("utf-8"))
        elif suffix == ".npz":
            arrays_npz(stream, arrays())
        else:
            arrays_mat(stream, arrays())

    return _whole(target, write)


def save_text(path: str | Path, text: str) -> Path:
    """Write a text file atomically."""
    return _whole(Path(path), lambda stream: stream.write(text.encode("utf-8")))


def _whole(target: Path, write: Callable[[BinaryIO], Any]) -> Path:
    with write_beside(target) as beside, beside.open("wb") as stream:
        write(stream)
    return target


def csv_text(columns: Mapping[str, NDArray[Any]]) -> str:
    """Return the lines of a table; the first one holds the column names."""

    class Lines(list[str]):
        write = list.append

    lines = Lines()
    writer = csv.writer(lines)
    writer.writerow(columns)
    writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    return "".join(lines)


def arrays_npz(stream: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as .npz."""
    # numpy.savez is not used: an array may be called `file`, and texts must never be pickled.
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.ascontiguousarray(values).reshape(values.shape), allow_pickle=False)


def arrays_mat(stream: BinaryIO, arrays: Arrays) -> None:
    """Write arrays as a .mat file of version 5."""
    from scipy.io import savemat

    found: dict[str, Any] = {}
    for name, values in arrays.items():
        texts = values.dtype.kind == "U"
        found[matlab_name(name, found)] = values.astype(object) if texts and values.ndim else values
    savemat(stream, found, do_compression=True, oned_as="column")


def matlab_name(name: str, taken: Mapping[str, Any]) -> str:
    """Return a unique name that is valid in Matlab: `tool.x` becomes tool_x."""
    found = re.sub(r"[^0-9A-Za-z_]", "_", name)
    if not found[:1].isalpha():
        found = f"x{found}"
    if keyword.iskeyword(found) or found in _MATLAB:
        found += "_"
    return fresh(found[: _LONGEST - 4], taken)
