"""A force law from one file: a spring that hardens, from the command line and from a script."""

from __future__ import annotations

import pytest

LAW = """
import supple


def hardening(p, x):
    k, q = p[0], p[1]
    return 0.5 * k * x**2 + 0.25 * q * x**4, -k * x - q * x**3, -k - 3.0 * q * x**2, 0.0, 0.0, 0.0


LAW = supple.ForceLaw(
    "hardening",
    {"stiffness": supple.LawParameter("stiffness"), "cubic": supple.LawParameter("stiffness", per=2)},
    hardening,
)
"""
SLEDGE = """
supple: 1
plane: xz
points: {O: [0, 0]}
bodies: {sledge: {mass: 1.5, center: O, inertia: 0.01}}
joints: {rail: {prismatic: [ground, sledge], at: O, axis: x}}
springs: {bump: {joint: rail, law: {hardening: {stiffness: 100 N/m, cubic: 4e4 N/m/m/m}}}}
actuators: {push: {joint: rail}}
"""


@pytest.fixture
def law(installed):
    found = installed(LAW, "LAW")
    (found.folder / "sledge.yaml").write_text(SLEDGE, encoding="utf-8")
    return found


@pytest.mark.slow
def test_a_law_of_an_installed_package_is_named_in_the_file(law):
    law.supple("check", "sledge.yaml")
    found = law.supple("local", "sledge.yaml", "--at", "push=0.05")
    assert found["force"] == pytest.approx([-100 * 0.05 - 4e4 * 0.05**3])
    linear = law.supple("linearize", "sledge.yaml", "--at", "push=0.05")
    assert linear["A"][1][0] == pytest.approx(-(100 + 3 * 4e4 * 0.05**2) / 1.5)
    run = law.supple("simulate", "sledge.yaml", "--until", "0.02", "--step", "0.001", "--start", "push=0.05")
    assert run["complete"]
    wrong = SLEDGE.replace("hardening:", "hardning:")
    (law.folder / "wrong.yaml").write_text(wrong, encoding="utf-8")
    said = law.supple("check", "wrong.yaml", status=1)
    assert 'did you mean "hardening"' in said


def test_a_script_registers_a_law(law):
    script = """
import json, supple
from supple.description.force_model import FORCE_MODELS

supple.register(supple.ForceLaw("mine", {}, lambda p, x: (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
print(json.dumps(list(FORCE_MODELS)))
"""
    assert law.python(script) == ["spring", "constant", "damper", "inertia", "mine", "hardening"]
