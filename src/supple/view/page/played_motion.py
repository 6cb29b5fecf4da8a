"""Motion of every body and node in a run: recorded by the run, or computed from the coordinates of a model."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.array_types import Array
from supple.description.elastic.array_archive import read_archive
from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError
from supple.diagnostics.errors import quote
from supple.formats.mechanism_file import loads
from supple.formulations.elastic.body_matrices import ElasticBody
from supple.formulations.elastic_rest.body_coordinates import own_band
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.closure import assemble
from supple.kinematics.configuration import Configuration
from supple.kinematics.rest import rest
from supple.parameterization.local_model import choice_of, local
from supple.reduction.path import ARCLENGTH, path_from
from supple.results.basis import basis_from
from supple.results.simulation import PREFIX, Simulation, evenly

# A run, just computed or read from a file of `supple simulate -o`.


@dataclass(frozen=True, eq=False)
class SavedRun:
    """Saved or new run: columns over `time` by name, their units, and the arrays of `playback_arrays`."""

    name: str
    columns: dict[str, Array]
    units: dict[str, str]
    kept: dict[str, NDArray[Any]]

    @property
    def time(self) -> Array:
        return self.columns["time"]

    def text(self, name: str) -> str:
        """Return a stored text; "" if there is none."""
        found = self.kept.get(name)
        return "" if found is None or found.dtype.kind != "U" or found.size != 1 else str(found.reshape(-1)[0])

    def mechanism(self) -> Mechanism:
        """Return the mechanism of the run."""
        text = self.text("mechanism")
        if not text:
            raise InputError(
                "the file does not contain its mechanism", file=self.name,
                hint=f"give the mechanism first: supple view FILE {self.name}",
            )  # fmt: skip
        return loads(text, name=f"the description in {self.name}")


def saved_run(simulation: Simulation, name: str = "") -> SavedRun:
    """Return a run that has just been computed."""
    table = simulation.table()
    kept = {key.removeprefix(PREFIX): values for key, values in simulation.arrays().items() if key.startswith(PREFIX)}
    return SavedRun(name or simulation.name, dict(table.columns), dict(table.units), kept)


def read_run(path: str | Path) -> SavedRun:
    """Return a run from a file of `supple simulate -o`: .npz with all data, or .csv with its columns."""
    target = Path(path)
    try:
        found = _csv(target) if target.suffix.lower() == ".csv" else _npz(target)
    except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(
            f"cannot be read as a run ({reason})", file=str(path), hint="give a .npz or .csv of `supple simulate -o`"
        ) from None
    time = found.columns.get("time")
    if time is None or time.ndim != 1 or not len(time) or not (np.diff(time) > 0.0).all():
        raise InputError(
            "has no increasing column `time`", file=str(path), hint="give a .npz or .csv of `supple simulate -o`"
        )
    return found


def holds_run(path: str | Path) -> bool:
    """Return True if a .npz or .csv file has a column `time`, and thus holds a run and not responses."""
    target = Path(path)
    try:
        if target.suffix.lower() == ".csv":
            with target.open(encoding="utf-8", newline="") as stream:
                return "time" in [name.strip() for name in next(csv.reader(stream), [])]
        with zipfile.ZipFile(target) as archive:
            return "time.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def _npz(path: Path) -> SavedRun:
    arrays = read_archive(path, None, "iufcUb")
    names, units = (arrays.pop(name, np.array([], dtype=str)).tolist() for name in ("columns", "units"))
    kept = {name.removeprefix(PREFIX): arrays[name] for name in arrays if name.startswith(PREFIX)}
    time = arrays.get("time", np.zeros(0))
    columns = {
        name: np.asarray(values, dtype=float)
        for name, values in arrays.items()
        if not name.startswith(PREFIX) and values.dtype.kind in "fiu" and values.shape == time.shape
    }
    return SavedRun(str(path), columns, dict(zip(names, units, strict=False)), kept)


def _csv(path: Path) -> SavedRun:
    with path.open(encoding="utf-8", newline="") as stream:
        names, *rows = list(csv.reader(stream))
    values = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return SavedRun(str(path), {name.strip(): values[:, i] for i, name in enumerate(names)}, {}, {})


# Motion of bodies and nodes in a run.


@dataclass(frozen=True, eq=False)
class PlaybackMotion:
    """Motion of a run for playback.

    kind   : full, reduced or rigid
    time   : (n,) s, at most some hundred instants
    bodies : names
    X      : (n, bodies, 12) poses of the bodies
    nodes  : {body: (n, nodes, 6)} displacements and rotations of nodes of elastic bodies from these poses, body axes
    note   : differences between the drawing and the run
    """

    kind: str
    time: Array
    bodies: tuple[str, ...]
    X: Array
    nodes: dict[str, Array]
    note: str = ""


def playback_motion(run: SavedRun, mechanism: Mechanism) -> PlaybackMotion:
    """Return the motion of a run of this mechanism, of a model of it, or of a table with its coordinates."""
    return _read_recorded(run, mechanism) if "poses" in run.kept else _assemble_motion(run, mechanism)


def postures(motion: PlaybackMotion, mechanism: Mechanism, count: int = 6) -> Configuration:
    """Return some configurations along a motion as a batch: poses of the bodies, without deformation."""
    position = rest(mechanism)
    instants = evenly(len(motion.time), count)
    ground = np.broadcast_to(position.X[-1], (len(instants), 1, 12))
    X = np.concatenate([motion.X[instants], ground], axis=1)
    theta, w = (np.broadcast_to(values, (len(instants), len(values))) for values in (position.theta, position.w))
    return Configuration(position, theta, X, w, np.ones(len(instants)))


def _read_recorded(run: SavedRun, mechanism: Mechanism) -> PlaybackMotion:
    """Return the motion of bodies and nodes as recorded by a run of a mechanism."""
    numbering = rest(mechanism).numbering
    bodies = tuple(str(name) for name in run.kept.get("bodies", np.array([])).tolist())
    time, X = np.asarray(run.kept.get("time"), float), np.asarray(run.kept["poses"], float)
    if set(bodies) != set(numbering.bodies) or X.shape != (len(time), len(bodies), 12) or not np.isfinite(X).all():
        raise InputError(
            f'not a run of "{mechanism.name}": its bodies are {", ".join(bodies) or "missing"}',
            file=run.name, hint="view the run alone, or with its own mechanism",
        )  # fmt: skip
    order = [bodies.index(name) for name in numbering.bodies]
    nodes, left_out = {}, []
    for name, mesh in meshes_of(mechanism).items():
        values = run.kept.get(f"nodes.{name}")
        if values is None or values.shape != (len(time), len(mesh.nodes), 6):
            left_out.append(name)
        else:
            nodes[name] = np.asarray(values, float)
    note = f"{', '.join(left_out)}: drawn without deformation" if left_out else ""
    return PlaybackMotion("full" if nodes else "rigid", time, numbering.bodies, X[:, order], nodes, note)


def _assemble_motion(run: SavedRun, mechanism: Mechanism) -> PlaybackMotion:
    """Return the motion computed from θ; nodes of a flexible reduced model follow from its modes."""
    model = _model(run)
    if model is None:
        instants = evenly(len(run.time))
        time, eta = run.time[instants], np.empty((len(instants), 0))
        given = {name: values[instants] for name, values in run.columns.items()}
    else:
        time, eta = np.asarray(run.kept["time"], float), np.asarray(run.kept["coordinates"], float)
        given = dict(zip(model["coordinates"], eta.T, strict=True))
    theta = _theta(mechanism, given, model, run.name)
    places = assemble(mechanism, theta)
    bodies, X = places.rest.numbering.bodies, places.X[:, :-1]
    if model is None or model["basis"] is None:
        kind = "rigid" if model is None else "reduced"
        elastic = ", ".join(meshes_of(mechanism))
        return PlaybackMotion(kind, time, bodies, X, {}, f"{elastic}: drawn without deformation" if elastic else "")
    nodes = _deform_bodies(mechanism, places, model["basis"], eta[:, model["theta"] :])
    return PlaybackMotion("reduced", time, bodies, X, nodes)


def _model(run: SavedRun) -> dict[str, Any] | None:
    """Return the description of the coordinates of a model's run; None for a table without it."""
    text = run.text("model")
    if not text or "coordinates" not in run.kept:
        return None
    try:
        found = json.loads(text)
        shape = (len(run.kept["time"]), len(found["coordinates"]))
        if run.kept["coordinates"].shape != shape or not 0 <= int(found["theta"]) <= shape[1]:
            raise ValueError
        return {"held": {}, "path": None, **found, "basis": found["basis"] and basis_from(found["basis"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise InputError("its data about the model cannot be read", file=run.name, hint="simulate again") from None


def _theta(mechanism: Mechanism, given: Mapping[str, Array], model: dict[str, Any] | None, file: str) -> Array:
    """Return θ (n, s) of the mechanism; held coordinates have their values, and those of a path follow it."""
    names = rest(mechanism).numbering.coordinates
    known = dict(given)
    if model is not None:
        known |= {name: np.full(len(next(iter(given.values()))), float(value)) for name, value in model["held"].items()}
        if model["path"] is not None and ARCLENGTH in given:
            path = path_from(model["path"])
            known |= dict(zip(path.coordinates, path.at(given[ARCLENGTH]).theta.T, strict=True))
    missing = [name for name in names if name not in known]
    if missing or not names:
        raise InputError(
            f"has no column {', '.join(map(quote, missing)) or 'of a coordinate'}", file=file,
            hint=f'view it with the mechanism that ran; "{mechanism.name}" has the coordinates {", ".join(names)}',
        )  # fmt: skip
    for name in names:
        if not np.isfinite(known[name]).all():
            raise InputError(f"column {quote(name)} has values that are not finite", file=file, hint="correct the file")
    return np.stack([known[name] for name in names], axis=1)


def _deform_bodies(mechanism: Mechanism, places: Configuration, basis: Any, delta: Array) -> dict[str, Array]:
    """Return (n, nodes, 6) for every elastic body from δ (n, k), u = Ψ_δ(θ) δ."""
    choice = choice_of(mechanism, basis)
    model = local(
        mechanism, places, constraint_modes=choice.constraint, internal_modes=choice.internal, tracking=choice.tracking,
        germ=None if choice.germ is None else np.array(choice.germ), preload=False,
    )  # fmt: skip
    assert model.system is not None
    found = {}
    for body in model.system.rest.bodies:
        if body.mesh is not None:
            full = np.zeros((len(delta), len(body.mesh.nodes), 6))
            full[:, body.mesh.node, body.mesh.component] = model.displacements(body.name, delta)
            found[body.name] = full
    return found


def meshes_of(mechanism: Mechanism) -> dict[str, ElasticBody]:
    """Return the mesh of every elastic body."""
    if not any(body.elastic for body in mechanism.bodies.values()):
        return {}
    bodies = elastic_rest(mechanism, own_band(mechanism)).bodies
    return {body.name: body.mesh for body in bodies if body.mesh is not None}
