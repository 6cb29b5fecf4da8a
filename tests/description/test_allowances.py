"""What is unusual and meant so: allowed with a reason, which `check` repeats."""

from __future__ import annotations

import numpy as np
import pytest

from supple import assemble, check, loads, modes, to_yaml
from supple.diagnostics import InputError

PUBLISHED = """
supple: 1
name: published
points: {A: [0, 0, 0]}
bodies: {link: {mass: 2, center: [0.1, 0, 0], inertia: INERTIA}}
joints: {A: {revolute: [ground, link], axis: y}}
actuators: {turn: {joint: A}}
"""
CONNECTOR = """
supple: 1
name: connector
points: {O: [0, 0, 0], P: [2 mm, 0, 0], Q: [0.4, 0, 0]}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {round: {circle: 12 mm}}
bodies:
  short: {beam: [O, P], section: round, material: steel}
  long: {beam: [P, Q], section: round, material: steel}
joints:
  O: {weld: [ground, short]}
  P: {weld: [short, long]}
"""


def published(inertia: str):
    return loads(PUBLISHED.replace("INERTIA", inertia))


def test_an_inertia_of_no_real_body_is_allowed_with_its_reason():
    with pytest.raises(InputError, match=r"add up to less than the largest .*allow: \{inertia: "):
        published("[0.1, 0.1, 0.5]")
    mechanism = published('[0.1, 0.1, 0.5], allow: {inertia: "Table 3 of the paper"}')
    assemble(mechanism)
    (note,) = [note for note in check(mechanism).notes if "allowed" in note]
    assert note.startswith('body "link": the two smaller principal moments add up')
    assert note.endswith("(allowed: Table 3 of the paper)")
    assert loads(to_yaml(mechanism)) == mechanism


@pytest.mark.parametrize("inertia", ["[-0.1, 0.1, 0.1]", "{xx: 0.1, yy: 0.1, zz: 0.1, xy: 0.3}"])
def test_a_negative_inertia_is_never_allowed(inertia):
    with pytest.raises(InputError, match="negative") as raised:
        published(f'{inertia}, allow: {{inertia: "so they say"}}')
    assert "allow:" not in str(raised.value)


def test_an_allowance_that_nothing_needs_is_told():
    notes = check(published('[0.1, 0.1, 0.1], allow: {inertia: "Table 3"}')).notes
    assert any('"link"' in note and "inertia passes" in note and "Table 3" in note for note in notes)


def test_a_reason_is_needed_and_a_subject():
    with pytest.raises(InputError, match="at least 3 characters"):
        published('[0.1, 0.1, 0.5], allow: {inertia: ""}')
    with pytest.raises(InputError, match=r"section.*no beams"):
        published('[0.1, 0.1, 0.1], allow: {section: "short"}')


def test_a_short_connector_is_allowed():
    """Its 2 mm hardly change the cantilever of 400 mm: f ~ 1/L² is 1 % lower with them."""
    with pytest.raises(InputError, match=r'section "round" is too large .*allow: \{section: '):
        loads(CONNECTOR)
    text = CONNECTOR.replace("short: {beam: [O, P],", 'short: {beam: [O, P], allow: {section: "a stiff connector"},')
    mechanism = loads(text)
    assert any("a stiff connector" in note for note in check(mechanism).notes)
    found = modes(mechanism, count=1).frequencies_hz[0]
    EI, rhoA = 210e9 * np.pi * 0.012**4 / 64, 7800 * np.pi * 0.012**2 / 4
    exact = 1.8751041**2 / (2 * np.pi * 0.4**2) * np.sqrt(EI / rhoA)
    assert found == pytest.approx(exact, rel=1e-4)  # four elements a beam and condensation: 2e-5
