"""Bundled examples are loaded by name."""

from __future__ import annotations

import pytest

import supple


def test_the_name_of_an_example_loads_its_mechanism():
    assert supple.load("four-bar").name == "four-bar"
    assert supple.load_mechanism("ralf").name == "ralf"


def test_a_file_takes_precedence_over_an_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "supple: 1\nname: mine\npoints: {}\nbodies: {}\n"
    (tmp_path / "four-bar").write_text(text)
    with pytest.raises(supple.InputError, match="four-bar"):
        supple.load("four-bar")


def test_an_unknown_name_is_refused():
    with pytest.raises(supple.InputError, match="no-such-example"):
        supple.load("no-such-example")
