"""Archives of arrays: every oddity of ZIP and of the arrays in it is named."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

from supple.description.elastic.array_archive import read_archive

WANTED = ("a", "b")


def packed(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def archive(file, **members: bytes):
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(f"{name}.npy", content)
    return file


@pytest.mark.parametrize("array", [
    np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 3)), np.array(2.5),
    np.arange(3, dtype=">f4"),
])  # fmt: skip
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_it_reads_what_numpy_writes(tmp_path, array, save):
    save(tmp_path / "x.npz", a=array, other=np.array(["not", "read"]))
    found = read_archive(tmp_path / "x.npz", WANTED)
    assert list(found) == ["a"]
    assert found["a"].shape == array.shape
    assert (found["a"] == array).all()


def long_header(shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def flagged(file, offset: int, value: int):
    """The archive of one array with two bytes of its central directory changed."""
    content = bytearray(archive(file, a=packed(np.arange(3.0))).read_bytes())
    at = content.rindex(b"PK\x01\x02") + offset
    content[at : at + 2] = struct.pack("<H", value)
    file.write_bytes(bytes(content))


def twice(file):
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a.npy", packed(np.arange(3.0)))
        with pytest.warns(UserWarning, match="Duplicate"):
            made.writestr("a.npy", packed(np.arange(3.0)))


WRONG = {
    "text": (lambda file: file.write_text("not an archive"), "not an .npz archive"),
    "one array": (lambda file: file.write_bytes(packed(np.arange(3.0))), r"single array .*\.npz"),
    "cut": (lambda file: file.write_bytes(archive(file, a=packed(np.arange(3.0))).read_bytes()[:-30]), "damaged"),
    "twice": (twice, 'two arrays "a"'),
    "encrypted": (lambda file: flagged(file, 8, 1), 'its array "a" is encrypted'),
    "unknown compression": (lambda file: flagged(file, 10, 99), "damaged: .*compression"),
    "objects": (lambda file: np.savez(file, a=np.array([{}], dtype=object)), 'array "a" has entries of type "object"'),
    "complex": (lambda file: np.savez(file, a=np.array([1j])), 'array "a" has entries of type "complex128"'),
    "words": (lambda file: np.savez(file, a=np.array(["x"])), 'array "a" .*instead of numbers'),
    "no header": (lambda file: archive(file, a=b"x" * 200), 'header .*"a" cannot be read'),
    "endless": (lambda file: archive(file, a=long_header((10**9, 10**9))), r'"a" .*10{9} by 10{9} .* 0 bytes'),
    "negative": (lambda file: archive(file, a=long_header((-1, -1)) + b"x" * 8), '"a" .*-1 by -1'),
    "short": (lambda file: archive(file, a=long_header((3,)) + b"x" * 23), '"a" .* 3 .* 23 bytes'),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_odd_archives_are_named(name, tmp_path):
    make, message = WRONG[name]
    file = tmp_path / "x.npz"
    make(file)
    with pytest.raises(ValueError, match=message):
        read_archive(file, WANTED)


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    """A megabyte of zeros in a kilobyte, beyond what is allowed: refused by what the directory says."""
    monkeypatch.setenv("SUPPLE_LIMITS", "memory=512KiB")
    archive(tmp_path / "x.npz", a=packed(np.zeros(2**17)))
    with pytest.raises(ValueError, match="its arrays take"):
        read_archive(tmp_path / "x.npz", WANTED)
