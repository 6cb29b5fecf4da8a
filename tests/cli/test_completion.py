"""Shell completion as bash asks for it, in a home of its own; and how long work tells how far it is."""

import os
import subprocess
import sys

import pytest
import shellingham

from supple.cli.answer import Answer
from supple.cli.main import run
from supple.cli.progress_line import ProgressText, timing

BASH = {"_SUPPLE_COMPLETE": "complete_bash"}


def called(code, **environment):
    asked = {"env": os.environ | environment, "capture_output": True, "text": True, "check": True}
    return subprocess.run([sys.executable, "-c", f"from supple.cli.main import run; {code}"], **asked).stdout


def completed(*words):
    """What bash is offered for the last of the words."""
    return called("run()", COMP_WORDS="\n".join(["supple", *words]), COMP_CWORD=str(len(words)), **BASH).split()


def test_bash_is_offered_commands_options_and_examples():
    assert completed("rep") == ["report"]
    assert completed("report", "--po") == ["--points"]
    assert completed("check", "flexible-f") == ["flexible-five-bar", "flexible-four-bar"]


def test_completion_is_installed_for_the_named_shell_whatever_started_the_command(tmp_path):
    assert "bash completion installed" in called("run(['--install-completion', 'bash'])", HOME=str(tmp_path))
    script = tmp_path / ".bash_completions" / "supple.sh"
    assert "_SUPPLE_COMPLETE=complete_bash" in script.read_text()
    assert str(script) in (tmp_path / ".bashrc").read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_named_shell_is_shown(shell, capsys):
    with pytest.raises(SystemExit) as ended:
        run(["--show-completion", shell])
    assert not ended.value.code
    assert f"_SUPPLE_COMPLETE=complete_{shell}" in capsys.readouterr().out


def test_without_a_shell_among_the_parents_a_name_is_asked_for(monkeypatch, capsys):
    def nothing(*arguments):
        raise shellingham.ShellDetectionFailure

    monkeypatch.setattr(shellingham, "detect_shell", nothing)
    with pytest.raises(SystemExit) as ended:
        run(["--install-completion"])
    assert ended.value.code == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("error: the shell could not be detected; name it: supple --install-completion bash|zsh")


def test_what_is_left_is_told_where_it_can_be_known():
    assert timing("start 2 of 8: misfit 0.1", 10.0) == ", 10 s, about 30 s remaining"
    assert timing("start 8 of 8", 10.0) == ", 10 s"
    assert timing("damping, round 2", 3.2) == ", 3 s"


def test_a_line_is_shown_to_people_alone(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with ProgressText(Answer(as_json=True)) as told:
        told("start 1 of 2")
    assert capsys.readouterr().err == ""
    with ProgressText(Answer(as_json=False)) as told:
        told("start 1 of 2")
    assert "start 1 of 2, 0 s" in capsys.readouterr().err
