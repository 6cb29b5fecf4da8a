"""`--set NAME=FROM:TO:COUNT`: a command for each value, and `supple.sweep` in Python."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple as library
from supple.diagnostics import InputError


def test_a_sweep_is_its_runs_one_by_one(supple, four_bar):
    swept = json.loads(supple("local", four_bar, "--set", "crank=0.45:0.5:3", "--at", "home", "--json").out)
    assert [item["set"] for item in swept] == [{"crank": 0.45}, {"crank": 0.475}, {"crank": 0.5}]
    for item in swept:
        alone = supple("local", four_bar, "--set", f"crank={item['set']['crank']!r}", "--at", "home", "--json").object
        assert {key: value for key, value in item.items() if key != "set"} == alone


def test_every_combination_with_units_and_labels(supple, four_bar):
    said = supple("check", four_bar, "--set", "crank=45cm:50cm:2", "--set=ground=1:1.1:2")
    assert said.status == 0, said.err
    heads = [line for line in said.out.splitlines() if line.startswith("== ")]
    assert heads == [f"== crank={crank},ground={ground}" for crank in ("0.45", "0.5") for ground in ("1", "1.1")]


def test_each_run_writes_a_file_of_its_own(supple, four_bar, folder):
    said = supple("simulate", four_bar, "--until", "2ms", "-o", "run.csv", "--set", "crank=0.45:0.5:2")
    assert said.status == 0, said.err
    assert sorted(file.name for file in folder.glob("*.csv")) == ["run-crank=0.45.csv", "run-crank=0.5.csv"]
    assert supple("reduce", four_bar, "--region", "crank=0:0.1", "--no-store", "--set", "crank=0.45:0.5:2").status == 0
    assert len(list(folder.glob("four-bar-crank=*.rom"))) == 2


def test_a_run_that_fails_is_told_and_the_others_go_on(supple, four_bar):
    said = supple("check", four_bar, "--set", "crank=-0.5:0.5:2", "--json")
    first, second = json.loads(said.out)
    assert said.status == 1
    assert "error" in first
    assert second["mobility"] == 1


@pytest.mark.parametrize("text", ["crank=0:1", "crank=0:1:0", "crank=0:1:x", "crank=::3"])
def test_what_is_not_a_range_is_refused(supple, four_bar, text):
    said = supple("check", four_bar, "--set", text)
    assert said.status == 1
    assert "FROM:TO:COUNT" in said.err


def test_sweeps_in_python(four_bar):
    found = library.sweep(
        four_bar, {"crank": "0.45:0.5:3", "ground": [1.0, "110 cm"]}, lambda one: library.local(one, "home")
    )
    assert len(found) == 6
    M = found.values(lambda model: model.M[0, 0])
    for (chosen, _), value in zip(found, M, strict=True):
        assert_allclose(library.local(library.load(four_bar, parameters=chosen), "home").M[0, 0], value, rtol=1e-12)
    assert len(np.unique(M)) == 6
    with pytest.raises(InputError, match="no values to sweep; give values"):
        library.sweep(four_bar, {}, library.check)
