"""A test without a mechanism: its points alone, where the file says that they are."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.mechanism_file import loads
from supple.formats.mechanism_text import as_text
from supple.results.names import fresh
from supple.view.page.page_modes import PageModes

_STRUCTURE, _TURN = "structure", "turn"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def points_alone(test: PageModes) -> tuple[Mechanism, PageModes]:
    """One body with a frame at every point, which turns about the vertical; and the test by the names of these frames.

    Every mechanism moves somehow: the turn stands for nothing but looking from elsewhere.
    """
    places: dict[str, tuple[float, float, float]] = {}
    names: dict[str, str] = {}
    for one in test.channels:
        if one.position is None:
            raise InputError(
                f'it does not say where its point "{one.point}" is, and is drawn on its mechanism alone',
                file=test.name, hint=f"give the mechanism first: supple view FILE {test.name}",
            )  # fmt: skip
        if one.point not in names:
            plain = one.point if _NAME.fullmatch(one.point) else "p" + re.sub("[^A-Za-z0-9_-]", "_", one.point)[:60]
            names[one.point] = fresh(plain, {*places, _STRUCTURE, _TURN, "ground"})
            places[names[one.point]] = one.position
    middle = np.mean(list(places.values()), axis=0).tolist()
    data = {
        "name": test.name or "test",
        "description": "The points of a test by themselves: what is between them nobody said.",
        "bodies": {_STRUCTURE: {"mass": 1.0, "center": [0, 0, 0], "inertia": [1, 1, 1]}},
        "frames": {name: {"on": _STRUCTURE, "at": list(place)} for name, place in places.items()},
        "joints": {_TURN: {"revolute": ["ground", _STRUCTURE], "at": middle, "axis": "z"}},
        "actuators": {_TURN: {"joint": _TURN, "limits": [-3.2, 3.2]}},
    }
    channels = tuple(one.replaced(point=names[one.point]) for one in test.channels)
    return loads(as_text(data)), replace(test, channels=channels, at="", found=None)
