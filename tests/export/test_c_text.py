"""What the generated code may and may not hold, whatever the model is called."""

from __future__ import annotations

import re
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

import supple
from supple.export.c.generated_model import CModel
from supple.export.c.polynomial import first_rows
from supple.export.c.source_text import comment, identifier, identifiers, prefix_of, string
from supple.export.export import export

HOSTILE = {
    "coordinates": ['*/ int x; /* "', "tool.x\n#error no", "tool x"],
    "inputs": ["int", "??/\n*/"],
    "outputs": ["é\u202e*/", "tool.x", "tool_x"],
}


@pytest.fixture
def hostile(reference):
    rom = reference.invented(4, 2, 1, (1, 1), (2,), structured=True, names=HOSTILE)
    rom.name = '*/ \n#error "no" ??/ \\ é @prefix@'
    rom.error = {"M */": 1e-3}
    return rom


def run(*command):
    done = subprocess.run([str(item) for item in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


def test_hostile_names_compile_and_keep_their_places(hostile, built):
    code = built(hostile)
    eta = np.concatenate([hostile.fitted.arrays.leaves_f[0, 0], [0.0]])
    assert code.call("outputs", eta, width=3)[0] == 0


def test_hostile_names_reach_no_line_of_code(hostile, tmp_path):
    for file in export(hostile, tmp_path):
        text = file.read_text("ascii")
        assert "??" not in text
        text = re.sub(
            r'#if !defined\((\w+)_EXPORT\) .*\n#error "\w+\.c and \w+\.h are .*"\n#endif\n', "", text
        )  # its own
        code = re.sub(r'/\*.*?\*/|"(\\.|[^"\\])*"', "", text, flags=re.S)
        assert "#error" not in code
        assert "int x" not in code


def test_the_example_runs_with_hostile_names(hostile, cc, tmp_path):
    header, source, example, *_ = export(hostile, tmp_path)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wtrigraphs", "-Werror"]
    run(cc, *flags, example, source, "-lm", "-o", tmp_path / "example")
    said = run(tmp_path / "example")
    assert 'int x; /* ": at' in said
    assert "tool.x\n#error no: at" in said
    assert header.suffix == ".h"


def test_every_name_has_an_index_of_its_own(hostile, tmp_path):
    header = export(hostile, tmp_path)[0].read_text()
    for group, names in (("COORDINATE", 3), ("INPUT", 2), ("OUTPUT", 3)):
        found = re.findall(rf"_{group}_(\w+) = (\d+)", header)
        assert [int(i) for _, i in found] == list(range(names))
        assert len({name for name, _ in found}) == names


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_it_compiles_without_a_warning(rom, cc, tmp_path, level):
    _, source, example, *_ = export(rom, tmp_path)
    flags = ["-std=c99", level, "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wvla", "-Werror"]
    run(cc, *flags, source, example, "-lm", "-o", tmp_path / "example")
    assert "held by" in run(tmp_path / "example")


def test_a_cxx_program_can_call_it(rom, cc, cxx, tmp_path):
    header, source, *_ = export(rom, tmp_path)
    run(cc, "-std=c99", "-c", source, "-o", tmp_path / "model.o")
    prefix = header.stem
    (tmp_path / "main.cpp").write_text(
        f'#include "{header.name}"\n'
        f"int main() {{ {prefix}_model m; double x[{prefix.upper()}_THETA] = {{1e9}};"
        f" return {prefix}_coefficients(x, &m) - {prefix.upper()}_OUTSIDE; }}\n"
    )
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    run(cxx, *flags, tmp_path / "main.cpp", tmp_path / "model.o", "-lm", "-o", tmp_path / "main")
    run(tmp_path / "main")
    run(cxx, *flags, "-x", "c++", "-c", source, "-o", tmp_path / "model_cxx.o")


def test_nothing_global_can_be_written(rom, cc, tmp_path):
    if shutil.which("nm") is None:
        pytest.skip("nm was not found")
    _, source, *_ = export(rom, tmp_path)
    run(cc, "-std=c99", "-O2", "-c", source, "-o", tmp_path / "model.o")
    for line in run("nm", tmp_path / "model.o").splitlines():
        kind, name = line.split()[-2:]
        # Code, read-only data, and the mathematics it calls; "d" and "b" would be data that can be written.
        assert kind in "TtRr" or (
            kind == "U" and name in {"sqrt", "tanh", "fabs", "memset", "memcpy", "_GLOBAL_OFFSET_TABLE_"}
        ), line


def test_it_neither_allocates_nor_recurs(rom, tmp_path):
    text = export(rom, tmp_path)[1].read_text()
    assert not re.search(r"\b(malloc|calloc|realloc|free|alloca|goto|setjmp)\b", text)


def test_the_same_model_gives_the_same_bytes(rom, tmp_path):
    first, second = export(rom, tmp_path / "a"), export(rom, tmp_path / "b")
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]
    assert not [file for file in (tmp_path / "a").iterdir() if file not in first]


def test_numbers_read_back_bit_for_bit(models, tmp_path):
    rom = models["orthoglide"]
    text = export(rom, tmp_path)[1].read_text()
    block = text[text.index("static const double coefficients[") :]
    numbers = np.array([float(item) for item in block[block.index("{") + 1 : block.index("}")].split(",")])
    stored = CModel("orthoglide", rom).polynomials.coefficients
    assert (numbers[: stored.size] == stored.ravel()).all()
    assert not numbers[stored.size :].any()  # what the last window of columns may read


def test_the_header_states_order_and_error(models, tmp_path):
    header = export(models["orthoglide"], tmp_path)[0].read_text()
    for text in ("0  x  -0.26 ... 0.06", "2  tool.z", "M: 0.001", "cc -std=c99", "bytes of constants"):
        assert text in header


def test_identifiers():
    assert identifier("tool.x") == "tool_x"
    assert identifier("3é*") == "n3"
    assert identifier("*/") == "unnamed"
    assert identifiers(["tool.x", "tool_x", "tool x", "TOOL_X_2"]) == ["TOOL_X", "TOOL_X_2", "TOOL_X_3", "TOOL_X_2_2"]
    for taken in ("int", "math", "example_main", "Class"):
        assert prefix_of(taken) == f"{taken.lower()}_model"


def test_comments_and_strings():
    assert comment("a */ b") == "a <U+002A>/ b"
    assert comment("a\nb") == "a<U+000A>b"
    assert string('a"\\?é') == '"a\\042\\134\\077\\303\\251"'
    assert len(comment("x" * 1000)) == 80


def test_other_targets_are_refused_with_those_that_exist(models, tmp_path):
    with pytest.raises(supple.InputError, match='known: "c"'):
        export(models["four-bar"], tmp_path, to="fortran")


def test_a_model_with_numbers_that_are_not_finite_is_refused(reference, tmp_path):
    rom = reference.invented(6, 1, 0, (0,), (2,), structured=False)
    rom.fitted.arrays.coefficients[0, 0] = np.nan
    with pytest.raises(supple.InputError, match="not finite"):
        export(rom, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_cannot_be_made_is_refused(models, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(supple.InputError, match="cannot write"):
        export(models["four-bar"], tmp_path / "file" / "inside")


def test_rows_of_leaves_with_unequal_numbers_of_terms_have_a_table():
    # The second leaf starts where the first one ends in both cases; only equal numbers of terms make that a product.
    equal, unequal = (SimpleNamespace(arrays=SimpleNamespace(leaves_i=np.array([[0, 8], [8, k]]))) for k in (8, 12))
    assert first_rows(equal) is None
    assert first_rows(unequal).tolist() == [0, 8]
