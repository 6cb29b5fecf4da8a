"""Rows of a damaged SQLite file, page by page: what lies on a leaf is read although nothing leads to it any more.

Pages of tables, cells, records and the journal are laid out as in "Database File Format" (sqlite.org/fileformat2.html).
Nothing that is read here is believed: whoever asks has a seal to judge each row by.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

PAGE = 4096  # bytes, all of them used: as our files are made
_LEAF = 13  # the kind of a page with rows of a table
_LARGEST = 2**26  # bytes of a row
_WHOLE = PAGE - 35  # bytes of a row that lies on its page alone
_LEAST = (PAGE - 12) * 32 // 255 - 23  # bytes that lie there of a larger one, at least
_INTEGERS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}  # kinds and their bytes
_HEAD, _FRAME = 32, 24  # bytes before all frames of a journal, and before the page in each

Value = int | float | bytes | str | None


def leaf_rows(path: Path) -> Iterator[tuple[int, list[Value]]]:
    """Number and values of every row on a leaf of the file, and of the journal beside it."""
    with ExitStack() as opened:
        pages = _Pages(opened.enter_context(path.open("rb")), _journal(path, opened))
        for page, start in pages.all():
            if page[start : start + 1] != bytes([_LEAF]):
                continue
            (count,) = struct.unpack_from(">H", page, start + 3)
            for k in range(min(count, PAGE // 4)):
                with suppress(struct.error, ValueError, IndexError, KeyError):
                    (at,) = struct.unpack_from(">H", page, start + 8 + 2 * k)
                    size, at = _varint(page, at)
                    number, at = _varint(page, at)
                    yield number, _record(pages.payload(page, at, size))


def _journal(path: Path, opened: ExitStack) -> BinaryIO | None:
    try:
        return opened.enter_context(path.with_name(path.name + "-wal").open("rb"))
    except OSError:
        return None


class _Pages:
    """Pages by number: the last one in the journal, else that of the file."""

    def __init__(self, file: BinaryIO, journal: BinaryIO | None):
        self._file, self._journal = file, journal
        self._later: dict[int, int] = {}
        if journal is not None:
            at = _HEAD
            while len(head := self._read(journal, at, _FRAME)) == _FRAME:
                self._later[int.from_bytes(head[:4], "big")] = at + _FRAME
                at += _FRAME + PAGE

    def all(self) -> Iterator[tuple[bytes, int]]:
        """Every page, with where its own head begins: behind that of the file on the first."""
        number = 1
        while len(page := self._read(self._file, PAGE * (number - 1), PAGE)) == PAGE:
            yield page, 100 if number == 1 else 0
            number += 1
        for number, at in self._later.items():
            if self._journal is not None and len(page := self._read(self._journal, at, PAGE)) == PAGE:
                yield page, 100 if number == 1 else 0

    def payload(self, page: bytes, at: int, size: int) -> bytes:
        """A row, from its page and the chain of those it runs over to."""
        if not 0 < size <= _LARGEST:
            raise ValueError
        here = size
        if size > _WHOLE:
            here = _LEAST + (size - _LEAST) % (PAGE - 4)
            here = here if here <= _WHOLE else _LEAST
        found = page[at : at + here]
        if len(found) == size:
            return found
        (following,) = struct.unpack_from(">I", page, at + here)
        pieces, length = [found], len(found)
        while length < size and following:
            more = self._page(following)
            following = int.from_bytes(more[:4], "big")
            pieces.append(more[4:])
            length += len(more) - 4
        return b"".join(pieces)[:size]

    def _page(self, number: int) -> bytes:
        if self._journal is not None and number in self._later:
            return self._read(self._journal, self._later[number], PAGE)
        page = self._read(self._file, PAGE * (number - 1), PAGE)
        if len(page) < PAGE:
            raise ValueError
        return page

    @staticmethod
    def _read(file: BinaryIO, at: int, size: int) -> bytes:
        try:
            file.seek(at)
            return file.read(size)
        except OSError:  # a place that the disk itself cannot read; the next may be good
            return bytes(size)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """An integer of seven bits a byte, the last of nine with eight; and where it ends."""
    value = 0
    for k in range(8):
        byte = page[at + k]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + k + 1
    return value << 8 | page[at + 8], at + 9


def _record(content: bytes) -> list[Value]:
    size, at = _varint(content, 0)
    values: list[Value] = []
    place = size
    while at < size:
        kind, at = _varint(content, at)
        value, place = _value(content, place, kind)
        values.append(value)
    return values


def _value(content: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind in (8, 9):
        return kind - 8, at
    width = (kind - 12) // 2 if kind >= 12 else 8 if kind == 7 else _INTEGERS[kind]
    piece = content[at : at + width]
    if len(piece) < width:
        raise ValueError
    if kind >= 12:
        return (piece if kind % 2 == 0 else piece.decode("utf-8", "replace")), at + width
    if kind == 7:
        return struct.unpack(">d", piece)[0], at + width
    return (int.from_bytes(piece, "big", signed=True) if width else None), at + width
