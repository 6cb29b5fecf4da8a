"""Odd arguments of the API: a few of those that `make torture` throws at everything, here at one call of each function.

Whatever is refused is refused by one clear message; no error of Python, numpy or a compiler comes out.
"""

from __future__ import annotations

import importlib.util
import random
import warnings
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.diagnostics.arguments import real_numbers, require_arguments

_SLOW = ("report", "rom.to_sympy", "control.state_feedback", "control.study", "reduce", "update", "fit_damping")
_CALLS = 6  # of each function, drawn from all its arguments and odd values


def _torture():
    file = Path(__file__).parents[1] / "torture" / "odd_arguments.py"
    spec = importlib.util.spec_from_file_location("odd_arguments", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_odd_arguments_end_in_one_clear_message(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torture, drawn = _torture(), random.Random(19)
    meant = ("None", "True", "-1", "b'bytes'", "'nonsense'", "[[1, 2], [3]]", "{1: 2}", "nan", "an object", "1j")
    odd = [one for one in torture.ODD if one.said in meant]
    assert len(odd) == len(meant)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recipes = [one for one in torture.recipes(tmp_path) if one.name not in _SLOW]
    wrong = []
    for recipe in recipes:
        names = [name for name in recipe.arguments if name not in recipe.skipped]
        for _ in range(_CALLS):
            name, one = drawn.choice(names), drawn.choice(odd)
            if said := torture.refused(recipe, name, one):
                wrong.append(f"{recipe.name}({name}={one.said}): {said}")
    assert not wrong


def asked(
    count: int = 1,
    share: float = 0.5,
    names: str | list[str] = (),
    pair: tuple[float, float] | None = None,
    by_name: dict | None = None,
    seed: int = 0,
    values: np.typing.ArrayLike = (),
) -> None:
    """Something to ask of."""


@pytest.mark.parametrize(
    ("name", "value", "allowed", "shown"),
    [
        ("count", "few", "an integer", '"few"'),
        ("count", 2.5, "an integer", "2.5"),
        ("count", True, "an integer", "True"),
        ("share", float("nan"), "a number", "nan"),
        ("share", b"1", "a number", "b'1'"),
        ("names", [1], "a string or a list of strings", "[1]"),
        ("pair", (1, 2, 3), "2 numbers", "(1, 2, 3)"),
        ("seed", -1, "an integer from 0", "-1"),
    ],
)
def test_what_an_argument_may_be_is_said(name, value, allowed, shown):
    given = {"count": np.int64(3), "share": 1, "names": "a", "pair": None, "by_name": None, "seed": 2, "values": 1.0}
    annotated = {**asked.__annotations__}
    assert all(isinstance(text, str) for text in annotated.values())
    require_arguments(asked, given)
    with pytest.raises(supple.InputError) as refused:
        require_arguments(asked, given | {name: value})
    part, _, message = str(refused.value).partition(": ")
    assert part == name
    assert f"{allowed} (" in message
    assert f"got {shown})" in message


@pytest.mark.parametrize("value", ["1", b"1", None, {}, [[1, 2], [3]], [None], 1j, object(), {1.0}])
def test_numbers_are_numbers(value):
    with pytest.raises(supple.InputError, match=r"^x: must be numbers \(got .+\)"):
        real_numbers("x", value)
    assert real_numbers("x", [1, 2.5]).tolist() == [1.0, 2.5]
    with pytest.raises(supple.InputError, match=r"^x: must be finite .*NaN or infinity.*; remove"):
        real_numbers("x", [1.0, np.inf])
