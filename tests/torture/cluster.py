"""Four workers, two of them killed at random moments, one that comes late: the same model, ten times, bit for bit.

One line a repetition; status 1 if a model differs, a stored sample is lost, or anything but what a killed worker had
begun is computed twice. At the end the scheduler is killed under `supple reduce`, and the same command goes on.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "distribution"))

from same_models import same
from small_cluster import NOTED, SmallCluster, stored

import supple
from supple.reduction import sampling

FILE = Path(__file__).parents[2] / "examples" / "flexible-four-bar" / "mechanism.yaml"
SECONDS = 0.02  # a point: slow, so that there is something to hit
LARGEST = 100  # repetitions: each takes some seconds
POINTS = 402  # 201 samples, 200 checks, the middle
TASK = {"internal_modes": 2, "fit": "quadratic", "boxes": 100, "progress": False}
COMMAND = ["reduce", str(FILE), "--internal-modes", "2", "--fit", "quadratic", "--boxes", "100"]


def main(seeds: range) -> int:
    warnings.simplefilter("ignore", supple.diagnostics.SuppleNote)  # workers take their time to begin
    machine = supple.load(FILE)
    alone = supple.reduce(machine, **TASK)
    compute = sampling.sampled_rows

    def slowed(mechanism, theta, choice):
        time.sleep(SECONDS * len(theta))
        return compute(mechanism, theta, choice)

    sampling.sampled_rows = slowed
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        cluster = SmallCluster(Path(name), dimension=1, seconds=SECONDS)
        try:
            for seed in seeds:
                wrong += not repetition(cluster, machine, alone, seed)
        finally:
            cluster.close()
        sampling.sampled_rows = compute
        wrong += not without_scheduler(Path(name), alone)
    print("all well" if not wrong else f"{wrong} of them went wrong")
    return 1 if wrong else 0


def repetition(cluster: SmallCluster, machine, alone, seed: int) -> bool:
    """One run with its trouble, told in a line."""
    rng, folder = random.Random(seed), cluster.folder / f"run{seed}"
    folder.mkdir()
    store, join = folder / "samples", folder / "join"
    cluster.workers = [worker for worker in cluster.workers if worker.poll() is None]
    cluster.add(4 - len(cluster.workers))
    victims = rng.sample(cluster.workers, 2)
    cluster.add(join=join)
    cluster.wait_for(cluster.ready)
    late, before, problems = cluster.workers[-1], len(cluster.noted()), []
    moments = sorted(rng.randint(1, 150) for _ in range(3))
    order = rng.sample(["kill", "kill", "join"], 3)

    def trouble() -> None:
        seen: set[bytes] = set()
        left = list(victims)
        for moment, what in zip(moments, order, strict=True):
            cluster.wait_for(lambda moment=moment: len(cluster.noted()) - before >= moment, seconds=300.0)
            time.sleep(rng.uniform(0.0, 0.2))
            now = stored(store)
            if not seen <= now:
                problems.append("a stored sample was lost")
            seen = now
            join.touch() if what == "join" else cluster.kill(left.pop())

    start = time.monotonic()
    thread = threading.Thread(target=trouble)
    thread.start()
    model = supple.reduce(machine, **TASK, cluster=cluster.address, store=store)
    thread.join()
    noted = cluster.noted()[before:]
    begun = [theta for _, theta in noted]
    lost = {theta for pid, theta in noted if pid in {victim.pid for victim in victims}}
    twice = {theta for theta in begun if begun.count(theta) > 1}
    if not same(model, alone):
        problems.append("the model differs")
    if not twice <= lost:
        problems.append(f"{len(twice - lost)} points were computed twice that no killed worker had begun")
    if len(stored(store)) != POINTS:
        problems.append(f"{len(stored(store))} samples are stored, not {POINTS}")
    by_late = sum(pid == late.pid for pid, _ in noted)
    if not by_late:
        problems.append("the late worker was not used")
    told = ", ".join(f"{what} at {moment}" for what, moment in zip(order, moments, strict=True))
    print(
        f"repetition {seed}: {told} of {POINTS} points; late worker began {by_late}; {len(begun) - len(set(begun))} "
        f"begun again; {time.monotonic() - start:.1f} s: {', '.join(problems) or 'the same model'}",
        flush=True,
    )
    return not problems


def without_scheduler(folder: Path, alone) -> bool:
    """`supple reduce` whose scheduler is killed; the same command, with a scheduler at the same place, goes on."""
    model, store = folder / "x.rom", folder / "x.rom.samples"
    (folder / "noted.py").write_text(NOTED, encoding="utf-8")
    problems, port = [], 0
    for turn in range(2):
        part = folder / f"turn{turn}"
        part.mkdir()
        cluster = SmallCluster(part, dimension=1, seconds=SECONDS, port=port)
        cluster.add(2)
        port = int(cluster.address.rpartition(":")[2])
        before = stored(store)
        script = f"exec(open({str(folder / 'noted.py')!r}).read()); from supple.cli.main import run; run()"
        command = [sys.executable, "-c", script, *COMMAND, "-o", str(model), "--cluster", cluster.address]
        process = subprocess.Popen(
            command, env=cluster.environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if turn == 0:
            cluster.wait_for(lambda: len(stored(store)) > 20, seconds=300.0)
            cluster.kill(cluster.scheduler)
        _, told = process.communicate(timeout=300)
        lines = [line for line in told.splitlines() if line.startswith("error")]
        cluster.close()
        if turn == 0 and (process.returncode != 1 or len(lines) != 1 or "Traceback" in told):
            problems.append(f"without a scheduler it ended with status {process.returncode}: {told}")
        if turn == 1 and process.returncode:
            problems.append(f"it did not go on: {told}")
        if before & {theta for _, theta in cluster.noted()}:
            problems.append("stored samples were computed again")
        print(
            f"scheduler {'killed' if turn == 0 else 'back'}: status {process.returncode}, {len(before)} samples then, "
            f"{len(stored(store))} now; {lines[0] if lines else 'done'}",
            flush=True,
        )
    if not problems and not same(supple.load(model), alone):
        problems.append("the model differs")
    print(f"resumed: {', '.join(problems) or 'the same model'}", flush=True)
    return not problems


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main(range(asked.seed, asked.seed + min(asked.cases, LARGEST))))
