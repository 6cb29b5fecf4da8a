"""The commands in a report make it again: every page is written, its commands are read from it and run."""

from __future__ import annotations

import re
import shlex
from html import unescape

import numpy as np
import pytest

import supple
from supple.cli.main import run

ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
parameters: {k_drive: 3e3}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {strip: {rectangle: [20 mm, 4 mm]}}
points: {O: [0, 0], T: [0.8, 0]}
bodies: {link: {beam: [O, T], section: strip, material: steel, elements: 2}}
joints: {O: {revolute: [ground, link], drive: {stiffness: k_drive}}}
actuators: {motor: {joint: O, limits: [-0.5, 0.5]}}
damping: {structural: 0.1}
sensors: {tip: {position: T}}
configurations: {home: {motor: 0.1}}
"""
LINES = np.linspace(2.0, 60.0, 60)


def typed(page):
    """Lines of the first block behind "how to make it again", and the text of the mechanism if it is there."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"<pre>(.*?)</pre>", text[text.index("Provenance and commands</h2>") :], re.DOTALL)
    return unescape(blocks[0]).splitlines(), unescape(blocks[1]) if len(blocks) > 1 else ""


def status(line):
    with pytest.raises(SystemExit) as ended:
        run(shlex.split(line)[1:])
    return ended.value.code or 0


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An arm, and responses of one with other numbers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM, encoding="utf-8")
    truth = supple.loads(ARM.replace("3e3", "2.5e3").replace("0.1}\nsensors", "0.06}\nsensors"))
    H = supple.frf(truth, "home", ["tip.z"], ["tip.x", "tip.z"], LINES, kind="accelerance", drives=False).values
    random = np.random.default_rng(0)
    H = H + 0.003 * np.abs(H).mean() * (random.normal(size=H.shape) + 1j * random.normal(size=H.shape))
    channels = [supple.Channel("tip", axis) for axis in "xz"]
    supple.Responses(LINES, channels, [supple.Channel("tip", "z", "force")], H).save(tmp_path / "my test.npz")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "supple report arm.yaml -o page.html",
        "supple identify arm.yaml 'my test.npz@home' --damping structural --band 4:50 --misfit 4:20,20:50 --trust "
        "--set k_drive=2.5e3 --report page.html --json",
        "supple identify arm.yaml --measured 'my test.npz@home' --parameters k_drive --starts 1 --prior 0.5 --trust "
        "--bounds k_drive=1e3:1e4 -o found.yaml --report page.html",
    ],
)
def test_the_commands_in_a_page_run_and_make_it_again(folder, command, capsys):
    assert status(command) == 0
    lines, _ = typed(folder / "page.html")
    again = [line for line in lines if not line.startswith("#")]
    assert again
    (folder / "page.html").unlink()
    for line in again:
        assert status(line) == 0, line
    assert typed(folder / "page.html")[0] == lines
    for option in re.findall(r"--(?!report|json)[a-z]+(?: [^-\s]\S*)?", command):
        assert option in again[-1]


@pytest.mark.slow
def test_the_commands_in_the_page_of_a_model_and_of_a_comparison(folder, capsys):
    """The mechanism stands in the page: saved as it says, the model is made again from nothing else."""
    options = "--region motor=-0.1:0.1 --internal-modes 1 --tolerance 1e-2 --no-store"
    assert status(f"supple reduce arm.yaml {options} -o arm.rom") == 0
    assert status("supple report arm.rom --points 20 -o page.html") == 0
    assert status("supple compare arm.yaml arm.rom --points 7 --report compared.html") == 0
    lines, mechanism = typed(folder / "page.html")
    (name,) = re.findall(r"mechanism below as (\S+)", lines[0])
    (folder / "arm.yaml").unlink()
    (folder / "arm.rom").rename(folder / "before.rom")
    (folder / name).write_text(mechanism, encoding="utf-8")
    compared, _ = typed(folder / "compared.html")
    assert compared == ["supple compare arm.yaml arm.rom --points 7 --report compared.html"]
    for line in [*lines[1:], *compared]:
        assert status(line) == 0, line
    assert supple.load_model(folder / "arm.rom").error == supple.load_model(folder / "before.rom").error


def test_damping_alone_tells_misfits_in_bands_and_refuses_predictions(folder, capsys):
    import json

    base = "supple identify arm.yaml 'my test.npz@home' --damping structural --trust --set k_drive=2.5e3 --json"
    assert status(f"{base} --misfit 4:20,20:50") == 0
    found = json.loads(capsys.readouterr().out)["misfit_by_band"]
    assert [item["band_hz"] for item in found] == [[4.0, 20.0], [20.0, 50.0]]
    assert found[0]["after"] < 0.01 < found[0]["before"]
    assert status(f"{base} --predict home") == 2
    assert "only damping is fitted" in capsys.readouterr().err


def test_a_picture_along_a_table_says_what_is_drawn(folder, capsys):
    assert (
        status("supple reduce arm.yaml --region motor=-0.1:0.1 --internal-modes 1 --boxes 1 --no-store -o a.rom") == 0
    )
    rows = "".join(f"{0.1 * i},{0.01 * i}\n" for i in range(8))
    (folder / "line.csv").write_text(f"time,motor\n{rows}", encoding="utf-8")
    assert status("supple compare arm.yaml a.rom --scenario line.csv --plot x.png") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "line.csv" in said
    assert "only comparisons in time" in said
    assert "give --scenario" not in said
