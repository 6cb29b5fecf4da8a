"""Reading YAML: plain data, the line of every key, and a refusal of everything else."""

from __future__ import annotations

import json
import math
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supple.diagnostics import InputError
from supple.formats import yaml_tree
from supple.formats.yaml_tree import DEEPEST, LARGEST, YamlTree, read_text, read_tree

EXAMPLE = """\
supple: 1           # line 1
points:
  A: [0, 0]
  B: [crank,
      40deg]        # line 5
bodies:
  crank: {rod: [A, B], mass: .5}

  coupler:
    rod:
      - A           # line 11
      - B
"""


def test_the_example_is_read_as_plain_data():
    assert read_tree(EXAMPLE, "four.yaml").data == {
        "supple": 1,
        "points": {"A": [0, 0], "B": ["crank", "40deg"]},
        "bodies": {"crank": {"rod": ["A", "B"], "mass": 0.5}, "coupler": {"rod": ["A", "B"]}},
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("supple",), 1),
        (("points",), 2),
        (("points", "B"), 4),
        (("points", "B", 1), 5),
        (("bodies", "crank", "rod"), 7),
        (("bodies", "crank", "mass"), 7),
        (("bodies", "coupler"), 9),
        (("bodies", "coupler", "rod"), 10),
        (("bodies", "coupler", "rod", 1), 12),
        (("bodies", "coupler", "missing"), 9),  # the nearest there is
        (("bodies", "coupler", "rod", 7, "x"), 10),
        (("nothing", "at", "all"), 1),
    ],
)
def test_every_path_has_its_line(path, line):
    assert read_tree(EXAMPLE, "four.yaml").line(path) == line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("12", 12),
        ("-7", -7),
        ("+3", 3),
        ("010", 10),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("1e-3", 1e-3),
        ("2E6", 2e6),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("12:30", "12:30"),
        ("2001-01-01", "2001-01-01"),
        ("1.2.3", "1.2.3"),
        ("e3", "e3"),
        (".", "."),
        ("a + 2*b", "a + 2*b"),
        ("'12'", "12"),
        ('"true"', "true"),
        ('""', ""),
        ("|\n  12\n", "12\n"),
        ("9" * 200, int("9" * 200)),
    ],
)
def test_scalars_follow_the_core_schema(text, value):
    found = read_tree(f"a: {text}", "f").data["a"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_read_as_such():
    assert math.isnan(read_tree("a: .nan", "f").data["a"])


def test_keys_are_text_as_written():
    assert read_tree("1: a\n2.50: b\ntrue: c\n'x y': d", "f").data == {
        "1": "a",
        "2.50": "b",
        "true": "c",
        "x y": "d",
    }


names = st.text(alphabet="abcdefgh_0123456789 :#-'\"\u00e9\u03b8", min_size=1, max_size=8)
scalars = (
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | names
)
trees = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
        max_leaves=12,
    ),
    max_size=4,
)


@given(trees)
@settings(deadline=None)
def test_whatever_json_writes_is_read_back(data):
    assert read_tree(json.dumps(data, ensure_ascii=False), "f").data == data


@given(st.dictionaries(st.from_regex(r"[a-z]{1,6}", fullmatch=True), st.integers(0, 3), min_size=1, max_size=8))
@settings(deadline=None)
def test_lines_count_blank_lines_before_each_key(gaps):
    text, expected, line = "", {}, 0
    for name, gap in gaps.items():
        text += "\n" * gap + f"k{name}: 1\n"
        line += gap + 1
        expected[f"k{name}"] = line
    tree = read_tree(text, "f")
    assert {name: tree.line((name,)) for name in expected} == expected


@given(st.text(max_size=80) | st.text(alphabet="ab:-[]{},#&*!|>'\"%@`?~ \t\n\\xU0", max_size=80))
@settings(deadline=None, max_examples=300)
def test_any_text_gives_a_tree_or_an_input_error_with_its_line(text):
    try:
        tree = read_tree(text, "f")
    except InputError as error:
        found = error
    else:
        assert isinstance(tree, YamlTree)
        assert all(isinstance(key, str) for key in tree.data)
        return
    # pytest.raises cannot be used: most of these texts, not all, are wrong.
    assert 1 <= found.line <= len(re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)) + 1
    assert found.file == "f"
    assert found.hint


LAUGHS = "a0: &a0 [ha, ha]\n" + "".join(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]\n" for i in range(30))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (LAUGHS, 1, "parameters"),
        ("a: 1\nb: *a", 2, "aliases are not allowed"),
        ("&x a: 1", 1, "anchors"),
        ("x: 1\na: !!python/object:os.system x", 2, "!!python/object:os.system is not allowed"),
        ("a: !!python/object/apply:os.system ['true']", 1, "is not allowed"),
        ("!!python/name:os.system {}", 1, "is not allowed"),
        ("a: !!int 1", 1, "!!int is not allowed"),
        ("a: !own {b: 1}", 1, "!own is not allowed"),
        ("!!str a: 1", 1, "is not allowed"),
        ("a: 1\n---\nb: 2", 2, "second YAML document"),
        ("a: 1\nb: 2\na: 3", 3, r'"a" .*twice \(first in line 1\)'),
        ("x:\n  a: 1\n  'a': 3", 3, r"first in line 2"),
        ("1: a\n'1': b", 2, r'"1" .*twice \(first in line 1\)'),
        ("- 1\n- 2", 1, "mapping; write `key: value` lines"),
        ("words", 1, "mapping; write `key: value` lines"),
        ("", 1, "empty"),
        ("# nothing\n", None, "empty"),
        ("a:\n\tb: 1", 2, "spaces, not tabs"),
        ("a: b: c", 1, "mapping values are not allowed"),
        ("a: [1, 2\nb: 3", None, "started in line 1|expected"),
        ("a: 1\nb: 'open\nc: 2\n", None, "started in line 2"),
        ("a:\n   b: 1\n  c: 2", 3, "this is not valid YAML"),
        ("? [a]\n: b", 1, "cannot be a key"),
        ("{a: 1}: b", 1, "cannot be a key"),
        (": 3", 1, "key is empty"),
        ("a: 1\nb: \x00", 2, "control character"),
        ("a: 1\nb: \x1b[31m", 2, "control character"),
        ('a: "\\ud800"', 1, "Unicode"),
        ('"\\ud800": 1', 1, "Unicode"),
        ('a: 1\nb: "\\UFFFFFFFF"', 2, "this is not valid YAML"),
        ("a: 1e999", 1, "too large"),
        ("a: " + "9" * 5000, 1, "too large"),
        ("%YAML 1." + "9" * 5000 + "\n---\na: 1", 1, "this is not valid YAML"),
    ],
)
def test_the_rest_of_yaml_is_refused_with_its_line(text, line, message):
    with pytest.raises(InputError, match=message) as raised:
        read_tree(text, "f.yaml")
    assert raised.value.file == "f.yaml"
    if line is not None:
        assert raised.value.line == line


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "a: [", "[{a: "])
def test_endless_nesting_is_refused_at_once(opening):
    began = time.perf_counter()
    with pytest.raises(InputError, match=r"nested more than|cannot be a key|this is not valid YAML"):
        read_tree(opening * 100_000, "f")
    assert time.perf_counter() - began < 5.0  # it takes milliseconds; only never ending is the concern


def test_nesting_up_to_the_limit_is_read():
    lists = DEEPEST - 1  # the top mapping is one level
    assert read_tree("a: " + "[" * lists + "]" * lists, "f").data["a"] is not None
    with pytest.raises(InputError, match=f"nested more than {DEEPEST} levels deep"):
        read_tree("a: " + "[" * (lists + 1) + "]" * (lists + 1), "f")


def test_too_many_nodes_are_refused(monkeypatch):
    assert yaml_tree.MOST_NODES == 100_000
    monkeypatch.setattr(yaml_tree, "MOST_NODES", 50)  # the parser takes seconds for the real limit
    assert len(read_tree("a: [" + "1," * 47 + "]", "f").data["a"]) == 47  # and a mapping, a key, a list
    with pytest.raises(InputError, match="more than 50 values"):
        read_tree("a: [" + "1," * 48 + "]", "f")


def test_the_size_is_checked_before_anything_else():
    with pytest.raises(InputError, match="1024 KiB"):
        read_tree("!" * (LARGEST + 1), "f")
    with pytest.raises(InputError, match="1024 KiB"):
        read_tree("é" * (LARGEST // 2 + 1), "f")  # in bytes, not characters


# ---------------------------------------------------------------------------- files


def test_a_file_is_read_as_text(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_bytes("\ufeffname: é\n".encode())
    assert read_text(path) == read_text(str(path)) == "name: é\n"


def _missing(folder: Path) -> Path:
    return folder / "missing.yaml"


def _folder(folder: Path) -> Path:
    return folder


def _large(folder: Path) -> Path:
    path = folder / "large.yaml"
    path.write_bytes(b"#" * (LARGEST + 1))
    return path


def _latin(folder: Path) -> Path:
    path = folder / "latin.yaml"
    path.write_bytes(b"a: 1\nname: caf\xe9\n")
    return path


def _pipe(folder: Path) -> Path:
    path = folder / "pipe.yaml"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_missing, "does not exist; check the name"),
        (_folder, "not a file"),
        (_large, "1024 KiB"),
        (_latin, "latin.yaml:2: this is not UTF-8"),
        (_pipe, "not a file"),
    ],
)
def test_what_is_not_a_small_text_file_is_refused(tmp_path, make, message):
    path = make(tmp_path)
    with pytest.raises(InputError, match=message) as raised:
        read_text(path)
    assert raised.value.file == str(path)


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(InputError):
        read_text("a\0b")
    with pytest.raises(InputError):
        read_text("x" * 5000)
