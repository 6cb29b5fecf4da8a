"""Files of a superelement as arrays: matrices and nodes, checked for compatible sizes.

They are read here because the mass of a body is part of its description. Whether the matrices are those of an elastic
body (symmetry, rigid-body modes) is checked by the formulations.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.array_types import Array, Integers
from supple.description.elastic.array_archive import read_archive
from supple.description.elastic.superelement import ONE_FILE, THREE_FILES, BodySource, Superelement
from supple.description.quantities.quantity import plain_number
from supple.diagnostics import InputError
from supple.diagnostics.arguments import value_text
from supple.diagnostics.errors import excerpt, part_name, quote
from supple.diagnostics.limits import in_bytes, require_memory, require_within
from supple.geometry.inertia import MassProperties, of_spatial
from supple.geometry.rotation import tilde
from supple.kinds import Registry

_UNREADABLE = (ValueError, OSError, OverflowError, MemoryError, csv.Error)
_NAMES = ("nodes", *(f"{name}{part}" for name in "KM" for part in ("", "_row", "_col", "_data", "_shape")))
_LARGEST = 1e40  # kg, N/m, m: products of a few such numbers stay finite
_WHOLE = 2.0**53  # largest integer up to which a float is exact


class SuperelementMatrices(NamedTuple):
    """Matrices and nodes, in the body's axes.

    K, M      : sparse, square; node by node, translations before rotations
    numbers   : (n,) of the nodes, as in the user's file
    positions : (n, 3) from the origin that the user sees, m
    degrees   : (n,) degrees of freedom of each node, 3 (translations) or 6
    reader    : files and reader, for messages; "" for a built-in reader
    """

    K: Any
    M: Any
    numbers: NDArray[np.int64]
    positions: Array
    degrees: NDArray[np.int64]
    reader: str = ""


def superelement_matrices(superelement: Superelement, path: tuple[str | int, ...] = ()) -> SuperelementMatrices:
    """Return the matrices from the files; an `InputError` has the path of the wrong file's key.

    path : path of the superelement in the mechanism file, ("bodies", "arm", "superelement")
    """
    try:
        return _read(superelement)
    except InputError as error:
        key = error.path
        raise InputError(error.message, part=part_name(path), hint=error.hint, path=(*path, *key)) from error.__cause__


def rigid_body_modes(positions: Array, degrees: NDArray[np.int64], origin: Array) -> Array:
    """Return the displacements of all degrees of freedom for unit twists at `origin`: (sum of degrees, 6).

    u = v + ω × (x - origin), φ = ω
    """
    modes = np.zeros((len(positions), 6, 6))
    modes[:] = np.eye(6)
    for i, x in enumerate(positions - origin):
        modes[i, :3, 3:] = -tilde(x)
    return modes[np.arange(6) < degrees[:, None]]


def rigid_mass(arrays: SuperelementMatrices, origin: Array) -> MassProperties:
    """Return mass, centre (from `origin`) and inertia of the body, from Rᵀ M R with its rigid-body modes R.

    R^T M R = [[m I, -m c̃], [m c̃, J_o]]
    """
    R = rigid_body_modes(arrays.positions, arrays.degrees, origin)
    spatial = R.T @ (arrays.M @ R)
    return of_spatial(spatial)


def body_source(superelement: Superelement) -> BodySource:
    """Return the source that reads the files of a superelement, by their extension.

    Files with an unknown extension are read as .npz or Matrix Market, whose contents identify the format.
    """
    keys = ONE_FILE if superelement.file is not None else THREE_FILES
    if superelement.file_ending in BODY_SOURCES and BODY_SOURCES[superelement.file_ending].keys == keys:
        return BODY_SOURCES[superelement.file_ending]
    return next(source for source in _OWN if source.keys == keys)


@lru_cache(maxsize=16)
def _read(superelement: Superelement) -> SuperelementMatrices:
    source = body_source(superelement)
    paths = dict(zip(source.keys, superelement.files(), strict=True))
    origins = {key: _origin(source, path) for key, path in paths.items()}
    try:
        M, K, table = _read_source(source, paths)
        names = source.keys if source.keys == THREE_FILES else ONE_FILE * 3
        _require_nodes(table, names[2])
        degrees = _degrees(table, K.shape[0])
        for name, what, matrix in ((names[1], "stiffness", K), (names[0], "mass", M)):
            _require_matrix(matrix, what, table, name)
        if K.shape != M.shape:
            raise InputError(
                f"the mass matrix has {M.shape[0]} rows, but the stiffness matrix has {K.shape[0]}",
                path=(names[0],),
                hint="export both from the same model",
            )
    except _Unreadable as error:
        key, reason = error.args
        hint = (
            "export it again"
            if superelement.file_ending in BODY_SOURCES
            else f"supported files: {', '.join(BODY_SOURCES)}"
        )
        raise InputError(f"{origins[key]} cannot be read ({reason})", path=(key,), hint=hint) from error.__cause__
    except InputError as error:
        (key,) = error.path
        if source in _OWN:
            raise
        raise InputError(f"{origins[str(key)]}: {error.message}", path=(key,), hint=error.hint) from None
    numbers, positions = table[:, 0].astype(np.int64), np.ascontiguousarray(table[:, 1:4])
    reader = "" if source in _OWN else ", ".join(origins.values())
    return SuperelementMatrices(K, M, numbers, positions, degrees, reader)


def _origin(source: BodySource, path: str) -> str:
    """Return the file, with the reader if it is not a built-in one."""
    name = quote(Path(path).name)
    return name if source in _OWN else f"{name} (reader {quote(source.name)})"


class _Unreadable(Exception):
    """File that cannot be read: the key that names it, and the reason."""


def _read_source(source: BodySource, paths: dict[str, str]) -> tuple[Any, Any, Array]:
    """Return what a source returns: M and K as sparse matrices, and the node table with numbers."""
    key = source.keys[0]
    if source in _OWN:  # built-in readers raise known exceptions; any other is a defect
        found: Any = _guard(key, source.read, *paths.values())
    else:
        found = _guard(key, source.read, *paths.values(), refused=Exception)
    if not isinstance(found, tuple) or len(found) != 3:
        raise _Unreadable(key, f"the reader returns {value_text(found)} instead of (mass, stiffness, nodes)")
    M, K = (_guard(key, _sparse, matrix, what) for matrix, what in zip(found, ("mass", "stiffness"), strict=False))
    table = _guard(key, _real, found[2], "node table")
    if table.ndim == 2 and table.shape[1] == 3:  # positions alone: numbered from 0
        table = np.column_stack([np.arange(len(table)), table])
    return M, K, table


def _sparse(matrix: Any, what: str) -> Any:
    """Return a matrix of a source as a sparse matrix of real numbers."""
    if scipy.sparse.issparse(matrix):
        matrix = scipy.sparse.csr_array(matrix)
        _real(matrix.data, f"{what} matrix")
    else:
        matrix = _real(matrix, f"{what} matrix")
        if matrix.ndim != 2:
            raise ValueError(f"its {what} matrix has {matrix.ndim} dimensions, not 2")
    require_rows(max(matrix.shape), f"its {what} matrix")
    return scipy.sparse.csr_array(matrix, dtype=float)


def _real(values: Any, what: str) -> Array:
    found = np.asarray(values)
    if found.dtype.kind not in "iuf":
        raise ValueError(f"its {what} has entries of type {quote(found.dtype)} instead of real numbers")
    return found.astype(float)


def _degrees(table: Array, rows: int) -> NDArray[np.int64]:
    """Return the degrees of freedom of every node, from the table or else from the size of the matrices."""
    if table.shape[1] == 5:
        return table[:, 4].astype(np.int64)
    return np.full(len(table), 6 if rows == 6 * len(table) else 3)


def _guard(key: str, read: Callable[..., Any], *given: Any, refused: Any = _UNREADABLE) -> Any:
    """Return the result of a reader; its errors refer to the key of the file."""
    try:
        return read(*given)
    except (InputError, _Unreadable):
        raise
    except refused as error:
        reason = excerpt(str(error).splitlines()[0], 300) if str(error) else type(error).__name__
        if not isinstance(error, _UNREADABLE):
            reason = f"{type(error).__name__}: {reason}"
        raise _Unreadable(key, reason) from error


def _read_npz(path: str) -> tuple[Any, Any, Array]:
    arrays = read_archive(path, _NAMES)
    missing = [name for name in ("nodes", "K", "M") if name not in arrays and f"{name}_data" not in arrays]
    if missing:
        known = ", ".join(quote(name) for name in arrays) or "none of K, M and nodes"
        raise ValueError(f"it has no array {quote(missing[0])} (found: {known})")
    table = np.asarray(arrays["nodes"], float)
    if table.ndim == 2 and table.shape[1] == 3:
        table = np.column_stack([np.arange(len(table)), table])
    _require_nodes(table, "file")
    return _unpack_matrix(arrays, "M", table), _unpack_matrix(arrays, "K", table), table


def _read_three(mass: str, stiffness: str, nodes: str) -> tuple[Any, Any, Array]:
    K = _guard("stiffness", read_matrix_market, stiffness)
    return _guard("mass", read_matrix_market, mass), K, _guard("nodes", _read_table, nodes)


def _unpack_matrix(arrays: dict[str, Any], name: str, table: Array) -> Any:
    """Return a matrix stored as an array, or by its entries NAME_row, NAME_col, NAME_data (and NAME_shape)."""
    if name in arrays:
        if arrays[name].ndim != 2:
            raise ValueError(f"its array {quote(name)} has {arrays[name].ndim} dimensions, not 2")
        return scipy.sparse.csr_array(np.asarray(arrays[name], float))
    parts = [arrays.get(f"{name}_{part}") for part in ("row", "col", "data")]
    if any(part is None for part in parts):
        raise ValueError(f"a sparse {name} needs {name}_row, {name}_col and {name}_data")
    row, column, data = (np.asarray(part) for part in parts)
    if not row.ndim == column.ndim == data.ndim == 1 or not len(row) == len(column) == len(data):
        raise ValueError(f"{name}_row, {name}_col and {name}_data are not lists of the same length")
    if any(places.dtype.kind == "f" for places in (row, column)):
        raise ValueError(f"{name}_row and {name}_col are not whole numbers")
    last = int(max(row.max(initial=0), column.max(initial=0))) + 1
    if f"{name}_shape" in arrays:
        shape = tuple(int(size) for size in np.ravel(arrays[f"{name}_shape"]))
    else:  # the smallest size for these nodes that contains all entries
        shape = (next((size for size in _sizes(table) if size >= last), last),) * 2
    if len(shape) != 2:
        raise ValueError(f"its {name}_shape {' by '.join(map(str, shape))} is not the shape of a matrix")
    require_rows(max(shape), f"its {name}")
    if min(row.min(initial=0), column.min(initial=0)) < 0 or (row >= shape[0]).any() or (column >= shape[1]).any():
        raise ValueError(f"{name}_row or {name}_col is outside {shape[0]} by {shape[1]} (indices start at 0)")
    places = (row.astype(np.int64), column.astype(np.int64))
    return scipy.sparse.coo_array((np.asarray(data, float), places), shape=shape).tocsr()


def _read_table(path: str) -> Array:
    """Return the node table: lines of number, x, y, z (and degrees of freedom).

    A first line of words is a heading; lines that begin with # are comments.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as stream:
        lines = [line for line in csv.reader(stream) if any(line) and not line[0].lstrip().startswith("#")]
    if lines and not _is_number(lines[0][0]):
        lines = lines[1:]
    width = len(lines[0]) if lines else 4
    for i, line in enumerate(lines, 1):
        if len(line) != width:
            raise ValueError(f"node {i} has {len(line)} entries, but the first node has {width}")
        wrong = next((entry for entry in line if not _is_number(entry)), None)
        if wrong is not None:
            raise ValueError(f"{quote(wrong, 20)} of node {i} is not a finite number")
    return np.array([[float(entry) for entry in line] for line in lines]).reshape(-1, width)


def _is_number(text: str) -> bool:
    return math.isfinite(plain_number(text.strip()))


def _require_nodes(table: Array, key: str) -> None:
    hint = "write one line per node: number, x, y, z, and its degrees of freedom (3 or 6) if they differ"
    if table.ndim != 2 or table.shape[1] not in (4, 5) or len(table) == 0:
        shape = " by ".join(str(size) for size in table.shape)
        raise InputError(f"the node table has the shape {shape}, not n by 4 or n by 5", path=(key,), hint=hint)
    whole = table[:, 0] == np.round(table[:, 0])
    if not (np.abs(table) < _WHOLE).all() or not whole.all():
        message = (
            "the node table has a node number that is not an integer, or a position that is not finite or too large"
        )
        raise InputError(message, path=(key,), hint=hint)
    if table.shape[1] == 5 and not np.isin(table[:, 4], (3, 6)).all():
        wrong = int(table[~np.isin(table[:, 4], (3, 6))][0, 0])
        raise InputError(f"node {wrong} has neither 3 nor 6 degrees of freedom", path=(key,), hint=hint)
    numbers, counts = np.unique(table[:, 0], return_counts=True)
    if counts.max() > 1:
        twice = int(numbers[np.argmax(counts)])
        raise InputError(f"node {twice} is listed twice", path=(key,), hint="number each node once")


def _sizes(table: Array) -> tuple[int, ...]:
    """Return the possible numbers of rows of a matrix for these nodes."""
    if table.ndim != 2:
        return ()
    return (int(table[:, 4].sum()),) if table.shape[1] == 5 else (3 * len(table), 6 * len(table))


def _require_matrix(matrix: Any, what: str, table: Array, key: str) -> None:
    rows, columns = matrix.shape
    wanted = _sizes(table)
    if rows != columns or rows not in wanted:
        raise InputError(
            f"the {what} matrix is {rows} by {columns}, which does not fit {len(table)} nodes",
            path=(key,),
            hint=f"it needs {' or '.join(str(size) for size in wanted)} rows and columns: 3 or 6 per node",
        )
    if not np.isfinite(matrix.data).all():
        raise InputError(f"the {what} matrix has an entry that is not finite", path=(key,), hint="export it again")
    largest = float(np.abs(matrix.data).max(initial=0.0))
    if largest > _LARGEST or 0.0 < largest < 1.0 / _LARGEST:
        raise InputError(
            f"the largest entry of the {what} matrix is {largest:.3g}, outside {1.0 / _LARGEST:g} to {_LARGEST:g}",
            path=(key,),
            hint="export it in SI units",
        )


# Matrices in Matrix Market files: the text is checked line by line before any array is made.
#
#     %%MatrixMarket matrix coordinate real symmetric     (or array; integer; general)
#     % comments
#     rows columns entries                                (array: rows columns)
#     row column value                                    (array: value, column by column)
#
# A symmetric matrix has one half in the file, including the diagonal.  [Boisvert 1996]


_TAKEN = 12  # bytes of memory per byte of the file, while it is read
_LONGEST = 40  # characters of a number
_BLANK, _PLAIN = (
    np.isin(np.arange(256), np.frombuffer(some, np.uint8)) for some in (b" \t\r\n", b" \t\r\n+-.0123456789eE")
)


class _Header(NamedTuple):
    """Header of a file; line (from 1) is that of its sizes, and stop the position where it ends."""

    coordinate: bool
    symmetric: bool
    rows: int
    columns: int
    entries: int
    line: int
    stop: int


def read_matrix_market(path: str | Path) -> sp.csr_array:
    """Return the matrix of a file; errors are a `ValueError` that names the line."""
    size = Path(path).stat().st_size
    _within(lambda: require_memory(_TAKEN * size, f"to read {in_bytes(size)} of text takes", hint="use an .npz file"))
    content = Path(path).read_bytes()
    header = _header(content, size)
    body = content[header.stop :]
    if b"%" in body:  # comments become empty lines, so that line numbers stay valid
        body = b"\n".join(b"" if line.startswith(b"%") else line for line in body.split(b"\n"))
    at, values = _numbers(body, header)
    return _coordinates(header, at, values) if header.coordinate else _array(header, values)


def require_rows(count: int, part: str) -> None:
    """Refuse a matrix with more rows than the limit, by a `ValueError`."""
    _within(lambda: require_within("rows", count, part=part, hint="condense the body first"))


def _within(check: Callable[[], None]) -> None:
    try:
        check()
    except InputError as error:
        raise ValueError(str(error)) from None


def _header(content: bytes, size: int) -> _Header:
    lines = _lines(content)
    words = _text(next(lines)[1], 1).lower().split()
    if words[:2] != ["%%matrixmarket", "matrix"] or len(words) != 5:
        raise ValueError("line 1 is not a header such as %%MatrixMarket matrix coordinate real symmetric")
    form, field, symmetry = words[2:]
    for word, known in ((form, ("coordinate", "array")), (field, ("real", "integer", "double"))):
        if word not in known:
            raise ValueError(f"line 1: unsupported format {quote(word, 20)}; use {' or '.join(known[:2])}")
    if symmetry not in ("general", "symmetric"):
        raise ValueError(f"line 1: unsupported symmetry {quote(symmetry, 20)}; use general or symmetric")
    found = next((one for one in lines if one[1].strip() and not one[1].startswith(b"%")), None)
    if found is None:
        raise ValueError("the file ends before the line of its size")
    line, text, stop = found
    sizes = [plain_number(word) for word in _text(text, line).split()]
    if len(sizes) != (3 if form == "coordinate" else 2) or any(not value.is_integer() or value < 0 for value in sizes):
        wanted = "rows, columns and entries" if form == "coordinate" else "rows and columns"
        raise ValueError(f"line {line}: {quote(_text(text, line).strip(), 40)} is not {wanted}")
    rows, columns = int(sizes[0]), int(sizes[1])
    require_rows(max(rows, columns), f"line {line}")
    symmetric = symmetry == "symmetric"
    if symmetric and rows != columns:
        raise ValueError(f"line {line}: a symmetric matrix must be square (got {rows} by {columns})")
    full = rows * (rows + 1) // 2 if symmetric else rows * columns
    entries = int(sizes[2]) if form == "coordinate" else full
    if entries > full:
        raise ValueError(f"line {line}: {entries} entries are too many for {rows} by {columns} (at most {full})")
    # Every entry has at least a digit and a line end; with its indices two digits and two blanks more.
    if entries * (6 if form == "coordinate" else 2) > size + 1:
        raise ValueError(f"the file is shorter than its header declares ({rows} by {columns}, {entries} entries)")
    return _Header(form == "coordinate", symmetric, rows, columns, entries, line, stop)


def _lines(content: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield number (from 1), text and end of each line."""
    number, start = 1, 0
    while start <= len(content):
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        yield number, content[start:stop], stop + 1
        number, start = number + 1, stop + 1


def _numbers(body: bytes, header: _Header) -> tuple[Integers, Array]:
    """Return lines (n,) and numbers (n, 3), or (n, 1) for an array, of all entries, vectorized for speed."""
    width, wanted = (3, "row, column and value") if header.coordinate else (1, "a number")
    codes = np.frombuffer(body, np.uint8)
    breaks = np.flatnonzero(codes == ord("\n"))
    word = ~_BLANK[codes]
    edges = np.flatnonzero(np.diff(word, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    line = header.line + 1 + np.searchsorted(breaks, starts)

    def refuse(k: int) -> NoReturn:
        first, last = np.searchsorted(line, line[k]), np.searchsorted(line, line[k], side="right") - 1
        text = quote(body[starts[first] : min(ends[last], starts[first] + 80)].decode("ascii", "replace"), 40)
        raise ValueError(f"line {line[k]}: {text} is not {wanted}")

    odd = np.flatnonzero(~_PLAIN[codes])
    if len(odd):
        refuse(int(np.searchsorted(starts, odd[0], side="right")) - 1)
    numbers, counts = np.unique(line, return_counts=True)
    uneven = np.flatnonzero(counts != width)
    if len(uneven):
        refuse(int(np.searchsorted(line, numbers[uneven[0]])))
    if len(numbers) < header.entries:
        raise ValueError(f"the file ends after {len(numbers)} of {header.entries} entries")
    if len(numbers) > header.entries:
        extra = numbers[header.entries]
        raise ValueError(f"line {extra}: more than the {header.entries} entries that line {header.line} declares")
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
        raise ValueError(f"line {at[k]}: the indices ({place}) are outside {header.rows} by {header.columns}")
    row, column = (values[:, :2].T - 1.0).astype(np.int64)
    _require_once(at, row * header.columns + column)
    if header.symmetric:
        if (row > column).any() and (row < column).any():
            k = int(np.flatnonzero(row < column)[0])
            raise ValueError(
                f"line {at[k]}: the file of a symmetric matrix must contain one half only, but has entries of both"
            )
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


NPZ = BodySource(".npz", "NumPy archive with the arrays K, M and nodes.", _read_npz)
MATRIX_MARKET = BodySource(
    ".mtx", "Matrix Market files of both matrices, and a CSV file of the nodes.", _read_three, keys=THREE_FILES
)
_OWN = (NPZ, MATRIX_MARKET)
BODY_SOURCES = Registry("body source", BodySource, *_OWN)
