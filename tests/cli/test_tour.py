"""The commands of docs/tour.md and README.md run as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from supple.cli.main import app
from supple.view.page.single_file import bundle_file

ROOT = Path(__file__).parents[2]


def commands(page: str) -> list[list[str]]:
    """Lines of the page's blocks that begin with `supple`, without their comments."""
    blocks = re.findall(r"^```\w*\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("supple ")]
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.slow
def test_every_line_runs_as_printed(supple, folder):
    for _, *arguments in commands("docs/tour.md"):
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


def test_the_tour_names_every_command():
    assert set(COMMANDS) - {"schema"} == {arguments[1] for arguments in commands("docs/tour.md")}


def test_the_readme_uses_commands_of_the_tour():
    tour = commands("docs/tour.md")
    assert commands("README.md")
    assert all(line in tour for line in commands("README.md"))


@pytest.mark.slow
def test_the_python_example_of_the_readme_runs(folder):
    section = (ROOT / "README.md").read_text("utf-8").split("\n## In Python\n")[1]
    block = re.search(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    assert block
    exec(compile(block[1], "README.md", "exec"), {})  # noqa: S102 - our own page
    assert list((folder / "build").glob("*.c"))


@pytest.mark.parametrize("name", COMMANDS)
def test_what_all_commands_take(name):
    options = {option for item in COMMANDS[name].params for option in item.opts}
    arguments = {item.name for item in COMMANDS[name].params if item.param_type_name == "argument"}
    assert "--json" in options
    if "rom" not in arguments:  # of a model reduced with --vary parameters may be set
        assert ("--set" in options) == ("file" in arguments)
    if name != "frf":  # its output is a signal; elsewhere a file or folder is written with -o alone
        assert "--output" not in options
