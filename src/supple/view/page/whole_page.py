"""Page of a mechanism, a reduced model, runs or measured modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from supple.array_types import Array
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.formats.model_description import restore_mechanism
from supple.kinematics.configuration import At
from supple.kinematics.rest import rest
from supple.reduced.model import ReducedModel
from supple.results.simulation import Simulation, evenly
from supple.view.page.encoding import includes_preload, page_array
from supple.view.page.page_data import page_data
from supple.view.page.page_modes import PageModes, measured_section
from supple.view.page.played_motion import SavedRun, playback_motion, saved_run

MOST_RUNS = 2


def whole_page(
    thing: Mechanism | ReducedModel | Simulation | SavedRun,
    *,
    at: At = None,
    runs: Sequence[Simulation | SavedRun] = (),
    test: PageModes | None = None,
    preload: bool | None = None,
) -> dict[str, Any]:
    """Return the data of the page.

    thing   : object to show; a run is drawn on its mechanism
    at      : initial posture; default: rest
    runs    : up to two runs, overlaid in playback
    test    : measured modes, drawn at the points of the test
    preload : modes with or without the geometric stiffness of loads at rest; see `page_data`
    """
    given = [saved_run(run) if isinstance(run, Simulation) else run for run in runs]
    if isinstance(thing, Simulation):
        thing = saved_run(thing)
    if isinstance(thing, SavedRun):
        given, thing = [thing, *given], thing.mechanism()
    if len(given) > MOST_RUNS:
        raise InputError(f"{len(given)} runs were given", part="runs", hint=f"give at most {MOST_RUNS}")
    mechanism = restore_mechanism(thing) if isinstance(thing, ReducedModel) else thing
    sections: dict[str, Any] = {}
    if given:
        sections["runs"] = [run_section(run, mechanism) for run in given]
    if test is not None:
        sections["test"] = measured_section(test, mechanism, at, preload=includes_preload(thing, preload))
        if at is None:
            at = sections["test"]["coordinates"] or None
    return page_data(thing, at=at, preload=preload) | sections


# Playback data of a run: motion of every body and node, and signals.


_SIGNALS = 2000  # largest number of points of a curve
_MARKS = {".input": "force", ".driving_force": "force"}
_ENERGIES = ("energy.kinetic", "energy.potential", "energy.total")
_LEFT_OUT = (".rate", ".acceleration")


def run_section(run: SavedRun, mechanism: Mechanism) -> dict[str, Any]:
    """Return the data of a run of this mechanism.

    time, position (n, bodies, 3), quaternion (n, bodies, 4) x y z w; nodes {body: (n, nodes, 6)} displacements and
    rotations in body axes; signals with their own times
    """
    motion = playback_motion(run, mechanism)
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
        "time": page_array(motion.time, "f4"),
        "bodies": list(motion.bodies),
        "position": page_array(motion.X[..., :3], "f4"),
        "quaternion": page_array(quaternions(motion.X), "f4"),
        "nodes": {name: page_array(values, "f4") for name, values in motion.nodes.items()},
        "coordinates": {name: page_array(values, "f4") for name, values in coordinates.items()},
        "signal_time": page_array(run.time[instants], "f4"),
        "signals": [
            {"name": shown, "unit": run.units.get(name, ""), "group": group,
             "values": page_array(run.columns[name][instants], "f4")}
            for name, shown, group in _choose_columns(run, coordinates)
        ],
    }  # fmt: skip


def _choose_columns(run: SavedRun, coordinates: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return the columns to draw: name, label and group; forces and energies if there are any."""
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
    """Return quaternions (..., 4) x y z w of poses (..., 12), with continuous signs over time."""
    from scipy.spatial.transform import Rotation

    q = Rotation.from_matrix(X[..., 3:].reshape(-1, 3, 3)).as_quat().reshape(*X.shape[:-1], 4)
    for n in range(1, len(q)):
        q[n] *= np.where((q[n] * q[n - 1]).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    return q
