"""The two-link arm, whole and linear."""

import sys
from pathlib import Path

import pytest

import supple

sys.path.insert(0, str(Path(__file__).parent))  # the flexible mechanism stands in a module of its own

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="session")
def arm():
    return supple.load(EXAMPLES / "two-link" / "mechanism.yaml")


@pytest.fixture(scope="session")
def linear(arm):
    return supple.linearize(arm)


@pytest.fixture(scope="session")
def four_bar():
    return supple.load(EXAMPLES / "four-bar" / "mechanism.yaml")
