"""A few of the many damaged stores of `make torture`: every way of spoiling one, before it is opened and in use."""

from __future__ import annotations

import pytest
from damaged_stores import SPOILS, Case, bit


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    return Case(tmp_path_factory.mktemp("stores"))


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
