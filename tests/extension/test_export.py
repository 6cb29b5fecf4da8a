"""An export from one file: the fitted numbers of a reduced model as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FOUR_BAR = str(Path(__file__).parents[2] / "examples" / "four-bar" / "mechanism.yaml")
TEXT = """
import json

import supple


def files(rom, prefix):
    layout, arrays = rom.layout, rom.fitted.arrays
    told = {
        "name": rom.name,
        "coordinates": layout.coordinates,
        "columns": layout.columns,
        "indices": arrays.indices.tolist(),
        "boxes": arrays.leaves_f.tolist(),
        "coefficients": arrays.coefficients.tolist(),
    }
    return {f"{prefix}.json": json.dumps(told), f"{prefix}.bin": arrays.coefficients.tobytes()}


TEXT = supple.ExportTarget("columns", "the fitted polynomials as JSON", files)
"""


@pytest.fixture
def text(installed):
    return installed(TEXT, "TEXT")


@pytest.mark.slow
def test_a_target_is_named_on_the_command_line(text):
    text.supple("reduce", FOUR_BAR, "--region", "crank=-0.5:0.5", "--boxes", "2", "--no-store", "-o", "x.rom")
    first, second = text.supple("export", "x.rom", "--to", "columns", "-o", "out", "--prefix", "bar")["files"]
    told = json.loads((text.folder / first).read_text(encoding="utf-8"))
    assert told["coordinates"] == ["crank"]
    assert len(told["boxes"]) == 2
    assert len(told["coefficients"]) == 2 * len(told["indices"])
    assert (text.folder / second).stat().st_size == 8 * sum(map(len, told["coefficients"]))
    said = text.run("-m", "supple", "export", "--help").stdout.replace("│", " ").replace("|", " ")
    assert "columns: the fitted polynomials as JSON" in " ".join(said.split())
    assert '"columns"' in text.supple("export", "x.rom", "--to", "colums", status=1)


def test_a_script_registers_a_target(text):
    script = """
import json, supple
from supple.export.export import TARGETS

mine = supple.ExportTarget("mine", "nothing", lambda rom, prefix: {})
supple.register(mine)
print(json.dumps(list(TARGETS)))
"""
    assert text.python(script)[-2:] == ["mine", "columns"]
