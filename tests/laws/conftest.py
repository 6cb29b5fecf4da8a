"""Every law runs on every random mechanism: see random_mechanisms.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests

from random_mechanisms import CASES, CLOSED, PLANAR, SPATIAL, case


@pytest.fixture(params=CASES, scope="session")
def any_case(request):
    return case(request.param)


@pytest.fixture(params=CLOSED, scope="session")
def closed_case(request):
    return case(request.param)


@pytest.fixture(params=SPATIAL, scope="session")
def spatial_case(request):
    return case(request.param)


@pytest.fixture(params=PLANAR, scope="session")
def planar_case(request):
    return case(request.param)
