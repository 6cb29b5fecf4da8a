"""A cluster of processes that can be killed one by one, whose workers note every point before they compute it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Noted before it is computed, so that nothing computed goes unseen; slow, so that a kill has something to hit.
NOTED = """
import os, struct, time
from supple.reduction import sampling

if not hasattr(sampling, "noted_in"):  # dask runs a preload more than once
    sampling.compute, sampling.noted_in = sampling.sampled_rows, open(os.environ["POINTS_LOG"], "ab", buffering=0)


def noted(mechanism, theta, choice=sampling.RIGID):
    sampling.noted_in.write(b"".join(struct.pack("q", os.getpid()) + row.tobytes() for row in theta))
    time.sleep(float(os.environ["SECONDS_A_POINT"]) * len(theta))
    while os.path.exists(f"held-{os.getpid()}"):
        time.sleep(0.02)
    return sampling.compute(mechanism, theta, choice)


sampling.sampled_rows = noted
open(f"ready-{os.getpid()}", "w").close()
while os.environ.get("JOIN") and not os.path.exists(os.environ["JOIN"]):  # ready, but not there yet
    time.sleep(0.01)
"""


class SmallCluster:
    """A scheduler and workers without nannies, all on 127.0.0.1."""

    def __init__(self, folder: Path, dimension: int, seconds: float, port: int = 0):
        self.folder, self.dimension = folder, dimension
        self.log, self.preload = folder / "points", folder / "noted.py"
        self.log.touch()
        self.preload.write_text(NOTED, encoding="utf-8")
        path = os.pathsep.join(item for item in sys.path if item)
        own = {"POINTS_LOG": str(self.log), "SECONDS_A_POINT": str(seconds), "PYTHONPATH": path}
        self.environment = {**os.environ, **own, "OPENBLAS_NUM_THREADS": "1", "DASK_LOGGING__DISTRIBUTED": "error"}
        self.workers: list[subprocess.Popen] = []
        self.scheduler = self._start(
            "scheduler", "--port", port, "--no-dashboard", "--scheduler-file", folder / "where"
        )
        self.wait_for(lambda: (folder / "where").exists() and (folder / "where").read_text().strip().endswith("}"))
        self.address = json.loads((folder / "where").read_text())["address"]

    def add(self, count: int = 1, join: Path | None = None) -> None:
        """Start workers; they show up when the file `join` does."""
        more = {} if join is None else {"JOIN": str(join)}
        for _ in range(count):
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "60")
            where = ("--scheduler-file", self.folder / "where", "--preload", self.preload)
            self.workers.append(self._start("worker", *options, *where, **more))

    def wait_for(self, happened: Callable[[], object], seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.02)

    def ready(self) -> bool:
        """Whether all workers have begun."""
        return all((self.folder / f"ready-{worker.pid}").exists() for worker in self.workers)

    def hold(self, process: subprocess.Popen) -> None:
        """It ends no batch any more."""
        (self.folder / f"held-{process.pid}").touch()

    def kill(self, process: subprocess.Popen) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()

    def noted(self) -> list[tuple[int, bytes]]:
        """(process, θ) of every point that was begun."""
        data, size = self.log.read_bytes(), 8 * (1 + self.dimension)
        items = [data[i : i + size] for i in range(0, len(data) - size + 1, size)]
        return [(int.from_bytes(item[:8], sys.byteorder), item[8:]) for item in items]

    def close(self) -> None:
        for process in [*self.workers, self.scheduler]:
            if process.poll() is None:
                self.kill(process)

    def _start(self, what: str, *options: object, **more: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", *map(str, options)]
        output = (self.folder / f"{what}.log").open("ab")
        return subprocess.Popen(command, env=self.environment | more, stdout=output, stderr=output, cwd=self.folder)


def stored(store: Path) -> set[bytes]:
    """θ of all samples in a store."""
    if not store.exists():
        return set()
    database = sqlite3.connect(store)
    try:
        return {row[0] for row in database.execute("SELECT theta FROM samples")}
    except sqlite3.OperationalError:  # not made yet
        return set()
    finally:
        database.close()
