"""`supple linearize FILE --basis X.rom`: the states of the reduced model."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "control"))  # the flexible mechanism stands there


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    from flexible_arm import five_bar, model

    from supple.formats.mechanism_text import to_yaml

    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.yaml").write_text(to_yaml(five_bar()))
    model().save(folder / "arm.rom")
    return folder / "arm.yaml", folder / "arm.rom"


def test_states_and_outputs_are_those_of_the_model(supple, files):
    text, rom = files
    ours = supple("linearize", text, "--at", "home", "--basis", rom, "--json").object
    theirs = supple("linearize", rom, "--at", "home", "--json").object
    assert ours["states"] == theirs["states"]
    assert ours["basis"] == theirs["basis"]
    C = np.array(theirs["C"])
    assert np.abs(np.array(ours["C"]) - C).max() < 1e-3 * np.abs(C).max()  # the model's tolerance
    other = supple("linearize", text, "--at", "home", "--internal-modes", "2", "--json").object
    assert other["basis"]["digest"] != ours["basis"]["digest"]
    assert supple("evaluate", rom, "--at", "home", "--json").object["basis"] == ours["basis"]


def test_a_basis_of_another_mechanism_is_refused(supple, files, tmp_path):
    text, rom = files
    heavier = tmp_path / "heavier.yaml"
    heavier.write_text(text.read_text().replace("density: 2700", "density: 2800"))
    said = supple("linearize", heavier, "--basis", rom)
    assert said.status == 1
    assert "another mechanism: 2 internal modes by subspace" in said.err
    assert supple("linearize", text, "--basis", rom, "--internal-modes", "1").status == 1
    assert supple("linearize", rom, "--basis", rom).status == 1
