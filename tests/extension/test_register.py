"""What `register` takes, and what it says of anything else."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import supple
from supple.kinds import registry

SRC = Path(supple.__file__).parent


def registered_types() -> set[str]:
    """The type of record of every registry in the source."""
    found = set()
    for file in SRC.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Registry":
                assert isinstance(node.args[1], ast.Name)
                found.add(node.args[1].id)
                import_module(".".join(file.relative_to(SRC.parent).with_suffix("").parts))
    return found


def test_the_hint_lists_every_kind():
    assert sorted(registry.KINDS) == sorted(registered_types())
    assert {kind.__name__ for kind in registry._registries} >= set(registry.KINDS)
    with pytest.raises(supple.InputError) as refused:
        supple.register(3)
    for kind in registry.KINDS:
        assert kind in str(refused.value)
        assert kind in supple.register.__doc__
