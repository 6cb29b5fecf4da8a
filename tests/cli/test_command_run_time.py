"""`supple export --memory --operations`: run-time forms."""

from __future__ import annotations

from pathlib import Path

import pytest

import supple as api


@pytest.fixture
def saved(four_bar, tmp_path) -> Path:
    model = api.reduce(api.load(four_bar), region={"crank": (-1.0, 1.0)}, tolerance=1e-4, progress=False)
    return model.save(tmp_path / "four-bar.rom")


@pytest.mark.slow
def test_it_writes_the_cheapest_form_within_the_budgets(supple, saved, tmp_path):
    given = ("--memory", "900", "--operations", "60", "--tolerance", "1%", "--target", "cortex-m7")
    found = supple(
        "export", saved, *given, "-o", tmp_path / "build", "--trade-off", tmp_path / "f.csv", "--json"
    ).object
    assert found["tolerance"] == 0.01
    assert (found["memory"], found["operations"], found["target"]) == (900, 60, "cortex-m7")
    (chosen,) = [row for row in found["forms"] if row["chosen"]]
    assert chosen["memory"] <= 900
    assert chosen["inverse"] <= 60
    assert chosen["error"] <= 0.01
    assert max(found["error"].values()) == pytest.approx(chosen["error"])
    assert str(tmp_path / "f.csv") in found["files"]
    assert "float" in (tmp_path / "build" / "four_bar.c").read_text()  # single precision follows from the processor

    text = supple("export", saved, *given, "-o", tmp_path / "build").out
    for words in (chosen["name"], "chosen", "within 1 %", "cycles", "written to"):
        assert words in text


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        (["--smooth"], 2, "needs --memory or --operations"),
        (["--target", "cortex-m7"], 2, "needs --memory or --operations"),
        (["--memory", "8kB", "--to", "lpv"], 2, "does not use the polynomials"),
        (["--memory", "8kB", "--trade-off", "forms.txt"], 1, "neither a picture nor a table"),
        (["--memory", "much"], 1, '--memory: "much" is not a size'),
        (["--memory", "8kB", "--target", "z80"], 1, '--target: unknown target "z80"'),
        (["--memory", "8kB", "--tolerance", "0.001%"], 1, "leaves nothing of the tolerance"),
    ],
)
def test_it_refuses(supple, saved, tmp_path, given, status, words):
    found = supple("export", saved, *given, "-o", tmp_path / "build")
    assert found.status == status
    assert words in " ".join(found.err.replace("│", " ").split())
    assert not (tmp_path / "build").exists()
