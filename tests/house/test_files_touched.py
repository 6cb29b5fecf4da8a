"""Files that a question runs through: what the tracer counts, and a limit for a repeated question."""

import sys
from pathlib import Path

import supple

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests

from files_touched import EXAMPLE, first_and_repeated, touched

LARGEST_REPEATED = 23  # files of a repeated supple.modes; lower it with every change that lowers the count


def test_only_files_whose_functions_are_called_count():
    machine = supple.load_mechanism(EXAMPLE)
    assert touched(lambda: None) == set()
    assert touched(lambda: machine.coordinates) <= {"description/mechanism.py"}


def test_repeated_modes_reach_no_further_than_before():
    first, repeated = first_and_repeated("modes")
    home = supple.modes.__module__.removeprefix("supple.").replace(".", "/") + ".py"
    assert home in repeated
    assert repeated <= first
    assert len(repeated) <= LARGEST_REPEATED, sorted(repeated)
