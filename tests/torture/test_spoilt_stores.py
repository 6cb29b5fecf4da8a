"""A few of the many damaged stores of `make torture`: every way of spoiling one, before it is opened and in use."""

from __future__ import annotations

import re
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from damaged_stores import PAGE, SPOILS, TASK, Case, bit
from same_models import same

import supple
from supple.reduction import sampling


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return Case(tmp_path_factory.mktemp("stores"))


@pytest.mark.slow
def test_spoilt_stores_give_the_same_model(case):
    seen, told = set(), 0
    for seed in range(25):
        what, said, good = case.run(seed)
        assert good, f"seed {seed}: {what}: {said}"
        seen.add(what)
        told += bool(said)
    assert len(seen) > len(SPOILS)
    assert told > 5  # many are noticed; others hit what nobody reads


def test_one_wrong_bit_in_any_page_is_never_believed(case):
    for seed in range(1000, 1012):
        _, said, good = case.run(seed, spoil=bit, late=False)
        assert good, f"seed {seed}: {said}"


def test_two_runs_at_once_with_one_store_give_the_same_model(case, tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "BATCH", 8)
    with ThreadPoolExecutor(2) as both, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = list(both.map(lambda _: supple.reduce(case.mechanism, **TASK, store=tmp_path / "x.samples"), (1, 2)))
    assert all(same(model, case.expected) for model in models)


def test_a_damaged_store_is_set_aside_and_the_model_is_the_same(case, tmp_path):
    store = tmp_path / "x.samples"
    shutil.copy(case.original, store)
    content = bytearray(store.read_bytes())
    content[PAGE : 3 * PAGE] = bytes(2 * PAGE)
    store.write_bytes(content)
    models, said = [], []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            models.append(supple.reduce(case.mechanism, **TASK, store=store))
        said.append([str(item.message) for item in heard if "store" in str(item.message)])
    assert len(said[0]) == 1
    assert re.search(r"the store .*x\.samples is damaged .*x\.samples\.damaged", said[0][0])
    assert said[1] == []  # the new store is whole
    assert all(same(model, case.expected) for model in models)
    assert (tmp_path / "x.samples.damaged").read_bytes() == bytes(content)
