"""`load_responses`: measured responses from a file, whichever way they were written."""

from __future__ import annotations

from pathlib import Path

from supple.diagnostics import InputError, nearest
from supple.diagnostics.quoting import brief
from supple.formats.measurements.array_file import read_npz
from supple.results.responses import Responses

_READERS = {".npz": read_npz}


def load_responses(path: str | Path) -> Responses:
    """The responses in a file: .npz."""
    suffix = Path(path).suffix.lower()
    if suffix not in _READERS:
        raise InputError(
            f'"{suffix}" is no ending of a file of responses', file=brief(path, 500), hint=nearest(suffix, _READERS)
        )
    return _READERS[suffix](path)
