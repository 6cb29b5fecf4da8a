"""The command line as tests call it, without a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from supple import loads, local
from supple.cli.main import run

FOUR_BAR = """\
supple: 1
name: four-bar
plane: xz
gravity: [0, -9.81]
parameters: {ground: 1.0, crank: 0.5, coupler: 0.5218, follower: 0.6936}
points:
  A: [0, 0]
  B: [crank, 0]
  E: [0.54, 0.52]
  D: [ground, 0]
bodies:
  crank: {rod: [A, B], length: crank, line_mass: 0.54}
  coupler: {rod: [B, E], length: coupler, line_mass: 0.54}
  follower: {rod: [D, E], length: follower, line_mass: 0.54}
joints:
  A: {revolute: [ground, crank]}
  B: {revolute: [crank, coupler]}
  E: {revolute: [coupler, follower]}
  D: {revolute: [ground, follower]}
actuators:
  crank: {joint: A, limits: [-1.75, 1.75]}
sensors:
  E: {position: E}
configurations:
  home: {crank: 0.3}
"""


class Said(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def object(self) -> dict[str, Any]:
        return json.loads(self.out, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@pytest.fixture(scope="session")
def kernels() -> None:
    """Compiled, so that no command below is the first and says so on standard error."""
    assert local(loads(FOUR_BAR), "home").singularity > 0


@pytest.fixture
def supple(capfd, kernels):
    """Call the command in this process: supple("check", file) -> status, out, err."""

    def call(*arguments: object) -> Said:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            run([str(item) for item in arguments])
        said = capfd.readouterr()
        return Said(int(ended.value.code or 0), said.out, said.err)

    return call


@pytest.fixture
def four_bar(tmp_path) -> Path:
    file = tmp_path / "four-bar.yaml"
    file.write_text(FOUR_BAR)
    return file


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
