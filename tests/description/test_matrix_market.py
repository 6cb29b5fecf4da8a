"""Matrix Market: what the standard writes is read, and everything else is named with its line."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from supple.description.elastic.superelement_files import read_matrix_market

REAL = "%%MatrixMarket matrix coordinate real "


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("field", ["real", "integer"])
def test_it_reads_what_scipy_writes(tmp_path, symmetry, dense, field):
    dice = np.random.default_rng(3)
    A = dice.normal(size=(9, 9)) if field == "real" else dice.integers(-9, 9, (9, 9))
    A = A * (dice.random((9, 9)) < 0.5)
    A = A + A.T if symmetry == "symmetric" else A[:, :7]
    file = tmp_path / "A.mtx"
    scipy.io.mmwrite(file, A if dense else sp.coo_array(A), field=field, symmetry=symmetry, precision=17)
    assert (read_matrix_market(file).toarray() == A).all()  # seventeen digits are all of them


def test_remarks_blank_lines_and_either_half(tmp_path):
    file = tmp_path / "A.mtx"
    file.write_bytes(b"%%matrixmarket MATRIX Coordinate Real Symmetric\r\n% a remark\n\n  2 2 3 \n1 1 4.\n"
                     b"%another\n\n 1\t2 +.5e0\r\n2 2 -1E-1")  # fmt: skip
    assert (read_matrix_market(file).toarray() == [[4.0, 0.5], [0.5, -0.1]]).all()


WRONG = {
    "nothing": ("", "line 1 .*%%MatrixMarket"),
    "another file": ("PK\3\4 a b c d", "line 1 .*%%MatrixMarket"),
    "complex": ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", 'line 1: .*"complex"; .*real'),
    "pattern": ("%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", 'line 1: .*"pattern"; .*real'),
    "skew": (REAL + "skew-symmetric\n1 1 0\n", 'line 1: .*"skew-symmetric"; use general or symmetric'),
    "no size": (REAL + "general\n% that is all\n", "ends before .*size"),
    "size of words": (REAL + "general\n% \n2 2\n", 'line 3: "2 2" is not rows, columns and entries'),
    "fractions": (REAL + "general\n2.5 2 1\n1 1 1\n", 'line 2: "2.5 2 1" is not rows'),
    "negative": (REAL + "general\n-2 2 1\n1 1 1\n", 'line 2: "-2 2 1" is not rows'),
    "oblong": (REAL + "symmetric\n2 3 1\n1 1 1\n", r"line 2: .*square \(got 2 by 3\)"),
    "too large": (REAL + "general\n2 99999999999 1\n1 1 1\n", r"line 2: 1e\+11 rows .* limit of 6000000; .*rows=1e"),
    "too many": (REAL + "general\n2 2 5\n1 1 1\n", r"line 2: 5 entries .* 2 by 2 \(at most 4\)"),
    "promises": (REAL + "general\n900 900 400000\n1 1 1\n", r"shorter than its header .*\(900 by 900, 400000"),
    "cut": (REAL + "general\n2 2 3\n1 1 1.000000000000\n2 2 -4.178", "ends after 2 of 3 entries"),
    "cut in an exponent": (REAL + "general\n2 2 2\n1 1 1\n2 2 -4.1785714e", 'line 4: "2 2 -4.1785714e" is not row'),
    "more": (REAL + "general\n2 2 1\n1 1 1\n2 2 2\n", "line 4: more than the 1 entries .*line 2"),
    "a word": (REAL + "general\n2 2 1\n1 1 x\n", 'line 3: "1 1 x" is not row, column and value'),
    "an underscore": (REAL + "general\n2 2 1\n1 1 1_5\n", 'line 3: "1 1 1_5" is not row'),
    "infinite": (REAL + "general\n2 2 1\n1 1 1e999\n", 'line 3: "1 1 1e999" is not row'),
    "endless": (REAL + f"general\n2 2 1\n1 1 {'1' * 90}\n", "line 3: .* is not row"),
    "two numbers": (REAL + "general\n2 2 1\n1 1\n", 'line 3: "1 1" is not row'),
    "zero": (REAL + "general\n2 2 1\n0 1 5\n", r"line 3: .*\(0, 1\) .* 2 by 2"),
    "beyond": (REAL + "general\n2 2 1\n2 3 5\n", r"line 3: .*\(2, 3\) .* 2 by 2"),
    "half a place": (REAL + "general\n2 2 1\n1.5 2 5\n", r"line 3: .*\(1\.5, 2\) .* 2 by 2"),
    "twice": (REAL + "general\n2 2 2\n1 2 5\n1 2 6\n", "lines 3 and 4 give the same entry"),
    "both halves": (REAL + "symmetric\n2 2 2\n1 2 5\n2 1 5\n", "line 3: .*symmetric .*one half"),
    "array too short": ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n", "ends after 2 of 3 entries"),
    "array of pairs": ("%%MatrixMarket matrix array real general\n1 2\n1 2\n3\n", 'line 3: "1 2" is not a number'),
    "bytes": (REAL + "general\n1 1 1\n1 1 \xff\n", "line 3: .* is not row"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_files_are_named(name, tmp_path):
    text, message = WRONG[name]
    file = tmp_path / "A.mtx"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=message):
        read_matrix_market(file)
