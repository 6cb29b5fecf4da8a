"""Data for the page: base64 of gzipped JSON, arrays as {shape, type, data}.

Numbers that are not finite have no place in JSON, and stand as null outside of arrays.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.description.mechanism import Mechanism
from supple.reduced.model import ReducedModel

_KINDS = {"f4": "<f4", "f8": "<f8", "i2": "<i2", "i4": "<i4"}


def page_array(values: ArrayLike | NDArray[Any], kind: str = "f8") -> dict[str, Any]:
    """An array as the page reads it; kind: f4, f8, i2 or i4."""
    array = np.ascontiguousarray(values, dtype=_KINDS[kind])
    return {"shape": list(array.shape), "type": kind, "data": base64.b64encode(array.tobytes()).decode("ascii")}


def encoded(data: dict[str, Any]) -> str:
    """The data as the page holds it. It has no character that means anything in HTML."""
    text = json.dumps(_plain(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0)).decode("ascii")


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's, tuples as lists, what is not finite as null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# Whether modes on the page have the geometric stiffness of the loads at rest.


PRELOAD = True  # where nobody asks: as the default of `supple.modes` with locked actuators


def counts_loads(thing: Mechanism | ReducedModel, preload: bool | None) -> bool:
    """The given choice; without one, that of a reduced model's K, so that frequencies beside each other agree."""
    if preload is not None:
        return preload
    if isinstance(thing, ReducedModel) and thing.layout.internal:
        return thing.stiffening or bool(thing.provenance.get("options", {}).get("modes", {}).get("preload"))
    return PRELOAD
