"""Some of the damaged files that `make torture` reads."""

from odd_measurements import faults


def test_damaged_files_of_measurements_are_read_or_refused():
    assert faults(cases=18, seed=5) == []
