"""The walk of README.md, as printed; and what it says of all commands."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import typer

from supple.cli.main import app
from supple.view.page.single_file import bundle_file

README = Path(__file__).parents[2] / "README.md"


def walk() -> list[list[str]]:
    """The lines of the first block under "On the command line", without their remarks."""
    section = README.read_text("utf-8").split("\n## On the command line\n")[1].split("\n## ")[0]
    lines = section.split("```")[1].strip().splitlines()
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.slow
def test_every_line_runs_as_printed(supple, folder):
    for program, *arguments in walk():
        assert program == "supple"
        if arguments[0] == "view" and bundle_file() is None:
            continue  # without npm there is no page
        said = supple(*arguments)
        assert said.status == 0, (arguments, said.err)
        assert "warning" not in said.err, (arguments, said.err)
        assert said.out.strip(), arguments
    assert (folder / "crane.yaml").is_file()
    assert (folder / "ralf.rom").is_file()
    assert (folder / "rest.csv").is_file()
    assert list((folder / "build").glob("*.c"))
    assert (folder / "ralf.html").is_file() or bundle_file() is None


COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_the_walk_names_every_command_there_is():
    assert set(COMMANDS) - {"schema", "warmup", "doctor"} == {arguments[1] for arguments in walk()}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_all_commands_take(name):
    options = {option for item in COMMANDS[name].params for option in item.opts}
    arguments = {item.name for item in COMMANDS[name].params if item.param_type_name == "argument"}
    assert "--json" in options
    if "rom" not in arguments:  # of a model reduced with --vary parameters may be set
        assert ("--set" in options) == ("file" in arguments)
    if name != "frf":  # its output is a signal; elsewhere a file or folder is written with -o alone
        assert "--output" not in options
