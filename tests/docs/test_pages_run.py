"""Blocks of the pages run as they stand: files, commands and Python, in order, in a folder of their own.

Tutorials run while the site is built (test_site), the walk of docs/theory/control.md in tests/control, README.md's in
tests/cli. Pages that begin with a model find one that is made here.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ALONE = sorted([*(DOCS / "howto").glob("*.md"), *(DOCS / "coming-from").glob("*.md")])

ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [0.5, 0]}
parameters: {payload: 2 kg}
bodies: {bar: {rod: [O, P], mass: payload}}
joints: {O: {revolute: [ground, bar], viscous: 0.5}}
actuators: {motor: {joint: O, limits: [-2, 2]}}
sensors: {tip: {position: P}}
"""


def arm_exported(folder: Path) -> dict[str, Any]:
    """`arm.py`, its payload to be set, and `arm_casadi.py` of an arm with one joint, and a state by the names that the
    pages use."""
    model = supple.reduce(supple.loads(ARM), vary={"payload": (1, 16)}, tolerance=1e-3)
    supple.export(model, folder, to="numpy")
    supple.export(model, folder, to="casadi", set={"payload": 2})
    one = np.array([0.1])
    names = ("u", "eta", "v", "a", "theta", "rates", "inputs", "accelerations")
    return {"x": np.array([0.1, 0.0])} | dict.fromkeys(names, one)


def orthoglide_reduced(folder: Path) -> dict[str, Any]:
    supple.reduce(
        supple.load(ROOT / "examples/orthoglide/mechanism.yaml"), tolerance=1e-2, output=folder / "orthoglide.rom"
    )
    return {}


def nothing(folder: Path) -> dict[str, Any]:
    return {}


PREPARED: dict[str, Callable[[Path], dict[str, Any]]] = {
    "export-plain.md": arm_exported,
    "export-casadi.md": arm_exported,
    "export-fmu.md": orthoglide_reduced,
    "mechanism-file.md": nothing,
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])  # pages import what they have exported
    return tmp_path


def run(page: Path, folder: Path, names: dict[str, Any]) -> None:
    from session import cells, run_page

    text = page.read_text("utf-8")
    assert cells(text), "a page that shows how, and nothing that runs"
    if "supple.register(" in text:  # what is registered stays: in a process of its own
        command = [sys.executable, str(DOCS / "site/session.py"), str(page)]
        ended = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        assert ended.returncode == 0, ended.stderr
        return
    known = set(sys.modules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # notes that are said beside the answers
        run_page(text, folder, page.name, {"__name__": "__page__", **names})
    for module in set(sys.modules) - known:
        if getattr(sys.modules[module], "__file__", None) and str(folder) in str(sys.modules[module].__file__):
            del sys.modules[module]  # another page may export one of the same name


def robots() -> None:
    try:
        files("example-robot-data")
    except PackageNotFoundError:
        pytest.skip("the package example-robot-data is not installed")


@pytest.mark.parametrize("page", ALONE, ids=lambda page: page.stem)
def test_every_block_runs(page, folder):
    if "example-robot-data" in page.read_text("utf-8"):
        robots()
    run(page, folder, {})


@pytest.mark.slow
@pytest.mark.parametrize("name", PREPARED)
def test_every_block_runs_on_what_the_page_begins_with(name, folder):
    run(DOCS / name, folder, PREPARED[name](folder))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_whole_files_in_pages_are_read(page):
    """Blocks of YAML that are whole mechanism files; fragments and side-cars are not."""
    for text in re.findall(r"^```yaml\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        if "supple: 1" in text and "bodies:" in text:
            assert supple.loads(text).bodies
