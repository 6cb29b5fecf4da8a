"""Every way to write a wrong mechanism file is answered by one helpful line.

Each file in wrong_files/ begins with the pattern its message must match and the line it must name.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from supple.cli.main import run

FILES = sorted((Path(__file__).parent / "wrong_files").glob("*.yaml"))


def refused(capsys, file: Path) -> str:
    """The one line that `supple check` says of a wrong file, without the `error: ` in front."""
    with pytest.raises(SystemExit) as ended:
        run(["check", str(file)])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (1, "")
    return one_line(said.err)


def one_line(err: str) -> str:
    assert "Traceback" not in err
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert err.isprintable() or err[:-1].isprintable()  # a terminal obeys control characters
    assert err.startswith("error: ")
    return err.removeprefix("error: ").rstrip("\n")


def expectation(file: Path) -> tuple[str, int]:
    pattern, line = re.match(r"# expect: (.*)\n# line: (\d+)\n", file.read_text("utf-8")).groups()
    return pattern, int(line)


def test_there_are_many():
    assert len(FILES) >= 30


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_wrong_file_is_refused_with_its_line(capsys, file):
    pattern, line = expectation(file)
    said = refused(capsys, file)
    assert said.startswith(f"{file}:{line}: ")
    assert re.search(pattern, said.removeprefix(f"{file}:{line}: ")), said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["key_misspelt", "loop_open"])
def test_a_process_of_its_own_says_the_same(capsys, name):
    file = Path(__file__).parent / "wrong_files" / f"{name}.yaml"
    command = [sys.executable, "-m", "supple", "check", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (said.returncode, said.stdout) == (1, "")
    assert one_line(said.stderr) == refused(capsys, file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("supple: 1\n# " + 2**20 * "x", "too large (limit 1024 KiB); a mechanism file has only a few pages"),
        ("supple: 1\nbodies: " + 10_000 * "[", "2: nested more than 32 levels deep; check the brackets"),
        ("supple: 1\nbodies: " + 5_000 * "{a: ", "2: nested more than 32 levels deep"),
        ("supple: 1\nnotes: [" + 150_000 * "1, " + "]", "2: more than 100000 values"),
        (
            "supple: 1\nbodies:\n  b: {mass: " + 600 * "1+" + "1}",
            '3: body "b": "mass": the expression is too long (1201 char',
        ),
        ("supple: 1\nbodies:\n  b: {mass: " + 60 * "(" + "1}", "is nested too deeply"),
        ("supple: 1\nname: \x07", "2: this is not valid YAML: a control character is not allowed"),
    ],
    ids=["huge", "deep list", "deep mapping", "wide", "long expression", "deep expression", "bell"],
)
def test_a_file_made_to_exhaust_is_refused(capsys, tmp_path, text, message):
    file = tmp_path / "hostile.yaml"
    file.write_text(text)
    said = refused(capsys, file)
    assert said.startswith(f"{file}:")
    assert message in said
    assert len(said) < 600


def test_bytes_that_are_no_text_are_refused(capsys, tmp_path):
    file = tmp_path / "binary.yaml"
    file.write_bytes(b"supple: 1\nname: \xff\xfe")
    assert refused(capsys, file) == f"{file}:2: this is not UTF-8 text; save it as UTF-8"


def test_a_folder_is_refused(capsys, tmp_path):
    assert refused(capsys, tmp_path) == f"{tmp_path}: this is not a file; give the path of a file"
