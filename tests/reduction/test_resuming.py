"""A reduction that is killed goes on where it stopped, and ends with the same model, bit for bit."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import supple
from supple.reduction import sampling as module

KILLS = 5
FIRST = 24 * 22  # bytes of θ that are noted when a first batch has been stored, and the next is on its way
# Each θ is noted before it is computed, so that nothing computed goes unseen; small and slow batches give a kill
# something to hit.
RUN = """
import sys, time
import supple
from supple.reduction import sampling
compute, log = sampling.sampled_rows, open(sys.argv[2], "ab", buffering=0)
sampling.BATCH = 16
sampling._TIMED, sampling._SLOW = 8, 0.0  # a check is slow, and kept as samples are
def noted(mechanism, theta, choice):
    log.write(theta.tobytes())
    time.sleep(0.02)
    return compute(mechanism, theta, choice)
sampling.sampled_rows = noted
supple.reduce(supple.load(sys.argv[1]), fit="quadratic", boxes=6, checks=100, output=sys.argv[3],
              progress=False)
"""
EXAMPLE = Path(__file__).parents[2] / "examples" / "orthoglide" / "mechanism.yaml"


def keys_in(log: Path) -> list[bytes]:
    data = log.read_bytes()
    return [data[i : i + 24] for i in range(0, len(data), 24)]


def committed(store: Path) -> set[bytes]:
    if not store.exists():
        return set()
    database = sqlite3.connect(store)
    try:
        return {row[0] for row in database.execute("SELECT theta FROM samples")}
    finally:
        database.close()


def started(folder: Path, n: int) -> tuple[subprocess.Popen, Path]:
    log = folder / f"log{n}"
    log.touch()
    path = os.pathsep.join(item for item in sys.path if item)
    command = [sys.executable, "-c", RUN, str(EXAMPLE), str(log), str(folder / "killed.rom")]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}), log


def without_time(model: supple.ReducedModel) -> dict:
    return {key: value for key, value in model.provenance.items() if key != "made"}


def assert_same(model, other) -> None:
    assert without_time(model) == without_time(other)
    assert model.error == other.error
    assert model.layout.columns == other.layout.columns
    for name, constant in model.layout.constants.items():
        assert_array_equal(constant, other.layout.constants[name])
    for array, same in zip(model.fitted.arrays, other.fitted.arrays, strict=True):
        assert_array_equal(array, same)


@pytest.mark.slow
def test_five_kills_lose_nothing(tmp_path, orthoglide):
    rng = random.Random(5)
    store = tmp_path / "killed.rom.samples"
    before: set[bytes] = set()
    for n in range(KILLS):
        process, log = started(tmp_path, n)
        while process.poll() is None and log.stat().st_size < FIRST:
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.3))
        assert process.poll() is None, "it ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = committed(store)
        assert before <= now  # what was there is still there
        assert not before & set(keys_in(log))  # and was not computed again
        assert len(set(keys_in(log)) - now) <= 16  # a kill costs one batch at most
        before = now
    assert before  # the kills did hit runs that had got somewhere
    process, log = started(tmp_path, KILLS)
    assert process.wait() == 0
    last = keys_in(log)
    assert not before & set(last)
    assert len(set(last)) == len(last)
    model = supple.load(tmp_path / "killed.rom")
    assert_same(model, supple.reduce(orthoglide, fit="quadratic", boxes=6, checks=100))


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path, orthoglide, monkeypatch):
    compute, seen = module.sampled_rows, []

    def interrupted(mechanism, theta, choice):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(theta)
        return compute(mechanism, theta, choice)

    monkeypatch.setattr(module, "sampled_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        supple.reduce(orthoglide, fit="quadratic", boxes=6, store=tmp_path / "samples")
    kept = committed(tmp_path / "samples")
    assert kept == {point.tobytes() for point in np.vstack(seen)}
    again = []
    monkeypatch.setattr(module, "sampled_rows", lambda m, x, choice: again.append(x) or compute(m, x, choice))
    model = supple.reduce(orthoglide, fit="quadratic", boxes=6, store=tmp_path / "samples")
    assert not kept & {point.tobytes() for point in np.vstack(again)}
    monkeypatch.undo()
    assert_same(model, supple.reduce(orthoglide, fit="quadratic", boxes=6))


def test_a_second_reduction_uses_the_samples_of_the_first(tmp_path, orthoglide, monkeypatch):
    monkeypatch.setattr(module, "_SLOW", 0.0)  # checks are kept as well
    supple.reduce(orthoglide, fit="quadratic", boxes=4, checks=100, output=tmp_path / "x.rom")
    compute, again = module.sampled_rows, []
    monkeypatch.setattr(module, "sampled_rows", lambda m, x, choice: again.append(x) or compute(m, x, choice))
    supple.reduce(orthoglide, fit="quadratic", boxes=4, checks=100, output=tmp_path / "x.rom")
    assert not again
    supple.reduce(orthoglide, fit="quadratic", boxes=8, checks=100, output=tmp_path / "x.rom")
    assert len(np.vstack(again)) < 2969  # the coarse grid is part of the fine one


@pytest.mark.filterwarnings("ignore:the model is unusable")  # so few boxes have errors above one
def test_damaged_samples_are_computed_again(tmp_path, four_bar):
    store = tmp_path / "samples"
    model = supple.reduce(four_bar, fit="quadratic", boxes=8, store=store)
    database = sqlite3.connect(store)
    with database:
        database.execute("UPDATE samples SET coefficients = zeroblob(length(coefficients)) WHERE rowid % 3 = 0")
    database.close()
    with pytest.warns(supple.SuppleWarning, match="did not match the checksum"):
        mended = supple.reduce(four_bar, fit="quadratic", boxes=8, store=store)
    assert_same(mended, model)
    assert_same(supple.reduce(four_bar, fit="quadratic", boxes=8, store=store), model)  # and kept: no warning
