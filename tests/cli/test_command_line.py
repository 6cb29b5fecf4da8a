"""What holds for every command: exit statuses, the streams, and how soon it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest

import supple as api
from supple.cli.answer import json_value
from supple.diagnostics import NumericalError
from supple.formats.json_schema import mechanism_schema


def command(*arguments: str, code: str | None = None) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    start = ["-c", code] if code else ["-m", "supple"]
    return subprocess.run(
        [sys.executable, *start, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_python_m_supple_is_the_command():
    said = command("--version")
    assert (said.returncode, said.stdout.split()[0], said.stderr) == (0, "supple", "")


@pytest.mark.slow
def test_the_exit_status_of_a_process(four_bar, tmp_path):
    assert command("check", str(four_bar)).returncode == 0
    said = command("check", str(tmp_path / "none.yaml"))
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr == f"error: {tmp_path}/none.yaml: the file does not exist; check the name and the folder\n"
    assert command("chekc", str(four_bar)).returncode == 2
    assert command("check").returncode == 2


_LOADED = """
import sys
from importlib.resources import files
from supple.cli.main import run
try:
    run(sys.argv[1:])
except SystemExit as ended:
    status = ended.code
heavy = {"numba", "llvmlite", "matplotlib", "numpy", "scipy", "pydantic", "ruamel.yaml"}
print(status, *sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_help_loads_nothing_heavy():
    said = command("--help", code=_LOADED)
    assert said.stderr.split() == ["0"]
    assert "check" in said.stdout


def test_check_loads_no_compiler_and_no_plots(four_bar):
    status, *loaded = command("check", str(four_bar), code=_LOADED).stderr.split()
    assert status == "0"
    assert not {"numba", "llvmlite", "matplotlib"} & set(loaded)


def test_importing_supple_loads_no_compiler_and_no_plots():
    code = "import sys, supple; [getattr(supple, name) for name in supple.__all__]; print(*sys.modules)"
    loaded = command(code=code).stdout.split()
    assert "supple.parameterization.local_model" in loaded
    assert not {"numba", "llvmlite", "matplotlib"} & set(loaded)


def test_types_are_shipped():
    """PEP 561: without the marker a type checker takes every name of the package as Any."""
    assert files("supple").joinpath("py.typed").is_file()


def test_the_public_names_are_listed_once():
    assert list(api.__all__) == sorted(api._HOMES)
    assert dir(api) == sorted([*api.__all__, "__version__", "control"])  # whatever was imported before
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        _ = api.laod


_OURS = "this is a defect of supple, not of your input: "
_SUFFICE = "reduce the size of the problem, or use a machine with more memory"


@pytest.mark.parametrize(
    ("error", "kind", "status", "pieces"),
    [
        (api.InputError("it is wrong", part="joint", hint="mend it"), "input", 1, ("joint", "it is wrong", "mend it")),
        (NumericalError("it failed"), "numerical", 3, (None, "it failed", None)),
        (KeyboardInterrupt(), "interrupted", 130, (None, "interrupted", None)),
        (MemoryError("1 TB"), "input", 1, (None, "out of memory: 1 TB", _SUFFICE)),
        (ValueError("odd\nthing"), "defect", 4, (None, _OURS + "ValueError: odd\\nthing", "please send the report")),
        (RecursionError("deep"), "defect", 4, (None, _OURS + "RecursionError: deep", "please send the report")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_failure_is_one_line_a_status_and_an_object(
    supple, four_bar, folder, monkeypatch, error, kind, status, pieces
):
    def fail(mechanism):
        raise error

    monkeypatch.setattr("supple.checking.check.check", fail)
    part, message, hint = pieces
    said = supple("check", four_bar)
    assert (said.status, said.out) == (status, "")
    line = said.err.removeprefix("error: ").removesuffix("\n")
    assert line.startswith(": ".join(item for item in (part, message) if item))
    assert "\n" not in line
    again = supple("check", four_bar, "--json")
    assert again.status == status
    found = again.object.pop("error")
    assert again.err == f"error: {found['text']}\n"
    assert (found["kind"], found["status"]) == (kind, status)
    assert (found["part"], found["message"], (found["hint"] or "")[: len(hint or "")]) == (part, message, hint or "")
    assert set(found) == {"kind", "text", "message", "status", "part", "hint", "file", "line", "report"}
    assert (found["report"] is not None) == (status == 4)


def test_the_report_of_a_defect_says_what_is_needed_to_find_it(supple, four_bar, folder, monkeypatch):
    monkeypatch.setattr("supple.checking.check.check", lambda mechanism: 1 / 0)
    found = supple("check", four_bar, "--json").object["error"]
    (file,) = folder.glob("supple-defect-*.txt")
    assert found["report"] == str(file)
    text = file.read_text()
    for words in (f"supple check {four_bar} --json", "Traceback", "ZeroDivisionError", "numpy 2", "platform "):
        assert words in text
    assert "line_mass" not in text  # nothing of the user's files


def test_a_report_that_cannot_be_written_goes_to_standard_error(supple, four_bar, monkeypatch, tmp_path):
    monkeypatch.setattr("supple.checking.check.check", lambda mechanism: 1 / 0)
    monkeypatch.setattr("pathlib.Path.write_text", lambda *_, **__: (_ for _ in ()).throw(PermissionError("no")))
    said = supple("check", four_bar, "--json")
    assert (said.status, said.object["error"]["report"]) == (4, None)
    assert "Traceback" in said.err
    assert said.err.splitlines()[-1].startswith(f"error: {_OURS}ZeroDivisionError")


@pytest.mark.parametrize(
    ("arguments", "part", "words"),
    [
        (("chekc", "four-bar"), None, "No such command"),
        (("check",), "FILE", "Missing argument"),
        (("check", "four-bar", "--sett", "a=1"), "--sett", "No such option"),
        (("modes", "four-bar", "--count", "few"), "--count", "integer"),
        (("check", "four-bar", "--set", "crank"), "--set", "not NAME=VALUE"),
        (("simulate", "four-bar"), "--until", "duration"),
    ],
)
def test_a_wrong_command_line_is_an_object_too(supple, arguments, part, words):
    plain_one, said = supple(*arguments), supple(*arguments, "--json")
    assert (plain_one.status, said.status) == (2, 2)
    found = said.object["error"]
    assert (found["kind"], found["status"], found["part"]) == ("usage", 2, part)
    assert words in found["message"]
    assert said.err  # for people, as without


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_traceback_can_be_had(supple, four_bar, folder, monkeypatch, how):
    monkeypatch.setenv("SUPPLE_DEBUG", "1" if how == "variable" else "0")
    monkeypatch.setattr("supple.checking.check.check", lambda mechanism: 1 / 0)
    said = supple(*(["--debug"] if how == "option" else []), "check", four_bar)
    assert said.status == 4
    assert "Traceback" in said.err
    assert f"{_OURS}ZeroDivisionError" in said.err


def test_an_error_found_late_has_its_line(supple, four_bar, monkeypatch):
    def fail(mechanism):
        raise api.InputError("too hot", path=("joints", "E"))

    monkeypatch.setattr("supple.checking.check.check", fail)
    line = four_bar.read_text().splitlines().index("  E: {revolute: [coupler, follower]}") + 1
    assert supple("check", four_bar).err == f"error: {four_bar}:{line}: too hot\n"


def test_numbers_that_json_lacks_become_null():
    data = {"a": np.array([1.0, np.nan]), "b": (np.inf, "x", None), "c": np.float64(2.0), "d": np.bool_(True)}
    assert json.dumps(json_value(data)) == '{"a": [1.0, null], "b": [null, "x", null], "c": 2.0, "d": true}'


def test_the_schema_is_printed(supple):
    assert supple("schema").object == mechanism_schema()
    assert supple("schema", "--json").object == mechanism_schema()


def test_a_pipe_that_closes_early_ends_the_command_in_silence():
    """As in `supple schema | head -1`."""
    with subprocess.Popen([sys.executable, "-m", "supple", "schema"], stdout=-1, stderr=-1, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141
