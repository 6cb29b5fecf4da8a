"""The flexible mechanisms that the laws of the parameterization are tried on: see flexible_cases.py."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside the tests

from flexible_cases import CASES


@pytest.fixture(params=CASES.values(), ids=CASES.keys(), scope="session")
def flexible_case(request):
    return request.param
