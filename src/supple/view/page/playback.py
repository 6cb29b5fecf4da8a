"""A run in time as the page plays it back: where every body and node was, and the signals beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.kinematics.rest import rest
from supple.results.playback_arrays import evenly
from supple.view.page.encoding import table
from supple.view.page.played_motion import played
from supple.view.page.saved_run import Run

_SIGNALS = 2000  # instants of a curve, at most
_MARKS = {".input": "force", ".driving_force": "force"}
_ENERGIES = ("energy.kinetic", "energy.potential", "energy.total")
_LEFT_OUT = (".rate", ".acceleration")


def run_section(run: Run, mechanism: Mechanism) -> dict[str, Any]:
    """What the page holds of a run of this mechanism.

    time, position (n, bodies, 3), quaternion (n, bodies, 4) x y z w; nodes {body: (n, nodes, 6)} displacements and
    turns in body axes; signals on times of their own
    """
    motion = played(run, mechanism)
    coordinates = {
        name: np.interp(motion.time, run.time, run.columns[name])
        for name in rest(mechanism).numbering.coordinates
        if name in run.columns
    }
    instants = evenly(len(run.time), _SIGNALS)
    return {
        "name": Path(run.name).name,
        "kind": motion.kind,
        "note": motion.note,
        "time": table(motion.time, "f4"),
        "bodies": list(motion.bodies),
        "position": table(motion.X[..., :3], "f4"),
        "quaternion": table(quaternions(motion.X), "f4"),
        "nodes": {name: table(values, "f4") for name, values in motion.nodes.items()},
        "coordinates": {name: table(values, "f4") for name, values in coordinates.items()},
        "signal_time": table(run.time[instants], "f4"),
        "signals": [
            {"name": shown, "unit": run.units.get(name, ""), "group": group,
             "values": table(run.columns[name][instants], "f4")}
            for name, shown, group in _shown(run, coordinates)
        ],
    }  # fmt: skip


def _shown(run: Run, coordinates: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Columns that are drawn: name, what it is called, and its group; forces and energies where there are any."""
    found = []
    for name, values in run.columns.items():
        if name == "time" or name.endswith(_LEFT_OUT):
            continue
        mark = next((mark for mark in _MARKS if name.endswith(mark)), "")
        if mark or name.startswith("energy."):
            if values.any() and (mark or name in _ENERGIES):
                shown = name.removesuffix(mark).removeprefix("energy.")
                found.append((name, shown, _MARKS.get(mark, "energy")))
        else:
            found.append((name, name, "coordinate" if name in coordinates else "output"))
    return found


def quaternions(X: Array) -> Array:
    """(..., 4) x y z w of poses (..., 12), neighbours in time on the same side of the sphere."""
    from scipy.spatial.transform import Rotation

    q = Rotation.from_matrix(X[..., 3:].reshape(-1, 3, 3)).as_quat().reshape(*X.shape[:-1], 4)
    for n in range(1, len(q)):
        q[n] *= np.where((q[n] * q[n - 1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return q
