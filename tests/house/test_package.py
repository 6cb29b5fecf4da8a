"""What is published beside the code: the names a type checker reads, the citation, the schema of the file."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

from ruamel.yaml import YAML

import supple

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "supple"

# What a user's script may look like, and what every line of it is to a type checker.
SCRIPT = """
import supple
arm = supple.load_mechanism("arm.yaml")
reveal_type(supple.assemble(arm))               # Configuration
reveal_type(supple.modes(arm).frequencies_hz)   # numpy.ndarray
reveal_type(supple.reduce(arm))                 # ReducedModel
reveal_type(supple.load_model("arm.rom").linearize([1.0]))  # LinearModel
reveal_type(supple.simulate(arm, until=1.0))    # Simulation
reveal_type(supple.control.lqr)                 # FeedbackGain
reveal_type(supple.__version__)                 # str
supple.laod("arm.yaml")                         # has no attribute "laod"
"""


def project() -> dict[str, str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_stub_names_what_the_package_gives():
    tree = ast.parse((SRC / "__init__.pyi").read_text())
    homes = {
        name.asname: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.name == name.asname
    }
    assert homes.pop("control") == "supple"
    assert sorted(homes) == list(supple.__all__)
    (listed,) = (node.value for node in tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(listed) == supple.__all__
    for name, module in homes.items():
        given = getattr(import_module(supple._HOMES[name]), name)
        assert getattr(import_module(module), name) is given, name


def test_a_users_script_has_types(tmp_path):
    """With the project's own settings and cache, so that what `make check` has read is not read again."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    kept = [] if os.access(ROOT, os.W_OK) else ["--cache-dir", str(tmp_path)]  # the tree may be somebody else's
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *kept, str(script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    told = run.stdout.splitlines()
    for number, line in enumerate(SCRIPT.splitlines(), 1):
        _, mark, wanted = line.partition("  # ")
        if mark:
            (found,) = (text for text in told if f"script.py:{number}:" in text)
            assert wanted in found
    assert sum("error:" in text for text in told) == 1, run.stdout


def test_the_citation_is_of_this_version():
    cited = YAML(typ="safe").load(ROOT / "CITATION.cff")
    assert cited["version"] == project()["version"]
    assert cited["license"] == project()["license"]
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= cited.keys()


def test_the_schema_is_that_of_the_reader():
    run = subprocess.run([sys.executable, "-m", "supple", "schema"], capture_output=True, encoding="utf-8", check=True)
    kept = (SRC / "mechanism.schema.json").read_text(encoding="utf-8")
    assert kept == run.stdout, "write it again: supple schema > src/supple/mechanism.schema.json"
