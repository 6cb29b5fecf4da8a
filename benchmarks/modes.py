"""Modes of the flexible four-bar, at one configuration and over its interval, against solvers of its full model.

The full model has every node of its three bars: 90 coordinates with 4 elements a bar, and 21 rows of its hinges and the
locked crank. `scipy.linalg.eigh` is timed on its pencil as assembled, without the rows, and on the pencil of 69 that is
left when a basis of their null space has eliminated them; neither that basis nor the products with it are timed. Exudyn
holds the same matrices as one linear object with the rows as constraints, and finds the null space by itself. All give
the same frequencies, which is checked. Setting up bodies is not counted anywhere: supple condenses them once, the
others keep their matrices.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.linalg

import supple
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import elastic_rest

sys.exudynFast = True  # type: ignore[attr-defined]  # Exudyn's build without range checks
import exudyn as exu  # noqa: E402
from exudyn.utilities import (  # noqa: E402
    MarkerNodeCoordinates,
    NodeGenericODE2,
    NodePointGround,
    ObjectConnectorCoordinateVector,
    ObjectGenericODE2,
)

EXAMPLE = Path(__file__).parents[1] / "examples" / "flexible-four-bar" / "mechanism.yaml"
LARGEST_RATIO, LARGEST_GROWTH = 1 / 3, 2.0  # what a release must stay below
LARGEST_DIFFERENCE = 1e-6  # of a frequency: condensation promises half of it
COUNT, ANGLE, WHOLE_BAND, ROUNDS = 6, 0.3, 32768.0, 25


def four_bar(elements: int = 4) -> supple.Mechanism:
    text = EXAMPLE.read_text("utf-8")
    assert text.count("elements: 4") == 3
    return supple.loads(text.replace("elements: 4", f"elements: {elements}"))


class FullModel(NamedTuple):
    """K, M (n, n) for the displacements of all nodes, and the rows C (m, n) of hinges and the locked crank."""

    K: np.ndarray
    M: np.ndarray
    C: np.ndarray


def full_model(mechanism: supple.Mechanism, here: supple.Configuration) -> FullModel:
    """A body condensed for a band above its frequencies keeps every coordinate: rows over these, then over nodes."""
    rest = elastic_rest(mechanism, WHOLE_BAND)
    meshes = [body.mesh for body in rest.bodies]
    K = scipy.linalg.block_diag(*(mesh.K.toarray() for mesh in meshes))
    M = scipy.linalg.block_diag(*(mesh.M.toarray() for mesh in meshes))
    shapes = scipy.linalg.block_diag(*(body.shapes for body in rest.bodies))
    C = rows_over_coordinates(rest, rest.list_held_rows(actuators=True).rows, here.X[None])[0]
    return FullModel(K, M, np.linalg.solve(shapes.T, C.T).T)


class InExudyn:
    """The same matrices as one object, the same rows as constraints between its coordinates."""

    def __init__(self, model: FullModel):
        n, m = len(model.K), len(model.C)
        self.mbs = exu.SystemContainer().AddSystem()
        node = self.mbs.AddNode(NodeGenericODE2(
            numberOfODE2Coordinates=n, referenceCoordinates=[0.0] * n, initialCoordinates=[0.0] * n,
            initialCoordinates_t=[0.0] * n,
        ))  # fmt: skip
        self.mbs.AddObject(ObjectGenericODE2(nodeNumbers=[node], massMatrix=model.M, stiffnessMatrix=model.K))
        ground = self.mbs.AddNode(NodePointGround())
        markers = [self.mbs.AddMarker(MarkerNodeCoordinates(nodeNumber=item)) for item in (ground, node)]
        self.mbs.AddObject(ObjectConnectorCoordinateVector(
            markerNumbers=markers, scalingMarker0=np.zeros((m, 0)), scalingMarker1=model.C, offset=np.zeros(m),
        ))  # fmt: skip
        self.mbs.Assemble()

    def frequencies(self) -> np.ndarray:
        found, _ = self.mbs.ComputeODE2Eigenvalues(numberOfEigenvalues=COUNT, convert2Frequencies=True)
        return found


def timed(work: dict[str, tuple[Callable[[], object], int]], rounds: int = ROUNDS) -> dict[str, float]:
    """Least seconds a call of each task, taken in turn: a busy spell of the machine falls on all of them alike."""
    for task, _ in work.values():  # compile, warm up
        task()
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, (task, calls) in work.items():
            start = time.perf_counter()
            for _ in range(calls):
                task()
            times[name].append((time.perf_counter() - start) / calls)
    return {name: min(values) for name, values in times.items()}


def against_full_models() -> None:
    mechanism = four_bar()
    here = supple.assemble(mechanism, [ANGLE])
    model = full_model(mechanism, here)
    N = scipy.linalg.null_space(model.C)
    K, M = N.T @ model.K @ N, N.T @ model.M @ N
    exudyn = InExudyn(model)
    theta = np.linspace(-1.7, 1.7, 1000)[:, None]
    batch = supple.assemble(mechanism, theta)
    free = len(K)
    labels = {
        "eigh": f"scipy.linalg.eigh, constraints eliminated, {free} x {free}",
        "eigh full": f"scipy.linalg.eigh, all coordinates, {len(model.K)} x {len(model.K)}",
        "exudyn": f"Exudyn, {len(model.K)} coordinates and {len(model.C)} constraints",
        "one": "supple.modes, one call",
        "batch": "supple.modes, each of 1000 configurations",
    }
    found = timed(
        {
            "eigh": (lambda: scipy.linalg.eigh(K, M), 10),
            "eigh full": (lambda: scipy.linalg.eigh(model.K, model.M), 10),
            "exudyn": (exudyn.frequencies, 5),
            "one": (lambda: supple.modes(mechanism, here, count=COUNT), 20),
            "batch": (lambda: supple.modes(mechanism, batch, count=COUNT), 1),
        }
    )
    found["batch"] /= len(theta)
    ours = supple.modes(mechanism, here, count=COUNT).frequencies_hz
    scipys = np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True)[:COUNT]) / (2.0 * np.pi)
    print(f"flexible four-bar, 4 elements a bar, the lowest {COUNT} modes at {ANGLE} rad")
    for name, label in labels.items():
        print(f"  {label:56} {found[name] * 1e6:9.1f} µs")
    for name, theirs in (("scipy", scipys), ("Exudyn", exudyn.frequencies())):
        apart = float(np.abs(ours / theirs - 1.0).max())
        fair = "" if apart < LARGEST_DIFFERENCE else "   ANOTHER MODEL"
        print(f"  frequencies differ from those of {name:6} by {apart:.1e} of each{fair}")
    for ours_name in ("one", "batch"):
        for name in ("eigh", "eigh full", "exudyn"):
            ratio = found[ours_name] / found[name]
            verdict = "met" if ratio <= LARGEST_RATIO else "MISSED"
            print(f"  ratio {ours_name:5} to {name:9} {ratio:6.3f}   (at most {LARGEST_RATIO:.3f}: {verdict})")
    print(f"  frequency map of {len(theta)} configurations: {1.0 / found['batch']:.0f} postures a second")


def with_closure() -> None:
    """A map from coordinates alone: the mechanism is assembled at every one first."""
    mechanism = four_bar()
    theta = np.linspace(-1.7, 1.7, 1000)
    found = timed(
        {"map": (lambda: supple.frequency_map(mechanism, {"crank": theta}, count=COUNT, progress=False), 1)}, 7
    )
    print(f"  the same with closure of the loop at each: {len(theta) / found['map']:.0f} postures a second")


def growth() -> None:
    """Time with finer meshes; their bodies are condensed before."""
    counts = (4, 16, 64)
    machines = {elements: four_bar(elements) for elements in counts}
    places = {elements: supple.assemble(machine, [ANGLE]) for elements, machine in machines.items()}
    found = timed(
        {
            str(elements): (lambda e=elements: supple.modes(machines[e], places[e], count=COUNT), 20)  # type: ignore[misc]
            for elements in counts
        }
    )
    print("with finer meshes, one call")
    for elements in counts:
        size = supple.modes(machines[elements], places[elements], count=COUNT).rest.size
        print(f"  {elements:3} elements a bar, {size:3} coordinates {found[str(elements)] * 1e6:9.1f} µs")
    ratio = found["64"] / found["4"]
    verdict = "met" if ratio < LARGEST_GROWTH else "MISSED"
    print(f"  from 4 to 64 elements the time grows {ratio:.2f} times   (less than {LARGEST_GROWTH:g}: {verdict})")


def main() -> None:
    against_full_models()
    with_closure()
    growth()


if __name__ == "__main__":
    main()
