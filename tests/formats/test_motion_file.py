"""Tables of motions: read as they are, refused with their line."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supple.diagnostics import InputError
from supple.formats.time_table import read_motion

ROWS = "".join(f"{0.1 * i},{i},{-i}\n" for i in range(8))


def test_it_reads_times_and_columns(tmp_path):
    file = tmp_path / "motion.csv"
    file.write_bytes(b"\xef\xbb\xbftime, a ,b\r\n" + ROWS.replace("\n", "\r\n").encode() + b"\r\n")
    found = read_motion(file)
    np.testing.assert_allclose(found.time, 0.1 * np.arange(8))
    assert found.values["a"].tolist() == list(range(8))
    assert list(found.values) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r':1: .*first column must be time \(got ""\)'),
        ("t,a,b\n" + ROWS, r':1: .*first column must be time \(got "t"\)'),
        ("time\n0\n", ":1: .*no column of a coordinate"),
        ("time,a,a\n" + ROWS, ':1: two columns .*"a"'),
        ("time,a,\n" + ROWS, ":1: column 3 has no name"),
        ("time,a,b\n" + ROWS.replace("0.2,2,-2", "0.2,,-2"), ':4: column "a": .*empty'),
        ("time,a,b\n" + ROWS.replace("0.2,2,-2", "0.2,2"), r":4: .*3 values .*\(got 2\)"),
        ("time,a,b\n" + ROWS.replace("-2", "two"), ':4: column "b": "two" is not a number'),
        ("time,a,b\n" + ROWS.replace("-2", "nan"), ':4: column "b": "nan" is not'),
        ("time,a,b\n" + ROWS.replace("-2", "1e999"), ':4: column "b": "1e999" is not'),
        ("time,a,b\n" + ROWS.replace("-2", "__import__('os')"), ':4: column "b": "__import__'),
        ("time,a,b\n" + ROWS + "0.7,1,1\n", ":10: time: .*0.7 s follows 0.7 s"),
        ("time,a,b\n" + "".join(ROWS.splitlines(keepends=True)[:5]), ": .* 5 rows of numbers.* at least 6"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_refused_with_its_line(tmp_path, text, message):
    file = tmp_path / "motion.csv"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_motion(file)
    assert re.match(re.escape(str(file)) + message, str(caught.value)), caught.value


def test_a_missing_file_and_bytes_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv: .*does not exist; check the name"):
        read_motion(tmp_path / "none.csv")
    (tmp_path / "bytes.csv").write_bytes(b"time,a\n0,\xff\n")
    with pytest.raises(InputError, match=r":2: this is not UTF-8"):
        read_motion(tmp_path / "bytes.csv")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(alphabet='time,ab0123456789.e+-\n\r" \x00', max_size=200))
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("any") / "motion.csv"
    file.write_text(text, newline="")
    with suppress(InputError):
        assert len(read_motion(file).time) >= 6
