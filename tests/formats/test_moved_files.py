"""What a mechanism file names beside itself is found from another folder too."""

import shutil
from pathlib import Path

import supple
from supple.formats.edited_yaml import edit_yaml
from supple.identification.updating.updated_file import moved_references

SURGISCOPE = Path(__file__).parents[2] / "examples" / "surgiscope"


def test_a_file_in_another_folder_is_the_same_machine(tmp_path):
    home = tmp_path / "here it is"
    shutil.copytree(SURGISCOPE, home)
    text = (home / "mechanism.yaml").read_text(encoding="utf-8")
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    found = moved_references(text, home, place)
    assert {value.strip('"') for value in found.values()} == {
        f"../../here it is/{name}.csv" for name in ("geometry", "beams", "stiffness")
    }
    (place / "moved.yaml").write_text(edit_yaml(text, found), encoding="utf-8")
    assert supple.load(place / "moved.yaml").bodies == supple.load(home / "mechanism.yaml").bodies


def test_in_its_own_folder_nothing_changes(tmp_path):
    text = (SURGISCOPE / "mechanism.yaml").read_text(encoding="utf-8")
    assert moved_references(text, SURGISCOPE, SURGISCOPE) == {}
    assert moved_references("name: arm\nbodies: {arm.csv: {}}\n", SURGISCOPE, tmp_path) == {}
