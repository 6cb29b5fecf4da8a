"""Contents of a sealed HDF5 file: numbers and texts, each checked before it is used.

Nothing that is read can run code. Links to other files, virtual and missing arrays, numbers that are not finite and
arrays larger than the file are refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.diagnostics.limits import require_memory

DAMAGED = "the file is damaged"


def write_named(group: Any, values: Any) -> None:
    """Write names (in order) and values side by side, because names may be invalid as HDF5 paths."""
    group["names"] = json.dumps(list(values), ensure_ascii=False)
    for i, value in enumerate(values.values()):
        group[str(i)] = np.asarray(value, dtype=float)


def damaged(message: str) -> InputError:
    """Return the error of contents that supple does not write; the reader of the kind of file adds the remedy."""
    return InputError(message, hint=DAMAGED)


def named_error(error: InputError, path: Path, remedy: str) -> InputError:
    """Return an error of the contents of a file with its name, and with the remedy if the file is damaged."""
    hint = f"{DAMAGED}; {remedy}" if error.hint == DAMAGED else error.hint
    return InputError(error.message, part=error.part, hint=hint, file=str(path))


def text_of(value: Any) -> str:
    """Return an attribute as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def dataset(group: Any, name: str) -> Any:
    """Return a plain dataset of this file; links and other objects are refused."""
    import h5py

    link = group.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise damaged(f"has no {quote(name)}")
    found = group[name]
    if not isinstance(found, h5py.Dataset) or found.is_virtual or found.external:
        raise damaged(f"{quote(name)} is not an array of this file")
    if found.size is None:
        raise damaged(f"{quote(name)} is empty")
    if found.chunks is None and found.size * found.dtype.itemsize > group.file.id.get_filesize():
        raise damaged(f"{quote(name)} is larger than the file")
    return found


def require_room(group: Any, names: Sequence[str]) -> None:
    """Require enough memory for all arrays of a group, unpacked, before the first of them is read."""
    total = 8.0 * sum(dataset(group, name).size for name in names)
    require_memory(total, f"{quote(group.name)} takes", hint="write the file with fewer boxes or outputs")


def group_of(file: Any, name: str) -> Any:
    """Return a group of this file."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink) or not isinstance(file[name], h5py.Group):
        raise damaged(f"has no {quote(name)}")
    return file[name]


def json_of(file: Any, name: str, kind: type) -> Any:
    """Return the data of a JSON text, which must be of some type."""
    text = dataset(file, name)
    if text.shape != ():
        raise damaged(f"{quote(name)} is not text")
    raw = text[()]
    if not isinstance(raw, bytes):
        raise damaged(f"{quote(name)} is not text")
    try:
        found = json.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise damaged(f"{quote(name)} is not JSON") from None
    if not isinstance(found, kind):
        raise damaged(f"{quote(name)} has the wrong type")
    return found


def array_of(group: Any, name: str, *, integers: bool = False) -> NDArray[Any]:
    """Return an array of finite numbers as float64 or int64."""
    stored = dataset(group, name)
    if stored.dtype.kind not in ("iu" if integers else "iuf"):
        raise damaged(f"{quote(name)} does not hold {'integers' if integers else 'numbers'}")
    found = np.ascontiguousarray(stored[()], dtype=np.int64 if integers else np.float64)
    found = found.reshape(stored.shape)
    if not np.isfinite(found).all():
        raise damaged(f"{quote(name)} holds values that are not finite")
    return found


def scalar_of(array: NDArray[Any]) -> float:
    """Return the number in an array without axes."""
    if array.shape != ():
        raise damaged(f"expected a number (got an array of shape {array.shape})")
    return float(array)


def read_named(file: Any, name: str) -> dict[str, NDArray[Any]]:
    """Return arrays by name, see `write_named`."""
    group = group_of(file, name)
    names = names_of(json_of(group, "names", list), name)
    require_room(group, [str(i) for i in range(len(names))])
    return {key: array_of(group, str(i)) for i, key in enumerate(names)}


def names_of(found: Any, what: str) -> tuple[str, ...]:
    """Return a list of distinct names as a tuple."""
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found) or len(set(found)) < len(found):
        raise damaged(f"{quote(what)} are not distinct names")
    return tuple(found)
