"""`supple view`: files that it writes, and what it cannot show."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from supple.view.page import single_file


@pytest.fixture
def built():
    if single_file.bundle_file() is None:
        pytest.skip("the page is not built: `make viewer` builds it, with npm")


def test_the_page_as_one_file(supple, four_bar, folder, built):
    said = supple("view", four_bar, "--at", "home", "-o", "page.html", "--json")
    assert said.status == 0, said.err
    assert said.object["name"] == "four-bar"
    assert said.object["bytes"] == (folder / "page.html").stat().st_size < 3e6
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert single_file.PLACEHOLDER not in text
    for outside in ('src="', "src='", "@import", 'href="http'):
        assert outside not in text.partition("<script")[0]


def test_loads_at_rest_are_counted_or_left_out(supple, folder, built):
    for option, said in (("--preload", "counted"), ("--no-preload", "left out")):
        done = supple("view", "ralf", option, "-o", "page.html")
        assert done.status == 0, done.err
        held = re.search('id="supple-data"[^>]*>([^<]+)<', (folder / "page.html").read_text(encoding="utf-8")).group(1)
        assert json.loads(gzip.decompress(base64.b64decode(held)))["vibration"]["preload"] == said


@pytest.mark.parametrize("name", ["posture.png", "posture.svg", "posture.pdf"])
def test_a_picture_needs_no_page(supple, four_bar, folder, monkeypatch, tmp_path, name):
    monkeypatch.setattr(single_file, "_FILE", tmp_path / "nowhere.html")
    assert supple("view", four_bar, "--at", "crank=40deg", "-o", name).status == 0
    assert (folder / name).stat().st_size > 5000


def test_without_its_page_it_says_how_to_get_it(supple, four_bar, folder, monkeypatch, tmp_path):
    monkeypatch.setattr(single_file, "_FILE", tmp_path / "nowhere.html")
    said = supple("view", four_bar, "-o", "page.html")
    assert said.status == 1
    assert "make viewer" in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert not (folder / "page.html").exists()


def test_a_run_knows_its_mechanism(supple, four_bar, folder, built):
    assert supple("simulate", four_bar, "--until", "20ms", "-o", "run.npz").status == 0
    assert supple("simulate", four_bar, "--until", "20ms", "-o", "run.csv").status == 0
    four_bar.unlink()
    said = supple("view", "run.npz", "run.csv", "-o", "run.html")
    assert said.status == 0, said.err
    assert supple("view", "run.npz", "-o", "run.png").status == 0
    said = supple("view", "run.csv", "-o", "other.html")
    assert said.status == 1
    assert "supple view FILE" in said.err


@pytest.mark.parametrize(("arguments", "status", "told"), [
    (["-o", "page.txt"], 2, "unknown ending of page.txt; use .html"),
    (["--at", "crank=4", "-o", "page.html"], 1, "crank"),
    (["missing.npz", "-o", "page.html"], 1, "missing.npz: the file does not exist; check the name"),
    (["test.csv", "-o", "page.html"], 1, "test.csv"),
    (["--mode", "1", "-o", "x.png"], 1, "elastic"),
    (["-o", "x.gif"], 1, "elastic"),
    (["run.csv", "--speed", "0", "-o", "x.gif"], 1, "--speed"),
    (["bad.csv", "-o", "x.gif"], 1, "not finite"),
    (["-o", "nowhere/x.png"], 1, "the folder nowhere does not exist"),
    (["--port", "70000"], 2, "65535"),
])  # fmt: skip
def test_what_it_cannot_show_is_told(supple, four_bar, folder, arguments, status, told):
    (folder / "test.csv").write_text("nothing,of\n1,2\n")
    (folder / "run.csv").write_text("time,crank\n0,0\n1,0.1\n")
    (folder / "bad.csv").write_text("time,crank\n0,nan\n1,0.1\n")
    said = supple("view", four_bar, *arguments)
    assert said.status == status
    assert told in said.err
    assert "Traceback" not in said.err


def test_a_test_needs_the_mechanism_that_was_tested(supple, four_bar, folder, built):
    (folder / "modal.json").write_text(json.dumps({
        "responses": ["E.x"], "frequencies_hz": [20.0], "damping": [0.01], "shapes": {"real": [[1]], "imag": [[0]]},
    }))  # fmt: skip
    said = supple("view", "modal.json", "-o", "page.html")
    assert said.status == 1
    assert 'point "E"' in said.err
    assert "supple view FILE modal.json" in said.err
    assert supple("view", four_bar, "modal.json", "-o", "page.html").status == 0
