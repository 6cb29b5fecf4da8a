"""Files of a superelement with something changed are understood or refused, and never end the interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_changed_files_are_understood_or_refused(seed, tmp_path):
    """Two hundred mutants a seed, in a process of their own: a crash there is a status here, and names its mutant."""
    run = [sys.executable, "-X", "faulthandler", "-W", "error::RuntimeWarning"]
    done = subprocess.run(
        [*run, str(Path(__file__).with_name("mutants_of_a_body.py")), str(tmp_path), str(seed), "200"],
        capture_output=True, text=True, timeout=900, check=False,  # an empty cache of kernels takes minutes
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["understood"] > 5
    assert found["refused"] > 100
    assert all(text.isprintable() and "\n" not in text for text in found["said"])
    assert all('body "arm"' in text or "mechanism" in text for text in found["said"])
