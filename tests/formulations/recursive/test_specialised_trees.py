"""Code written for one tree: always the same, without names, in the cache, and compiled to what the loops give."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import random_state, random_tree

from supple.diagnostics import InputError
from supple.formulations.recursive import StateLinearizer, rigid_tree, state_space
from supple.formulations.recursive.linearizer import program_text, specialise_kernels


def small(names=("upper", "lower")):
    return rigid_tree(
        [-1, 0], ["revolute", "prismatic"], mass=[1, 2], center=[[0.1, 0, 0], [0, 0, 0.2]],
        inertia=[np.eye(3), np.eye(3)], axis=[[0, 1, 0], [1, 0, 0]], names=names,
    )  # fmt: skip


def test_the_program_is_the_same_for_the_same_tree_and_has_no_names_in_it():
    text = program_text(small())
    assert text == program_text(small(names=("x); import os; (", "__class__")))
    assert "upper" not in text
    body = text[text.index("for lane in range(lanes):") : text.index("def hand_over")]
    words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"\d[\d.]*e[-+]?\d+", "0", body)))
    assert {word for word in words if not re.fullmatch(r"t\d+", word)} == {
        "for", "lane", "in", "range", "lanes", "work", "W", "kernel",
    }  # fmt: skip


def test_it_is_made_once_and_read_from_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SUPPLE_CACHE_DIR", str(tmp_path))
    tree = random_tree(("revolute", "prismatic"), seed=11)
    batch, one = specialise_kernels(tree)
    assert batch.__module__ == one.__module__
    assert specialise_kernels(tree) == (batch, one)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_it_gives_what_the_loops_give():
    tree = random_tree(("free", "revolute", "universal", "planar"), seed=12, acting=True)
    state = random_state(tree, seed=1)
    expected = state_space(tree, *state)
    linearizer = StateLinearizer(tree, special=True)
    A, B = linearizer(*state)
    assert_allclose(A, expected.A, atol=1e-11 * np.abs(expected.A).max())
    assert_allclose(B, expected.B, atol=1e-11 * np.abs(expected.B).max())


def test_what_it_cannot_do_is_said():
    with pytest.raises(InputError, match=r"17 axes, .*limit of 16; use the general kernels"):
        program_text(random_tree(("revolute",) * 17, seed=0))
    with pytest.raises(InputError, match=r"4 springs, dampers or actuators between two points"):
        program_text(random_tree(("revolute",) * 3, seed=0, distances=True))
