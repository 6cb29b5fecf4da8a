"""Matrices in Matrix Market files: the text is read and checked here, line by line, before any array is made.

    %%MatrixMarket matrix coordinate real symmetric     (or array; integer; general)
    % remarks
    rows columns entries                                (array: rows columns)
    row column value                                    (array: value, column by column)

Of a symmetric matrix one half stands in the file, the diagonal included.  [Boisvert 1996]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sp

from supple.array_types import Array, Integers
from supple.description.quantities.plain_number import plain_number
from supple.diagnostics import InputError
from supple.diagnostics.limits import in_bytes, require_memory, require_within
from supple.diagnostics.quoting import quoted

_TAKEN = 12  # bytes of memory for one of the file, while it is read
_LONGEST = 40  # characters of a number
_BLANK, _PLAIN = (
    np.isin(np.arange(256), np.frombuffer(some, np.uint8)) for some in (b" \t\r\n", b" \t\r\n+-.0123456789eE")
)


class _Header(NamedTuple):
    """What a file promises; line (from 1) is that of its sizes, and stop where it ends."""

    coordinate: bool
    symmetric: bool
    rows: int
    columns: int
    entries: int
    line: int
    stop: int


def read_matrix_market(path: str | Path) -> sp.csr_array:
    """The matrix in a file; what is wrong with it is a `ValueError` that names the line."""
    size = Path(path).stat().st_size
    _within(lambda: require_memory(_TAKEN * size, f"to read {in_bytes(size)} of text takes", hint="give an .npz"))
    content = Path(path).read_bytes()
    header = _header(content, size)
    body = content[header.stop :]
    if b"%" in body:  # remarks leave an empty line behind, so that the others keep their numbers
        body = b"\n".join(b"" if line.startswith(b"%") else line for line in body.split(b"\n"))
    at, values = _numbers(body, header)
    return _coordinates(header, at, values) if header.coordinate else _array(header, values)


def require_rows(count: int, part: str) -> None:
    """Refuse a matrix with more rows than the limit, by a `ValueError`."""
    _within(lambda: require_within("rows", count, part=part, hint="condense the body first"))


def _within(asked: Callable[[], None]) -> None:
    try:
        asked()
    except InputError as error:
        raise ValueError(str(error)) from None


def _header(content: bytes, size: int) -> _Header:
    lines = _lines(content)
    words = _text(next(lines)[1], 1).lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise ValueError("line 1 is not %%MatrixMarket matrix coordinate real symmetric, or alike")
    form, field, symmetry = words[2:]
    for word, known in ((form, ("coordinate", "array")), (field, ("real", "integer", "double"))):
        if word not in known:
            raise ValueError(f"line 1: its entries are {quoted(word, 20)}, not {' or '.join(known[:2])}")
    if symmetry not in ("general", "symmetric"):
        raise ValueError(f"line 1: it is {quoted(symmetry, 20)}, not general or symmetric")
    found = next((one for one in lines if one[1].strip() and not one[1].startswith(b"%")), None)
    if found is None:
        raise ValueError("it ends before its size")
    line, text, stop = found
    sizes = [plain_number(word) for word in _text(text, line).split()]
    if len(sizes) != (3 if form == "coordinate" else 2) or any(not value.is_integer() or value < 0 for value in sizes):
        wanted = "rows, columns and entries" if form == "coordinate" else "rows and columns"
        raise ValueError(f"line {line}: {quoted(_text(text, line).strip(), 40)} is not {wanted}")
    rows, columns = int(sizes[0]), int(sizes[1])
    require_rows(max(rows, columns), f"line {line}")
    symmetric = symmetry == "symmetric"
    if symmetric and rows != columns:
        raise ValueError(f"line {line}: it is symmetric and {rows} by {columns}")
    full = rows * (rows + 1) // 2 if symmetric else rows * columns
    entries = int(sizes[2]) if form == "coordinate" else full
    if entries > full:
        raise ValueError(f"line {line}: {entries} entries are more than {rows} by {columns} has room for ({full})")
    # Every entry takes a digit and a break at the least, with its place two digits and two blanks more.
    if entries * (6 if form == "coordinate" else 2) > size + 1:
        raise ValueError(f"it is shorter than its header says ({rows} by {columns}, {entries} entries)")
    return _Header(form == "coordinate", symmetric, rows, columns, entries, line, stop)


def _lines(content: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Number (from 1), text and end of each line."""
    number, start = 1, 0
    while start <= len(content):
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        yield number, content[start:stop], stop + 1
        number, start = number + 1, stop + 1


def _numbers(body: bytes, header: _Header) -> tuple[Integers, Array]:
    """Lines (n,) and numbers (n, 3), or (n, 1) of an array, of all entries, by whole arrays for speed."""
    width, wanted = (3, "row, column and value") if header.coordinate else (1, "a number")
    codes = np.frombuffer(body, np.uint8)
    breaks = np.flatnonzero(codes == ord("\n"))
    word = ~_BLANK[codes]
    edges = np.flatnonzero(np.diff(word, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    line = header.line + 1 + np.searchsorted(breaks, starts)

    def refuse(k: int) -> NoReturn:
        first, last = np.searchsorted(line, line[k]), np.searchsorted(line, line[k], side="right") - 1
        text = quoted(body[starts[first] : min(ends[last], starts[first] + 80)].decode("ascii", "replace"), 40)
        raise ValueError(f"line {line[k]}: {text} is not {wanted}")

    odd = np.flatnonzero(~_PLAIN[codes])
    if len(odd):
        refuse(int(np.searchsorted(starts, odd[0], side="right")) - 1)
    numbers, counts = np.unique(line, return_counts=True)
    uneven = np.flatnonzero(counts != width)
    if len(uneven):
        refuse(int(np.searchsorted(line, numbers[uneven[0]])))
    if len(numbers) < header.entries:
        raise ValueError(f"it ends after {len(numbers)} of {header.entries} entries")
    if len(numbers) > header.entries:
        extra = numbers[header.entries]
        raise ValueError(f"line {extra}: more than the {header.entries} entries that line {header.line} promises")
    long = np.flatnonzero(ends - starts > _LONGEST)
    if len(long):
        refuse(int(long[0]))
    words = body.split()
    try:
        values = np.array(words, dtype=f"S{_LONGEST}").astype(float)
    except ValueError:
        refuse(next(k for k, text in enumerate(words) if math.isnan(plain_number(text.decode("ascii")))))
    infinite = np.flatnonzero(~np.isfinite(values))
    if len(infinite):
        refuse(int(infinite[0]))
    return numbers, values.reshape(-1, width)


def _coordinates(header: _Header, at: Integers, values: Array) -> sp.csr_array:
    outside = (values[:, :2] != np.round(values[:, :2])) | (values[:, :2] < 1.0)
    outside |= values[:, :2] > (header.rows, header.columns)
    if outside.any():
        k = int(np.flatnonzero(outside.any(axis=1))[0])
        place = ", ".join(f"{value:.12g}" for value in values[k, :2])
        raise ValueError(f"line {at[k]}: there is no place ({place}) in {header.rows} by {header.columns}")
    row, column = (values[:, :2].T - 1.0).astype(np.int64)
    _require_once(at, row * header.columns + column)
    if header.symmetric:
        if (row > column).any() and (row < column).any():
            k = int(np.flatnonzero(row < column)[0])
            raise ValueError(f"line {at[k]}: a symmetric matrix has one half in its file, and this has entries of both")
        off = row != column
        row, column = np.append(row, column[off]), np.append(column, row[off])
        values = np.append(values[:, 2], values[off, 2])
    else:
        values = values[:, 2]
    return sp.coo_array((values, (row, column)), shape=(header.rows, header.columns)).tocsr()


def _require_once(at: Integers, place: Integers) -> None:
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if len(twice):
        first, second = at[order[twice[0]]], at[order[twice[0] + 1]]
        raise ValueError(f"lines {first} and {second} give the same entry")


def _array(header: _Header, values: Array) -> sp.csr_array:
    if not header.symmetric:
        return sp.csr_array(values.reshape(header.columns, header.rows).T)
    full = np.zeros((header.rows, header.rows))
    full.T[np.triu_indices(header.rows)] = values[:, 0]  # column by column from the diagonal down
    return sp.csr_array(full + np.tril(full, -1).T)


def _text(line: bytes, number: int) -> str:
    try:
        return line.decode("ascii")
    except UnicodeDecodeError:
        raise ValueError(f"line {number} is not text") from None
