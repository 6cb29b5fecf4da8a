"""The help of commands: short, in groups, and with the texts of the functions that the commands call."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import supple as api
from supple.cli.help_text import help_of, parameter_texts
from supple.cli.main import app

SOURCE = Path(api.__file__).parent
LINKS = sorted(
    {
        link
        for file in SOURCE.rglob("*.py")
        for link in re.findall(r'help_of\("(\w+)", "(\w+)"\)', file.read_text("utf-8"))
    }
)
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def help_text(*arguments: str) -> str:
    """What the command prints on a terminal of 80 columns."""
    import os

    shown = subprocess.run(
        [sys.executable, "-m", "supple", *arguments, "--help"], capture_output=True, text=True, check=True,
        env=os.environ | {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"},
    )  # fmt: skip
    return shown.stdout


def test_commands_stand_in_groups_on_two_screens():
    shown = help_text()
    groups = re.findall(r"^[╭+][─-] (\w+)", shown, re.MULTILINE)
    assert groups == ["Options", "Describe", "Analyse", "Reduce", "Control", "Test", "Export", "Look", "Manage"]
    assert len(shown.splitlines()) <= 70
    for name in COMMANDS:
        assert re.search(rf"^[│|] {name} ", shown, re.MULTILINE), name


@pytest.mark.parametrize("name", ["reduce", "view", "simulate"])
def test_flags_have_no_type(name):
    shown = help_text(name)
    assert "--json" in shown
    assert "<bool>" not in shown
    assert "<str>" not in shown


def test_the_panels_of_output_come_last():
    groups = re.findall(r"^[╭+][─-] ([A-Z][\w ]+?) [─-]", help_text("reduce"), re.MULTILINE)
    assert groups == ["Arguments", "Options", "Model", "Accuracy and computation", "Output"]


@pytest.mark.parametrize(("function", "parameter"), LINKS, ids="-".join)
def test_help_is_the_text_of_the_parameter(function, parameter):
    """Every text that an option takes from a docstring is there, and is one of the function's own parameters."""
    assert parameter in inspect.signature(getattr(api, function)).parameters
    text = help_of(function, parameter)
    assert text.endswith(".")
    assert " ".join(inspect.getdoc(getattr(api, function)).split()).count(text.partition(". ")[0]) >= 1


def test_many_options_take_their_text_from_docstrings():
    assert len(LINKS) >= 30


def test_stated_defaults_are_those_of_the_signature():
    """`Default: 8.` in a docstring is what the signature has, for numbers."""
    checked = 0
    for function, parameter in LINKS:
        stated = re.search(r"Default: ([\d.e-]+)\.(?: |$)", help_of(function, parameter))
        default = inspect.signature(getattr(api, function)).parameters[parameter].default
        if stated and isinstance(default, int | float):
            assert float(stated[1]) == default, (function, parameter)
            checked += 1
    assert checked >= 8


def test_a_parameter_without_a_description_is_refused():
    with pytest.raises(LookupError, match="'colour'"):
        help_of("export", "colour")
    assert {"to", "directory", "prefix"} <= set(parameter_texts("export"))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_defaults_have_one_form(name):
    """`Default: 400.` at the end of the text, as in docstrings; typer's own `[default: 400]` is not used."""
    for param in COMMANDS[name].params:
        if param.param_type_name == "option":
            assert not param.show_default, param.name
            assert (param.help or "").count("Default:") <= 1, param.help


def test_the_default_of_an_option_is_stated():
    texts = {param.name: param.help for param in COMMANDS["frf"].params}
    assert texts["lines"].endswith("Default: 400.")
    assert texts["preload"].endswith("Default: include it.")


def test_a_default_that_is_a_flag_is_named():
    application = typer.Typer()

    @application.command(cls=type(COMMANDS["frf"]))
    def run(count: int = 3, note: str = "", warm: bool = True, dry: bool = False) -> None:
        """Run."""

    texts = {param.name: param.help for param in typer.main.get_command(application).params}
    assert texts["count"] == "Default: 3."
    assert texts["warm"] == "Default: --warm."
    assert not texts["note"]
    assert texts["dry"] == "Default: --no-dry."
