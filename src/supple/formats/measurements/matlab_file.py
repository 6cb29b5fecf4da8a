"""Matlab files of version 5, checked before their arrays are made.

A file is a sequence of elements: a tag (type, number of bytes) and its data. An array is an element of elements: flags,
dimensions, name, and its numbers, or the arrays of its cells. Elements may be compressed. Sizes in tags and dimensions
are compared with the bytes that exist, so that no more memory is used than the file has data for.
[MAT-File Format, The MathWorks 2019]
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt, quote
from supple.diagnostics.limits import require_memory
from supple.formats.text_file import read_bytes

LARGEST = 2**30  # bytes
_HEAD = 128  # bytes before the first element
_MATRIX, _PACKED = 14, 15  # types of elements
_SIZES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8, 16: 1, 17: 2, 18: 4}
"""Bytes per number of each type; 16 to 18 are characters."""
_CELL, _TEXT, _NUMBERS = 1, 4, range(6, 16)  # classes of arrays
_COMPLEX = 0x0800
_DEEPEST = 20


class _Contradiction(ValueError):
    """Contradiction between a declaration of a file and its contents."""


class _Element(NamedTuple):
    """Element of a file: kind; start and end of its data; start of the next element."""

    kind: int
    start: int
    stop: int
    after: int


def read_matlab(path: str | Path, wanted: Collection[str] | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of numbers, texts and cells of texts with a wanted name, or all of them."""
    from scipy.io import loadmat

    file = excerpt(path, 500)
    content = read_bytes(path, LARGEST, "save fewer channels or lines, or .npz")
    try:
        names = [name for name in _names(content, wanted) if wanted is None or name in wanted]
        found = loadmat(io.BytesIO(content), variable_names=names) if names else {}
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - scipy raises whatever its parser meets
        raise InputError(
            f"this is not a Matlab file of version 5, or it is damaged ({excerpt(error) or type(error).__name__})",
            file=file, hint="save it in Matlab with save('x.mat', '-v7')",
        ) from None  # fmt: skip
    return {name: np.asarray(values) for name, values in found.items() if name in names}


def _names(content: bytes, wanted: Collection[str] | None) -> Iterator[str]:
    """Yield the names of the arrays of a file; wanted arrays are checked."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None or len(content) < _HEAD:
        raise _Contradiction(f"its header of {len(content[:_HEAD])} bytes is not that of a Matlab file")
    total, at = 0, _HEAD
    while at < len(content):
        element = _element(content, at, len(content), order)
        body, start, stop = content, element.start, element.stop
        if element.kind == _PACKED:
            body = _unpack(content[start:stop], order)
            start, stop = 8, len(body)
        elif element.kind != _MATRIX:
            raise _Contradiction(f"there is an element of type {element.kind} instead of an array")
        name = _array(body, start, stop, order, wanted, 0)
        total += stop - start
        require_memory(4.0 * total, "its arrays take", hint="save fewer channels or lines")
        if name:
            yield name
        at = element.after if element.kind == _MATRIX else element.stop


def _unpack(packed: bytes, order: str) -> bytes:
    """Return the decompressed element, with at most its declared size."""
    unpacking = zlib.decompressobj()
    head = unpacking.decompress(packed, 8)
    if len(head) < 8:
        raise _Contradiction("a compressed array ends within its header")
    kind, count = struct.unpack(order + "II", head)
    if kind != _MATRIX:
        raise _Contradiction(f"there is a compressed element of type {kind} instead of an array")
    require_memory(4.0 * count, "its arrays take", hint="save fewer channels or lines")
    body = unpacking.decompress(unpacking.unconsumed_tail, count + 1)
    if len(body) != count:
        raise _Contradiction(
            f"a compressed array declares {count} bytes, but has {'more' if len(body) > count else len(body)}"
        )
    return head + body


def _element(content: bytes, at: int, end: int, order: str) -> _Element:
    """Return the element that begins at a position, before an end."""
    if at + 8 > end:
        raise _Contradiction(f"the file ends within the tag of an element, at byte {at}")
    kind, count = struct.unpack_from(order + "II", content, at)
    if kind >> 16:  # up to four bytes of data are in the tag itself
        kind, count = kind & 0xFFFF, kind >> 16
        if count > 4:
            raise _Contradiction(f"an element of {count} bytes is in a tag that holds at most 4, at byte {at}")
        return _Element(kind, at + 4, at + 4 + count, at + 8)
    start = at + 8
    if count > end - start:
        raise _Contradiction(f"an element declares {count} bytes, but only {end - start} remain, at byte {at}")
    padded = count if kind == _PACKED else -(-count // 8) * 8
    return _Element(kind, start, start + count, min(start + padded, end))


def _array(content: bytes, at: int, end: int, order: str, wanted: Collection[str] | None, depth: int) -> str:
    """Return the name of an array after checking its size against its dimensions; "" for other classes."""
    if depth > _DEEPEST:
        raise _Contradiction(f"cells are nested more than {_DEEPEST} levels deep")
    parts = []
    for _ in range(3):
        parts.append(_element(content, at, end, order))
        at = parts[-1].after
    flags, sizes, called = parts
    if flags.stop - flags.start != 8 or (sizes.stop - sizes.start) % 4 or not 8 <= sizes.stop - sizes.start <= 128:
        raise _Contradiction("the flags or dimensions of an array cannot be read")
    bits = struct.unpack_from(order + "I", content, flags.start)[0]
    shape = struct.unpack_from(f"{order}{(sizes.stop - sizes.start) // 4}i", content, sizes.start)
    name = content[called.start : called.stop].decode("latin-1")
    if min(shape) < 0:
        raise _Contradiction(f"the array {quote(name)} declares {min(shape)} rows or columns")
    if depth == 0 and wanted is not None and name not in wanted:
        return name
    count, kind = math.prod(shape), bits & 0xFF
    if kind == _CELL:
        for _ in range(count):
            cell = _element(content, at, end, order)
            if cell.kind != _MATRIX:
                raise _Contradiction(f"the array {quote(name)} declares {count} cells, but has fewer")
            if cell.stop > cell.start:
                _array(content, cell.start, cell.stop, order, wanted, depth + 1)
            at = cell.after
    elif kind == _TEXT or kind in _NUMBERS:
        for _ in range(2 if bits & _COMPLEX else 1):
            part = _element(content, at, end, order)
            size = _SIZES.get(part.kind)
            if size is None or part.stop - part.start != count * size:
                # A character of UTF-8 text may take several bytes.
                if kind == _TEXT and part.kind == 16 and count <= part.stop - part.start <= 4 * count:
                    at = part.after
                    continue
                by = " by ".join(str(size) for size in shape)
                raise _Contradiction(
                    f"the array {quote(name)} declares {by} numbers, but has {part.stop - part.start} bytes"
                )
            at = part.after
    elif depth:
        raise _Contradiction(f"a cell has class {kind}, which is neither numbers nor text")
    else:
        return ""
    return name
