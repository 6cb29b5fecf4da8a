"""What is published beside the code: the names a type checker reads, the citation, the schema of the file."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "supple"
PACKAGES = ("supple", "supple.control")  # those whose names are public

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


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """The right-hand side of `name = ...` at the top of a file, or None."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == name for to in node.targets):
            return node.value
    return None


def given_names(source: str, package: str) -> dict[str, str]:
    """Public names that a file gives and the modules they come from: those it imports, and the entries of `_HOMES`."""
    tree = ast.parse(source)
    imported = {
        name.asname or name.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("supple.")
        for name in node.names
    }
    homes = assigned(tree, "_HOMES")
    names = imported | (ast.literal_eval(homes) if homes is not None else {})
    return {name: module for name, module in names.items() if not name.startswith("_") and module != package}


def disagreements(source: str, stub: str | None, package: str) -> list[str]:
    """Names that a package gives and does not list, or lists and does not give, for each of its two files."""
    given = set(given_names(source, package))
    texts = {"__init__.py": source} | ({"__init__.pyi": stub} if stub is not None else {})
    found = []
    for file, text in texts.items():
        listed = ast.literal_eval(assigned(ast.parse(text), "__all__") or ast.List([]))
        has = {"__all__": set(listed), "its imports": set(given_names(text, package))}
        for where, names in has.items():
            found += [f"{name} is missing from {where} of {package}'s {file}" for name in sorted(given - names)]
            found += [f"{name} in {where} of {package}'s {file} is not given by it" for name in sorted(names - given)]
        if sorted(listed) != listed or len(set(listed)) != len(listed):
            found.append(f"__all__ of {package}'s {file} is not sorted, or repeats a name")
    return found


def package_texts(package: str) -> tuple[str, str | None]:
    """The texts of a package's `__init__.py` and of its stub, where it has one."""
    folder = SRC.parent / package.replace(".", "/")
    stub = folder / "__init__.pyi"
    return (folder / "__init__.py").read_text(), stub.read_text() if stub.exists() else None


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_name_stands_in_every_list(package):
    """Where it lives, `__all__` and the stub agree; a package that imports on first use needs a stub."""
    source, stub = package_texts(package)
    assert disagreements(source, stub, package) == []
    assert stub is not None or "_HOMES" not in source
    module = import_module(package)
    assert len(module.__all__) > 30
    seen = given_names(stub, package) if stub is not None else {}
    for name, home in given_names(source, package).items():
        given, value = getattr(module, name), getattr(import_module(home), name)
        assert given is value or (isinstance(given, ModuleType) and callable(given)), name  # a folder of the same name
        assert getattr(import_module(seen.get(name, home)), name) is value, name
        assert stub is None or f" {name} as {name}\n" in stub, f"{name}: a stub gives what is imported as itself"


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_missing_from_one_list_is_found(package):
    """Each name taken out of each list in turn: the comparison above names it."""
    source, stub = package_texts(package)
    for name in import_module(package).__all__:
        for text in filter(None, (source, stub)):
            start = text.index("__all__ = [")
            without = text[:start] + re.sub(rf'"{name}",', "", text[start:])
            assert without != text, name
            texts = (without, stub) if text is source else (source, without)
            assert any(f"{name} is missing from __all__" in said for said in disagreements(*texts, package)), name
        if stub is not None:
            without = re.sub(rf"^from \S+ import {name} as {name}\n", "", stub, flags=re.MULTILINE)
            assert without != stub, name
            found = disagreements(source, without, package)
            assert any(f"{name} is missing from its imports" in said for said in found), name
        if "_HOMES" in source:
            without = re.sub(rf'^    "{name}": .*\n', "", source, flags=re.MULTILINE)
            assert any(f"{name} in __all__" in said for said in disagreements(without, stub, package)), name


def test_the_stub_gives_the_control_package():
    assert "\nfrom supple import control as control\n" in package_texts("supple")[1]


@pytest.mark.slow
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


@pytest.mark.slow
def test_the_schema_is_that_of_the_reader():
    run = subprocess.run([sys.executable, "-m", "supple", "schema"], capture_output=True, encoding="utf-8", check=True)
    kept = (SRC / "mechanism.schema.json").read_text(encoding="utf-8")
    assert kept == run.stdout, "write it again: supple schema > src/supple/mechanism.schema.json"
