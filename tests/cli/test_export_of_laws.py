"""`supple export` of a saved control law: the C code, and its cost."""

import numpy as np
import pytest

from supple.control.laws.affine_matrices import AffineMatrices, Ports, shapes
from supple.control.laws.scheduling import scheduled_law

PORTS = Ports(("lift",), (), ("pump",), 2e-3)


@pytest.fixture(scope="module")
def law():
    def design(sigma) -> AffineMatrices:
        return AffineMatrices(*(0.3 * np.ones(shape) * np.sin(1.0 + sigma[0]) for shape in shapes(2, PORTS)))

    return scheduled_law(design, {"lift": (0.0, 1.0)}, PORTS, name="hold")


def test_a_law_is_exported_with_its_cost(law, supple, folder):
    law.save("hold.law")
    said = supple("export", "hold.law", "--to", "c", "-o", "build", "--json")
    assert said.status == 0, said.err
    assert {"operations", "comparisons", "tables", "state", "work"} <= set(said.object)
    assert said.object["operations"] == law.cost.operations
    assert {file.name for file in (folder / "build").iterdir()} == {"hold_law.h", "hold_law.c"}
    said = supple("export", "hold.law", "-o", "build")
    assert f"A step takes at most {law.cost.operations} operations" in said.out


def test_options_of_models_and_damaged_laws_are_refused(law, supple, folder):
    path = law.save("hold.law")
    said = supple("export", "hold.law", "--set", "payload=3")
    assert said.status == 1
    assert "does not take --set" in said.err
    path.write_bytes(path.read_bytes()[:-10])
    said = supple("export", "hold.law")
    assert said.status == 1
    assert "wrong checksum" in said.err


def test_other_commands_refuse_a_law(law, supple, folder):
    law.save("hold.law")
    said = supple("check", "hold.law")
    assert said.status == 1
    assert "this is a control law" in said.err
