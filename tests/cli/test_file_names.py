"""File names that no system takes: one message, status 1, whatever command they are given to."""

import pytest

import supple
from supple.cli.main import run

LONG, NUL = "a" * 5000, "a\0b"


@pytest.mark.parametrize("name", [LONG, NUL])
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "{}.yaml"], ["check", "{}"], ["check", "{}.urdf"], ["modal", "{}.uff"], ["modal", "{}.csv"],
        ["check-measurement", "{}.npz"], ["check-measurement", "{}.mat"], ["compare", "four-bar", "{}.rom"],
        ["evaluate", "{}.rom"],
        ["simulate", "four-bar", "--until", "0.01", "-o", "{}.csv"], ["assemble", "four-bar", "--at", "{}.csv"],
        ["identify", "four-bar", "{}.npz@home", "--parameters", "crank"],
    ],
)  # fmt: skip
def test_a_name_that_no_system_takes_is_refused(arguments, name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        run([item.format(name) for item in arguments])
    said = capsys.readouterr().err
    assert ended.value.code in (1, 2), said
    assert "defect" not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [LONG, NUL])
def test_the_same_in_python(name):
    for read in (supple.load, supple.load_model, supple.load_responses):
        with pytest.raises(supple.InputError):
            read(f"{name}.uff" if read is supple.load_responses else name)
