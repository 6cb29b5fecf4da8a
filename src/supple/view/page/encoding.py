"""Data for the page: base64 of gzipped JSON, with arrays as {shape, type, data}.

JSON has no numbers that are not finite; outside of arrays they become null.
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
    """Return an array in the format of the page; kind : f4, f8, i2 or i4."""
    array = np.ascontiguousarray(values, dtype=_KINDS[kind])
    return {"shape": list(array.shape), "type": kind, "data": base64.b64encode(array.tobytes()).decode("ascii")}


def encode_data(data: dict[str, Any]) -> str:
    """Return the data as text in the page, without characters that have a meaning in HTML."""
    text = json.dumps(_plain(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0)).decode("ascii")


def _plain(value: Any) -> Any:
    """Convert numpy numbers to Python numbers, tuples to lists, and numbers that are not finite to null."""
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


# Geometric stiffness of the loads at rest in the modes on the page.


PRELOAD = True  # default, as in `supple.modes` with locked actuators


def includes_preload(thing: Mechanism | ReducedModel, preload: bool | None) -> bool:
    """Return the user's choice; default: as in a reduced model's K, so that frequencies shown together agree."""
    if preload is not None:
        return preload
    if isinstance(thing, ReducedModel) and thing.layout.internal:
        return thing.stiffening or bool(thing.provenance.get("options", {}).get("modes", {}).get("preload"))
    return PRELOAD
