"""What the data determine, in words that do not contradict each other."""

import numpy as np
import pytest

from supple.identification.updating.identifiability import identifiability


def test_two_of_two_are_each_found_by_itself():
    """Equal strengths leave the directions free: any turn of them means the same."""
    for angle in (0.0, np.pi / 4, 1.0):
        turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        words = identifiability(("a", "b"), 100.0 * turned, np.ones(2)).words()
        assert words[0] == "the data determine two of 2 parameters or combinations"
        assert [text.split(" (")[0] for text in words[1:]] == ["a individually", "b individually"]


@pytest.mark.parametrize("seed", range(40))
def test_as_many_combinations_as_are_determined_and_none_of_what_is_found_alone(seed):
    random = np.random.default_rng(seed)
    k = int(random.integers(1, 9))
    names = tuple(f"p{i}" for i in range(k))
    slopes = random.normal(size=(12, k)) * 10.0 ** random.uniform(-2.0, 3.0, size=k)
    slopes[:, : k // 2] = slopes[:, :1] * random.normal(size=k // 2)  # some show the same
    known = identifiability(names, slopes, np.ones(k))
    assert len(known.combinations) == known.determined_count
    together = [set(item) for item in known.combinations if len(item) > 1]
    for name in known.found:
        assert {name: 1.0} in known.combinations
        assert not any(name in item for item in together)
    if known.determined_count == k:
        assert set(known.found) == set(names)
        assert not together
