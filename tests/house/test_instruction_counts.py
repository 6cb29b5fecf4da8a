"""Three fixed workloads take no more instructions than recorded; the record is `benchmarks/instruction_counts.json`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import instruction_counts as guard


def test_the_record_has_a_count_of_every_workload():
    for counted in guard.recorded().values():
        assert set(counted) == set(guard.WORKLOADS)
        assert min(counted.values()) > 0


@pytest.mark.slow
def test_workloads_take_no_more_instructions_than_recorded():
    if guard.missing():
        pytest.skip(f"{guard.missing()} was not found")
    if guard.versions() not in guard.recorded():
        pytest.skip(f"no counts are recorded for {guard.versions()}")
    found, before = guard.counts(), guard.recorded()[guard.versions()]
    # Repeated counts differ by 0.5 % at most (addresses decide the order of some hashes).
    grown = {name: found[name] / before[name] - 1.0 for name in before}
    limit = guard.LARGEST_GROWTH
    assert max(grown.values()) <= limit, f"{grown}; if intended: python benchmarks/instruction_counts.py --update"
