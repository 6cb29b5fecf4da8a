"""Unknown names are refused with one wording: the thing, the name, its owner, and the names that are known."""

from __future__ import annotations

import pytest

from supple.diagnostics import InputError, describe_unknown, require_known, unknown_name


def test_a_known_name_is_accepted():
    require_known("point", "E", ["E", "F"])


def test_the_nearest_name_is_suggested():
    with pytest.raises(InputError) as refused:
        require_known("coordinate", "crnk", ["crank", "rocker"], part="start")
    assert (refused.value.message, refused.value.part) == ('unknown coordinate "crnk"', "start")
    assert refused.value.hint == 'did you mean "crank"?'


def test_all_names_are_listed_where_none_is_near():
    assert describe_unknown("point", "F", ["ground", "tip"]) == ('unknown point "F"', 'known: "ground", "tip"')


def test_each_name_is_listed_once():
    assert unknown_name("input", "nose", ["lift", "tip", "lift"]).hint == 'known: "lift", "tip"'


def test_the_owner_follows_the_name():
    message, _ = describe_unknown('coordinate of "four-bar"', "x", ["crank"])
    assert message == 'unknown coordinate "x" of "four-bar"'


@pytest.mark.parametrize(("empty", "hint"), [(None, "none is defined"), ("give a file", "give a file")])
def test_without_any_known_name_the_hint_says_what_to_do(empty, hint):
    assert unknown_name("scenario", "tap", {}, empty=empty).hint == hint


def test_a_path_gives_the_part():
    path = ("joints", "A", "axis")
    assert unknown_name("point", "F", ["E"], path=path).part == 'joint "A"'
    assert unknown_name("point", "F", ["E"], path=path, part="here").part == "here"


def test_control_characters_of_the_name_are_escaped():
    assert "\x1b" not in unknown_name("body", "\x1b[31m", ["arm"]).message
