"""`supple export`."""

from __future__ import annotations

from pathlib import Path

import pytest

import supple as api


@pytest.fixture
def saved(four_bar, tmp_path) -> Path:
    model = api.reduce(api.load(four_bar), region={"crank": (-1.0, 1.0)}, tolerance=1e-2)
    file = tmp_path / "four-bar.rom"
    model.save(file)
    return file


def test_it_writes_c(supple, saved, tmp_path):
    found = supple("export", saved, "--to", "c", "-o", tmp_path / "build", "--json").object
    names = ["four_bar.h", "four_bar.c", "example_main.c", "four_bar_test.c", "Makefile", "CMakeLists.txt"]
    assert [Path(file).name for file in found["files"]] == names
    assert all(Path(file).is_file() for file in found["files"])
    assert supple("export", saved, "-o", tmp_path / "build").out.splitlines() == [
        f"written to {file}" for file in found["files"]
    ]


def test_names_begin_as_asked(supple, saved, tmp_path):
    found = supple("export", saved, "-o", tmp_path, "--prefix", "arm 1", "--json").object
    assert Path(found["files"][0]).name == "arm_1.h"


def test_other_targets_are_refused_with_those_that_exist(supple, saved, tmp_path):
    said = supple("export", saved, "--to", "fortran", "-o", tmp_path / "build")
    assert said.status == 1
    assert '"fortran"' in said.err
    assert 'known: "c"' in said.err
    assert not (tmp_path / "build").exists()


def test_a_mechanism_is_not_a_reduced_model(supple, four_bar, tmp_path):
    assert supple("export", four_bar, "-o", tmp_path / "build").status == 1


def test_the_public_name_exports_whatever_was_imported_first(saved, tmp_path):
    import supple as package
    import supple.export.c.source_text  # binds the folder to supple.export

    model = package.load(saved)
    assert callable(supple.export)
    assert len(package.export(model, tmp_path / "build", to="c")) == 6
