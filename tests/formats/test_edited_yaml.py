"""Values put into a text of YAML: what is there is replaced, what is not becomes a key in the style of its mapping."""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from supple.formats.edited_yaml import edit_yaml

TEXT = """\
a: {x: 1, y: [1, 2]}   # braces
b:
  # a comment of its own
  c: 3      # three
  d:
    e: 5    # five
empty: {}
law:
  structural: 0.02  # guessed
last: [1,
       2]
"""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("a", "x"), 7.0, "a: {x: 7.0, y: [1, 2]}   # braces"),
        (("a", "z"), 0.25, "a: {x: 1, y: [1, 2], z: 0.25}   # braces"),
        (("a", "y", "1"), 3.5, "a: {x: 1, y: [1, 3.5]}   # braces"),
        (("b", "f"), 1e5, "  f: 100000"),
        (("b", "d", "g"), {"h": 0.5}, "    g: {h: 0.5}"),
        (("empty", "k"), 2.5, "empty: {k: 2.5}"),
        (("law",), {"structural": 0.031}, "  structural: 0.031  # guessed"),
        (("law",), {"rayleigh": [1.0, 2e-5]}, "  {rayleigh: [1.0, 2e-05]}  # guessed"),
        (("new",), {"modal": 0.01}, "new: {modal: 0.01}"),
    ],
)
def test_one_value_changes_and_every_other_line_stays(path, value, line):
    text = edit_yaml(TEXT, {path: value})
    assert line in text.splitlines()
    assert len(set(TEXT.splitlines()) - set(text.splitlines())) <= 1
    data, part = YAML(typ="safe", pure=True).load(text), value
    found = data
    for key in path:
        found = found[int(key)] if isinstance(found, list) else found[key]
    assert found == part


def test_what_stands_in_no_mapping_is_refused():
    with pytest.raises(KeyError):
        edit_yaml(TEXT, {("no", "such"): 1.0})
    with pytest.raises(KeyError):
        edit_yaml(TEXT, {("b", "c", "deeper"): 1.0})
