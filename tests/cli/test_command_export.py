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


def test_a_motion_of_a_file_or_a_model_is_written_in_place_of_the_model(supple, four_bar, saved, tmp_path):
    table = tmp_path / "turn.csv"
    table.write_text("time,crank\n" + "".join(f"{t / 10},{t / 100}\n" for t in range(11)))
    names = [f"four_bar_turn_motion{end}" for end in (".h", ".c", "_test.c")]
    for source in (four_bar, saved):
        found = supple("export", source, "--motion", table, "-o", tmp_path / "build", "--json").object
        assert [Path(file).name for file in found["files"]] == [*names, "Makefile", "CMakeLists.txt"]
    said = supple("export", saved, "--motion", table, "--sample-time", "2 ms", "--prefix", "arm", "-o", tmp_path)
    assert said.status == 0
    assert "#define ARM_MOTION_SAMPLE_TIME 0.002 /* s */" in (tmp_path / "arm_motion.h").read_text()
    for options, words in (
        (("--motion", "nope"), 'unknown motion "nope"'),
        (("--motion", table, "--start", "rest"), "a motion has no start"),
        (("--motion", table, "--to", "fmu"), "does not support motions"),
        (("--sample-time", "2 ms"), 'option "sample_time"'),
    ):
        said = supple("export", saved, *options, "-o", tmp_path / "other")
        assert (said.status, words in said.err) == (1, True), said.err
