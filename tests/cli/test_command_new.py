"""`supple new`."""

from __future__ import annotations

import pytest

import supple as api


@pytest.mark.parametrize("kind", ["--planar", "--spatial"])
def test_a_starter_passes_the_check_as_it_is(supple, folder, kind):
    assert supple("new", "arm", kind).status == 0
    found = supple("check", "arm.yaml", "--json").object
    assert found["name"] == "arm"
    assert (found["mobility"], len(found["loops"]), found["notes"]) == (1, 1, [])
    assert (found["plane"] is None) == (kind == "--spatial")


@pytest.mark.parametrize("kind", ["--planar", "--spatial"])
def test_what_the_starter_promises_works(supple, folder, kind):
    supple("new", "arm", kind)
    assert supple("assemble", "arm.yaml", "--at", "crank=40deg").status == 0
    assert supple("local", "arm.yaml", "--at", "home").status == 0
    assert supple("check", "arm.yaml", "--set", "crank=0.3").status == 0


def test_it_says_what_it_wrote(supple, folder):
    assert supple("new", "arm", "--json").object == {"file": "arm.yaml", "name": "arm"}
    assert supple("new", "arm", "-o", "other.yaml").out == "written to other.yaml; next: supple check other.yaml\n"


def test_it_does_not_overwrite(supple, folder):
    (folder / "arm.yaml").write_text("mine")
    said = supple("new", "arm")
    assert (said.status, (folder / "arm.yaml").read_text()) == (1, "mine")
    assert "arm.yaml: this file already exists" in said.err
    assert "another name, or add --force" in said.err
    assert supple("new", "arm", "--force").status == 0


@pytest.mark.parametrize("name", ["no/such/folder", "", "..", "a\nb"])
def test_a_name_that_makes_no_file_is_refused(supple, folder, name):
    said = supple("new", name)
    assert said.status == 1
    assert "is not a valid file name" in said.err
    assert "-o FILE" in said.err
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(supple, folder):
    said = supple("new", "arm", "-o", "none/arm.yaml")
    assert said.status == 1
    assert "cannot be written (No such file or directory)" in said.err


@pytest.mark.parametrize("name", ["true", "1e5", "a: b", "[x", 'say "hi"', "ü"])
def test_any_name_is_written_so_that_it_is_read_back(supple, folder, name):
    supple("new", name, "-o", "file.yaml")
    assert api.load(folder / "file.yaml").name == name
