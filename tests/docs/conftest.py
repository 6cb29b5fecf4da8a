"""The site, built once for all tests and workers."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "docs" / "site"))  # its modules: they are no part of the package


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """The folder of the built site; the build fails on any warning."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder, log = shared / "site", shared / "site.txt"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not log.exists():
            command = [sys.executable, str(ROOT / "docs/site/build.py"), "--quiet", "--output", str(folder)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            log.write_text(f"{run.returncode}\n{run.stdout}{run.stderr}", "utf-8")
    status, _, output = log.read_text("utf-8").partition("\n")
    assert status == "0", output
    return folder / "html"
