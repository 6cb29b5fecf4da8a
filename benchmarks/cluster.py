"""Sampling in other processes: what it gains and what it costs, beside this process alone.

ralf with stiffening, whose local models spend their time outside compiled code: this process keeps to one core then.
Wall time says something on a machine that does nothing else; processor time of all processes together says what
distribution costs besides. Beginning, with the first 64 samples, is told apart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil
from joblib.externals.loky import get_reusable_executor

import supple
from supple.distribution.cluster import Cluster
from supple.distribution.workplace import workplace
from supple.parameterization.local_model import mode_choice
from supple.reduction.sampling import Sampling

FILE = Path(__file__).parents[1] / "examples" / "ralf" / "mechanism.yaml"
POINTS = 800
PLACES = {"this process": {}, "workers=2": {"workers": 2}, "local:2": {"cluster": "local:2"}}


@contextmanager
def timed() -> Iterator[list[float]]:
    """Wall seconds, and processor seconds of this process and of those that it has started."""
    found: list[float] = []
    start, before = time.perf_counter(), _spent()
    yield found
    found += [time.perf_counter() - start, _spent() - before]


def _spent() -> float:
    own = psutil.Process()
    times = [own.cpu_times(), *(child.cpu_times() for child in own.children(recursive=True))]
    return sum(item.user + item.system for item in times)


def main() -> None:
    machine = supple.load(FILE)
    choice = mode_choice(machine, (), 2, "subspace", None, stiffening=True)
    rest = supple.assemble(machine).theta
    theta = rest + np.random.default_rng(0).uniform(-0.05, 0.05, (POINTS, len(rest)))
    Sampling(machine, choice=choice).rows(theta[:20])  # kernels read
    tasks: list[float] = []
    result = Cluster._result

    def noted(self, *given):
        done = result(self, *given)
        tasks.append(done.seconds)
        return done

    Cluster._result = noted
    rows, alone = {}, 0.0
    print(f"{POINTS} samples of ralf with stiffening, {os.cpu_count()} cores")
    for name, where in PLACES.items():
        begun = time.perf_counter()
        with workplace(**where) as place:
            sampling = Sampling(machine, choice=choice, place=place)
            sampling.rows(theta[:64])  # processes begin, and read their kernels
            begun, own, before = time.perf_counter() - begun, time.process_time(), len(tasks)
            with timed() as work:
                rows[name] = sampling.rows(theta)[0]
            own = time.process_time() - own
        get_reusable_executor().shutdown()
        alone = alone or work[0]
        print(f"{name:13s} {work[0]:6.2f} s, {alone / work[0]:.2f} times as fast, {work[1]:.2f} s of processors; "
              f"to begin {begun:.2f} s")  # fmt: skip
    assert all(np.array_equal(found, rows["this process"]) for found in rows.values())
    sent = tasks[before:]
    print(f"bit for bit the same; {len(sent)} tasks of {min(sent):.2f} to {max(sent):.2f} s on the cluster, each of "
          f"which cost this process {1e3 * own / len(sent):.1f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
