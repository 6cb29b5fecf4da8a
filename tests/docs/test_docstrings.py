"""Docstrings of public names: numpydoc finds nothing wrong, and their examples run."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module

import pytest

import supple
import supple.control

MODULES = sorted(
    {supple._HOMES[name] for name in supple.__all__}
    | {getattr(supple.control, name).__module__ for name in supple.control.__all__}
)


def test_numpydoc_finds_nothing_wrong():
    from numpydoc_sections import faults

    found = list(faults())
    assert not found, "\n".join(found)


def test_functions_with_the_name_of_a_folder_are_validated_too(monkeypatch):
    """By its public name numpydoc would find the folder `supple.control.margins`, not the function."""
    import numpydoc_sections

    read: list[str] = []
    monkeypatch.setattr(numpydoc_sections, "validate", lambda name: read.append(name) or {"errors": []})
    assert not list(numpydoc_sections.faults())
    assert {"supple.control.margins.margins.margins", "supple.control.study.study.study",
            "supple.export.export.export"} <= set(read)  # fmt: skip


def examples() -> dict[str, list[doctest.DocTest]]:
    """Examples in the docstrings of the modules of public names, by module."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    for name in MODULES:
        module = import_module(name)
        tests = [test for test in finder.find(module, name) if test.examples]
        if tests:
            found[name] = tests
    return found


@pytest.mark.parametrize("module", sorted(examples()))
def test_examples_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    printed: list[str] = []
    for test in examples()[module]:
        runner.run(test, out=printed.append)
    assert not runner.failures, "".join(printed)


def test_the_main_functions_have_examples():
    for name in ("load", "check", "assemble", "modes", "frf", "reduce", "simulate", "linearize", "export", "inverse"):
        assert ">>>" in (inspect.getdoc(getattr(supple, name)) or ""), name


def test_sections_become_markdown():
    """The reference pages show parameters as a list, and examples as code."""
    from numpydoc_sections import has_sections, markdown

    text = inspect.getdoc(supple.export)
    assert has_sections(text)
    shown = markdown(text)
    assert shown.index("**Parameters**") < shown.index("**Returns**")
    assert "- **directory** : *" in shown
    assert "----" not in shown
