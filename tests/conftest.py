"""Tests run native kernels, as long runs do; those of the interpreted ones ask for them."""

import os
from pathlib import Path

import hypothesis
import pytest

os.environ.setdefault("SUPPLE_KERNELS", "compiled")
for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "MYPY_FORCE_COLOR", "COLUMNS", "PYTHONWARNINGS"):
    os.environ.pop(name, None)  # commands that tests start write plain text to pipes, whatever the terminal is
if not os.access(Path(__file__).parents[1], os.W_OK):  # the tree is somebody else's: failing cases are kept in memory
    hypothesis.settings.register_profile("read-only tree", database=None)
    hypothesis.settings.load_profile("read-only tree")


@pytest.fixture(scope="session")
def shared_data():
    """A function that finds data which is not in the repository; without it, the test is skipped."""

    def found(name: str) -> Path:
        folder = os.environ.get("SUPPLE_SHARED_DATA", "")
        place = Path(folder) / name
        if not folder or not place.exists():
            pytest.skip(f"set SUPPLE_SHARED_DATA to the folder that holds {name}")
        return place

    return found
