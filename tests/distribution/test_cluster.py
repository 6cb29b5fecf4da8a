"""On a cluster the same comes out, bit for bit, whoever comes, goes or is killed; what is stored is not lost."""

from __future__ import annotations

import json
import operator
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import supple
from supple.cli.main import app
from supple.diagnostics import ClusterError, InputError
from supple.distribution import cluster as batch_size
from supple.distribution import connection
from supple.distribution.cluster import LEAST, LONGEST, BatchSize, installation
from supple.distribution.workplace import workplace
from supple.reduction import sampling as module

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (the extra `cluster`)")

import psutil  # noqa: E402
from same_models import same  # noqa: E402
from small_cluster import SmallCluster, stored  # noqa: E402 - of no use without it

from supple.distribution import cluster as cluster_module  # noqa: E402
from supple.distribution import late_tasks  # noqa: E402
from supple.distribution.cluster import Cluster  # noqa: E402

FILE = Path(__file__).parents[2] / "examples" / "flexible-four-bar" / "mechanism.yaml"
SECONDS = 0.005  # a point, on a worker and here
TASK = {"internal_modes": 2, "fit": "quadratic", "boxes": 100, "progress": False}  # 201 samples, 200 checks


@pytest.fixture(scope="module")
def machine():
    return supple.load(FILE)


@pytest.fixture(scope="module")
def alone(machine):
    return supple.reduce(machine, **TASK)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    found = SmallCluster(tmp_path_factory.mktemp("cluster"), dimension=1, seconds=SECONDS)
    found.add()
    yield found
    found.close()


@pytest.fixture
def slow(monkeypatch):
    """Points cost as much here as on the workers; those that are computed here."""
    compute, seen = module.sampled_rows, []

    def slowed(mechanism, theta, choice):
        seen.extend(point.tobytes() for point in theta)
        time.sleep(SECONDS * len(theta))
        return compute(mechanism, theta, choice)

    monkeypatch.setattr(module, "sampled_rows", slowed)
    return seen


@pytest.fixture
def everything_travels(monkeypatch):
    monkeypatch.setattr(batch_size, "LEAST", 0.0)
    monkeypatch.setattr(batch_size, "_SETTLED", 0.0)


@pytest.mark.slow
def test_a_killed_worker_costs_its_batches_and_a_late_one_is_used(cluster, machine, alone, slow, tmp_path):
    first, late = cluster.workers[0], []

    def trouble():
        cluster.wait_for(lambda: cluster.noted())
        cluster.hold(first)  # so that the other is there before all is done
        cluster.add()
        late.append(cluster.workers[-1].pid)
        cluster.wait_for(lambda: any(pid == late[0] for pid, _ in cluster.noted()))
        cluster.kill(first)

    thread = threading.Thread(target=trouble)
    thread.start()
    model = supple.reduce(machine, **TASK, cluster=cluster.address, store=tmp_path / "samples")
    thread.join()
    assert same(model, alone)
    noted = cluster.noted()
    begun = [theta for _, theta in noted]
    twice = {theta for theta in begun if begun.count(theta) > 1}
    lost = {theta for pid, theta in noted if pid == first.pid}
    assert twice <= lost  # nothing but what the killed worker had begun
    assert late[0] in {pid for pid, _ in noted}
    assert not set(slow) & set(begun)
    assert stored(tmp_path / "samples") == set(slow) | set(begun)


@pytest.fixture
def impatient(monkeypatch):
    """Late after seconds, so that the test is short."""
    for name in ("LEAST", "UNKNOWN", "SILENCE"):
        monkeypatch.setattr(late_tasks, name, 1.5)
    monkeypatch.setattr(late_tasks, "MULTIPLE", 1.0)
    monkeypatch.setattr(cluster_module, "_SPREAD", 1.0)


@pytest.mark.slow
@pytest.mark.usefixtures("impatient", "slow")
@pytest.mark.parametrize("others", [1, 0])
def test_tasks_of_a_stopped_worker_are_sent_again(cluster, machine, alone, others):
    """To others, or computed here where there are none; and it is reported."""
    cluster.workers = [worker for worker in cluster.workers if worker.poll() is None]
    cluster.add(1 + others - len(cluster.workers))
    cluster.wait_for(cluster.ready)
    stopped, before = cluster.workers[0], len(cluster.noted())
    for worker in cluster.workers[1 + others :]:
        cluster.kill(worker)

    def trouble():
        cluster.wait_for(lambda: any(pid == stopped.pid for pid, _ in cluster.noted()[before:]))
        stopped.send_signal(signal.SIGSTOP)

    thread = threading.Thread(target=trouble)
    thread.start()
    try:
        with pytest.warns(
            supple.SuppleWarning, match=r"not finished .* after .* s, expected .* \(no heartbeat for .* s\)"
        ):
            model = supple.reduce(machine, **TASK, cluster=cluster.address)
        thread.join()
        assert same(model, alone)
        if others:  # the next call does not wait until that worker has taken the work
            with pytest.warns(supple.SuppleWarning, match="tasks are sent to other"):
                assert same(supple.reduce(machine, **TASK, cluster=cluster.address), alone)
    finally:
        stopped.send_signal(signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.usefixtures("everything_travels")
def test_maps_linear_models_and_starts_are_the_same_there(cluster, machine, monkeypatch):
    tasks, submit = [], Cluster._submit
    monkeypatch.setattr(
        Cluster,
        "_submit",
        lambda self, known, *rest: tasks.append(type(known.work).__name__) or submit(self, known, *rest),
    )
    states = supple.assemble(machine, np.random.default_rng(3).uniform(-1.0, 1.0, (60, 1)))
    seen = supple.Measurement(at={"crank": 0.3}, frequencies_hz=[17.0, 41.0])
    asked = ["modes", str(FILE), "--map", "crank=-1.5:1.5:40", "--count", "3", "--json"]
    maps = [CliRunner().invoke(app, [*asked, *where]) for where in ([], ["--cluster", cluster.address])]
    assert json.loads(maps[0].stdout) == json.loads(maps[1].stdout)
    with distributed.Client(cluster.address, set_as_default=False) as there:
        models = [supple.linearize_batch(machine, states, rigid=True, cluster=place) for place in (None, there)]
        for name in ("A", "B", "accelerations", "inputs"):
            assert_array_equal(getattr(models[0], name), getattr(models[1], name))
        found = [supple.update(machine, seen, ["aluminium.E", "aluminium.nu"], starts=3, cluster=place)
                 for place in (None, there)]  # fmt: skip
        assert_array_equal(found[0].after, found[1].after)
    assert set(tasks) == {"_MapWork", "_LinearStates", "_FromStart"}
    assert tasks.count("_FromStart") == 3  # each start is a task


def test_other_versions_on_a_worker_are_refused(cluster, machine, everything_travels, monkeypatch):
    ours = installation()
    other = ours._replace(versions=(("supple", "9.9"), *ours.versions[1:]))
    monkeypatch.setattr("supple.distribution.cluster.installation", lambda: other)
    with pytest.raises(InputError, match=r"worker tcp://.*supple is .* there and 9\.9 here; install"):
        supple.frequency_map(machine, {"crank": np.linspace(-1.5, 1.5, 9)}, cluster=cluster.address)
    monkeypatch.setattr("supple.distribution.cluster.installation", lambda: ours._replace(processor="another"))
    with pytest.warns(supple.SuppleWarning, match=r"another kind of processor \(.* there, another here\)"):
        supple.frequency_map(machine, {"crank": np.linspace(-1.5, 1.5, 9)}, cluster=cluster.address)
    assert ours.difference(ours) is None
    assert "files differ" in ours.difference(ours._replace(source="0" * 64))


@pytest.mark.slow
def test_without_its_scheduler_a_run_ends_and_goes_on_from_the_store(cluster, machine, alone, slow, tmp_path):
    store = tmp_path / "samples"

    def trouble():
        cluster.wait_for(lambda: len(stored(store)) > 20)
        cluster.kill(cluster.scheduler)

    thread = threading.Thread(target=trouble)
    thread.start()
    with pytest.raises(ClusterError, match="connection to the scheduler was lost"):
        supple.reduce(machine, **TASK, cluster=cluster.address, store=store)
    thread.join()
    kept = stored(store)
    assert 20 < len(kept) < 401
    slow.clear()
    model = supple.reduce(machine, **TASK, store=store)
    assert same(model, alone)
    assert not kept & set(slow)


@pytest.mark.usefixtures("everything_travels")
def test_processes_of_this_machine_end_with_the_work():
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    numbers = np.arange(20.0)
    with workplace(cluster="local:1") as place:
        found = {part.rows.start: part.found for part in place.results(operator.neg, numbers, together=8)}
        assert_array_equal(np.concatenate([found[start] for start in sorted(found)]), -numbers)
        open_to = [item.laddr.ip for child in psutil.Process().children(recursive=True)
                   for item in child.net_connections() if item.status == psutil.CONN_LISTEN]  # fmt: skip
        assert set(open_to) == {"127.0.0.1"}
    after = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert not [child for child in after if "resource_tracker" not in " ".join(child.cmdline())]


def test_a_batch_that_ends_worker_after_worker_is_named():
    client = SimpleNamespace(scheduler=SimpleNamespace(address="tcp://there:1"))

    def killed(timeout):
        raise distributed.KilledWorker("batch", None, 3)

    place, batch, known = Cluster(client), slice(1, 3), {}
    points, ended = np.arange(8.0).reshape(4, 2), SimpleNamespace(result=killed)
    assert place._result(ended, (points,), batch, known) is None  # once more, as a new task
    with pytest.raises(ClusterError, match=r"a batch of 2 rows, \(2, 3\) to \(4, 5\), ended 8 workers"):
        place._result(ended, (points,), batch, known)


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("local:0", "no processes"),
        ("local:5000", "5000 processes .*limit of 1024; .*workers=5e"),
        ("somewhere", "not an address"),
        (17, "int is not a cluster"),
        ("tcp://127.0.0.1:1", "no scheduler answers at tcp://127.0.0.1:1"),
    ],
)
def test_what_is_no_cluster_is_said(named, words, monkeypatch):
    monkeypatch.setattr(connection, "_PATIENCE", 0.2)
    with pytest.raises(InputError, match=words), workplace(cluster=named):
        pass


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "supple.distribution.connection")
    with pytest.raises(InputError, match=r"pip install 'supple\[cluster\]'"), workplace(cluster="local:2"):
        pass


def test_tasks_are_neither_short_nor_long():
    size = BatchSize()
    size.record_piece(1, 9.0)  # compiling
    assert size.cost is None
    size.record_piece(1, 0.001)
    size.record_piece(4, 0.004)
    assert not size.settled
    size.record_piece(64, 0.064)
    assert size.settled
    assert not size.worth_sending(100)
    for left in (250, 999, 5000, 100_000):
        taken = []
        while left:
            taken.append(size.next(left, workers=4))
            left -= taken[-1]
        assert min(taken) * size.cost >= LEAST * (1 - 1e-9)
        assert max(taken) * size.cost <= LONGEST + LEAST
    size.learn(10, 50.0)  # now dear
    assert size.next(100, workers=4) == 1
