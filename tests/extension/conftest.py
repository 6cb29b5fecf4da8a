"""What a user of an installed supple adds: one file, and one line that names the record in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Installed:
    """A package of one module with one entry point of the group `supple`, and the command line beside it."""

    def __init__(self, folder: Path, source: str, record: str):
        self.folder = folder
        (folder / "addition.py").write_text(source, encoding="utf-8")
        about = folder / "addition-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: addition\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[supple]\nmine = addition:{record}\n")

    def supple(self, *arguments: str, status: int = 0) -> Any:
        """What `supple ... --json` prints."""
        done = self.run("-m", "supple", *arguments, "--json")
        assert done.returncode == status, done.stderr
        return json.loads(done.stdout) if status == 0 else done.stderr

    def python(self, script: str) -> Any:
        """What a script prints as JSON."""
        done = self.run("-c", script)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        path = os.pathsep.join([str(self.folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = os.environ | {"PYTHONPATH": path, "SUPPLE_KERNELS": "patient"}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def installed(tmp_path: Path) -> Callable[[str, str], Installed]:
    return lambda source, record: Installed(tmp_path, source, record)
