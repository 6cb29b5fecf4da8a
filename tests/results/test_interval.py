"""Intervals in words: their ends can be told apart."""

import pytest

from supple.results.interval import interval_words


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((800.3, 797.2, 803.5), ("800.3", "797.2 .. 803.5")),
        ((2.1e11, 2.09981e11, 2.10019e11), ("2.1e+11", "2.09981e+11 .. 2.10019e+11")),
        ((2208.0, 2207.87, 2208.13), ("2208", "2207.87 .. 2208.13")),
        ((1.0, 1.0, 1.0), ("1", "1 .. 1")),
        ((0.0, -0.5, float("inf")), ("0", "-0.5 .. inf")),
    ],
)
def test_ends_differ_in_words(numbers, words):
    assert interval_words(*numbers) == words
