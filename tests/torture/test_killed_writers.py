"""A few of the kills of `make torture`: what a writer leaves is whole, or made whole by the next."""

from __future__ import annotations

import random

from killed_writers import NAMES, killed

from supple.export.export import write_together


def test_kills_leave_whole_files_and_whole_sets(tmp_path):
    write_together(tmp_path / "set", dict.fromkeys(NAMES, "first"))
    rng = random.Random(1)
    for case in range(8):
        assert killed(tmp_path, rng.uniform(0.0, 0.15), 100 * case) == []
