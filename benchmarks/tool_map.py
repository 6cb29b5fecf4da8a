"""The frequency map of the Surgiscope over tool positions, against assembling and solving its full model by scipy.

supple's time is that of `frequency_map`, from positions of the tool: inverse kinematics, rows and the lowest modes. The
full model has every coordinate of its bodies, nothing condensed, in which their mass is the unit matrix (kind to
scipy). Scipy is given θ and the rows at each posture for nothing; timed are adding the stiffness of the joints to the
constant matrices of the bodies, eliminating the welds and locked motors by a QR of their rows, and `scipy.linalg.eigh`
for the lowest six; beside it sparse `eigsh`, shifted and inverted, with these rows as multipliers. Scipy has one thread
of BLAS, or all, whichever is faster. All give the same frequencies, which is checked. Bodies are set up once.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from threadpoolctl import threadpool_limits

import supple
from supple.formulations.elastic_rest.constrained_modes import rows_over_coordinates
from supple.formulations.elastic_rest.elastic_rest import elastic_rest

EXAMPLE = Path(__file__).parents[1] / "examples" / "surgiscope" / "mechanism.yaml"
LEAST_RATIO = 10.0  # what a release must stay above
LARGEST_DIFFERENCE = 1e-6  # of a frequency: condensation promises half of it
COUNT, SIDE, COMPARED, WHOLE_BAND = 6, 20, 4, 1e6


class FullModel:
    """K, M (n, n) of all coordinates of the bodies, and the rows C (m, n) between them at each posture."""

    def __init__(self, mechanism: supple.Mechanism):
        self.rest = elastic_rest(mechanism, WHOLE_BAND)
        self.held = self.rest.list_held_rows(actuators=True)
        self.K, self.M = np.diag(self.rest.arrays.stiffness), np.eye(self.rest.size)

    def rows(self, X: np.ndarray) -> np.ndarray:
        return rows_over_coordinates(self.rest, self.held.rows, X[None])[0]

    def assembled(self, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K with the joints' stiffness, and the rows that are held ideally."""
        soft = self.held.compliance > 0.0
        return self.K + C[soft].T @ (C[soft] / self.held.compliance[soft, None]), C[~soft]

    def by_eigh(self, C: np.ndarray) -> np.ndarray:
        K, hard = self.assembled(C)
        N = scipy.linalg.qr(hard.T)[0][:, len(hard) :]
        squares = scipy.linalg.eigh(N.T @ K @ N, N.T @ self.M @ N, eigvals_only=True, subset_by_index=[0, COUNT - 1])
        return np.sqrt(squares) / (2.0 * np.pi)

    def by_eigsh(self, C: np.ndarray) -> np.ndarray:
        K, hard = self.assembled(C)
        rows = sp.csc_matrix(hard)
        whole = sp.bmat([[sp.csc_matrix(K), rows.T], [rows, None]], format="csc")
        mass = sp.block_diag([sp.csc_matrix(self.M), sp.csc_matrix((len(hard), len(hard)))], format="csc")
        squares = eigsh(whole, COUNT, mass, sigma=0.0, return_eigenvectors=False)
        return np.sort(np.sqrt(np.abs(squares))) / (2.0 * np.pi)


def timed(task, rounds: int = 3) -> float:  # type: ignore[no-untyped-def]
    """Least seconds of a call; the first, which compiles, does not count."""
    task()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    robot = supple.load(EXAMPLE)
    side = np.linspace(-0.3, 0.3, SIDE)
    grid = {"tool.x": side, "tool.y": side, "tool.z": -1.1}
    found = supple.frequency_map(robot, grid, count=COUNT, progress=False)
    ours = timed(lambda: supple.frequency_map(robot, grid, count=COUNT, progress=False)) / found.assembled.size
    positions = np.stack(np.meshgrid(side, side, [-1.1], indexing="ij"), axis=-1).reshape(-1, 3)
    led = timed(lambda: supple.assemble(robot, {"tool": positions})) / len(positions)
    model = FullModel(robot)
    chosen = np.linspace(0, len(positions) - 1, COMPARED).astype(int)
    C = [model.rows(X) for X in supple.assemble(robot, {"tool": positions[chosen]}).X]
    print(f"surgiscope, {len(positions)} tool positions, the lowest {COUNT} modes; full model of {len(model.K)}")
    print(f"  supple, from tool positions    {ours * 1e3:8.2f} ms a posture, {1.0 / ours:6.0f} postures a second")
    print(f"    of that inverse kinematics   {led * 1e3:8.2f} ms")
    mine = found.frequencies_hz.reshape(-1, COUNT)[chosen]
    for name, solve in (("eigh", model.by_eigh), ("eigsh", model.by_eigsh)):
        each = np.inf
        for threads in (1, None):
            with threadpool_limits(threads):
                each = min(each, timed(lambda solve=solve: [solve(rows) for rows in C], 2) / COMPARED)  # type: ignore[misc]
        apart = float(np.abs(mine / np.array([solve(rows) for rows in C]) - 1.0).max())
        fair = "" if apart < LARGEST_DIFFERENCE else "   ANOTHER MODEL"
        verdict = f"(at least {LEAST_RATIO:g}: {'met' if each / ours >= LEAST_RATIO else 'MISSED'})" * (name == "eigh")
        print(
            f"  scipy, assembled, {name:5}        {each * 1e3:8.2f} ms a posture, {1.0 / each:6.0f} postures a second"
        )
        print(f"    ratio {each / ours:6.1f}   {verdict}; frequencies differ by {apart:.1e}{fair}")


if __name__ == "__main__":
    main()
