"""What a command imports: a module that is not needed costs time at every start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import supple
import supple.control.closed_loop
import supple.control.margins.margins
import supple.control.study.study
from supple import control

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = """
import atexit, sys
sys.argv = ["supple", "export", sys.argv[1], "--to", sys.argv[2], "-o", sys.argv[3]]
atexit.register(lambda: print(*(name for name in sys.modules if name.startswith("supple.")), file=sys.stderr))
from supple.cli.main import run
run()
"""


@pytest.fixture(scope="module")
def rom(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("rom") / "four-bar.rom"
    linkage = supple.load_mechanism(EXAMPLES / "four-bar" / "mechanism.yaml")
    supple.reduce(linkage, region={"crank": (0.4, 0.6)}, boxes=1, progress=False).save(file)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("to", ["c", "casadi", "json"])
def test_exporting_a_model_imports_no_controller(rom, to, tmp_path):
    run = subprocess.run([sys.executable, "-c", COMMAND, rom, to, tmp_path], capture_output=True, text=True, check=True)
    loaded = run.stderr.split()
    assert "supple.export.c.model_source" in loaded
    assert [name for name in loaded if name.startswith("supple.control.")] == []


def test_names_of_the_package_win_over_its_modules():
    """`closed_loop`, `margins` and `study` are functions and modules; the modules were imported above."""
    for name in control.__all__:
        assert callable(getattr(control, name)), name
    assert dir(control) == sorted(control.__all__)
    assert sorted(control._HOMES) == sorted(control.__all__)
    with pytest.raises(AttributeError, match="no attribute 'lqq'"):
        control.lqq  # noqa: B018
