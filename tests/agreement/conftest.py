"""The second formulation and the random mechanisms stand beside the laws."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))

from random_mechanisms import CASES, case


@pytest.fixture(params=CASES, scope="session")
def any_case(request):
    return case(request.param)
