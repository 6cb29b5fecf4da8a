"""docs/design.md and CONTRIBUTING.md describe the source as it is: names, layers, kinds, and the files of one call."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from supple.kinds.registry import KINDS

ROOT = Path(__file__).parents[2]
SOURCE, TESTS, VIEWER = ROOT / "src" / "supple", ROOT / "tests", ROOT / "viewer" / "src"
DESIGN, CONTRIBUTING = ROOT / "docs" / "design.md", ROOT / "CONTRIBUTING.md"
ELSEWHERE = {
    "measured-free-free-beam/", "robots/",  # in the folder that SUPPLE_SHARED_DATA names
    "src/supple/view/page/bundle/page.html",  # built
}  # fmt: skip
FILE = re.compile(r"[\w./-]+\.(?:py|pyi|ts|md|toml|json|c|html)")
FOLDER = re.compile(r"[\w.-]+(?:/[\w.-]+)*/")
# Runs a command and prints the files of supple that it calls, in the order of their first calls, without imports.
TRACED = """
import contextlib, io, json, os, sys
import supple
from supple.cli.main import run

source, files, importing = os.path.dirname(supple.__file__) + os.sep, [], 0

def observe(frame, event, _):
    global importing
    code = frame.f_code
    if code.co_name == "<module>" and event in ("call", "return"):
        importing += 1 if event == "call" else -1
    elif event == "call" and not importing and code.co_filename.startswith(source):
        files.append(code.co_filename[len(source):].replace(os.sep, "/"))

with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    sys.setprofile(observe)
    run(sys.argv[1:])
sys.setprofile(None)
print(json.dumps(list(dict.fromkeys(files))))
"""


def section(page: Path, title: str) -> str:
    """The text below a heading, up to the next one."""
    return re.split(r"^## ", page.read_text("utf-8").partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]


def spans(text: str) -> list[str]:
    return re.findall(r"`([^`\n]+)`", text)


def named_paths(page: Path) -> list[tuple[str, str]]:
    """Files and folders that a page names, each with the folder whose row of the table it stands in, or ""."""
    found = []
    for line in page.read_text("utf-8").splitlines():
        row = re.match(r"\| `(\w+)` \|", line)
        folder = row[1] if row and (SOURCE / row[1]).is_dir() else ""
        found += [(name, folder) for name in spans(line) if FILE.fullmatch(name) or FOLDER.fullmatch(name)]
    return found


def exists(name: str, folder: str) -> bool:
    """Whether a file or folder is in the repository; a file named without its folder may be anywhere in the source."""
    bases = [ROOT, SOURCE, TESTS, VIEWER, *([SOURCE / folder] if folder else [])]
    if any((base / name).exists() for base in bases):
        return True
    return "/" not in name and any(next(base.rglob(name), None) for base in (SOURCE, TESTS, VIEWER))


@pytest.mark.parametrize("page", [DESIGN, CONTRIBUTING], ids=lambda page: page.name)
def test_files_and_folders_that_a_page_names_exist(page):
    paths = named_paths(page)
    assert len(paths) > 10
    assert [name for name, folder in paths if name not in ELSEWHERE and not exists(name, folder)] == []


def test_the_table_has_every_folder_in_the_order_of_the_layers():
    table = re.findall(r"^\| `(\w+)` \|", section(DESIGN, "Folders"), re.MULTILINE)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    height = {name.strip(): i for i, layer in enumerate(layers) for name in layer.split(":")}
    assert sorted(table) == sorted(height)
    assert [height[name] for name in table] == sorted(height.values())
    assert {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()} <= set(table)


def test_bare_names_in_a_row_are_modules_of_its_folder():
    """`house_style` in the row of `view`, for example; names of public functions and questions are meant as such."""
    import supple

    public = {"supple", *dir(supple), *dir(supple.control)}
    for folder, content in re.findall(r"^\| `(\w+)` \| (.*) \|$", section(DESIGN, "Folders"), re.MULTILINE):
        for name in spans(content):
            if re.fullmatch(r"[a-z_]+", name) and name not in public:
                assert (SOURCE / folder / name).exists() or (SOURCE / folder / f"{name}.py").exists(), (folder, name)


def test_classes_that_the_page_names_are_defined():
    defined = {
        name for file in SOURCE.rglob("*.py") for name in re.findall(r"^class (\w+)", file.read_text("utf-8"), re.M)
    }
    named = {name for name in spans(DESIGN.read_text("utf-8")) if re.fullmatch(r"[A-Z][a-z]+[A-Za-z]*", name)}
    assert len(named) > 20
    assert named <= defined


def test_every_kind_has_a_row_with_its_home_and_its_test():
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \|[^|]*\| (.*) \| `(test_\w+\.py)` \|$",
                      section(DESIGN, "Where a new thing goes"), re.MULTILINE)  # fmt: skip
    assert sorted(kind for kind, *_ in rows) == sorted(KINDS)
    for kind, home, test in rows:
        assert kind in (TESTS / "extension" / test).read_text("utf-8"), test
        files = [SOURCE / name for name in spans(home) if name.endswith(".py") and "/" in name]
        assert not files or any(kind in file.read_text("utf-8") for file in files), home


@pytest.mark.slow
def test_a_first_response_crosses_the_files_in_the_order_that_the_page_gives():
    text = section(DESIGN, "One frequency response, from the command to the kernel")
    command = re.search(r"^    supple (.*)$", text, re.MULTILINE)[1].split()
    steps = "\n".join(re.findall(r"^\d\. (.*)$", text, re.MULTILINE))
    told = [name for name in dict.fromkeys(spans(steps)) if name.endswith(".py") and "/" in name]
    environment = {**os.environ, "SUPPLE_KERNELS": "interpreted"}  # so that kernels are seen as well
    done = subprocess.run(
        [sys.executable, "-c", TRACED, *command, "--lines", "2"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    crossed = json.loads(done.stdout)
    drawn = "frequency_response/plot.py"
    assert told[-1] == drawn  # only where it is drawn
    assert [name for name in crossed if name in told] == told[:-1]
