"""One compiled kernel serves arrays however they lie in memory, and whether or not they may be written to."""

from pathlib import Path

import numpy as np
import pytest

import supple
from supple.compilation.kernel import _compiled

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> supple.Mechanism:
    return supple.load(EXAMPLES / name / "mechanism.yaml")


@pytest.fixture(scope="module")
def two():
    return supple.reduce(example("two-link"), region={"shoulder": (0.0, 0.3), "elbow": (0.3, 0.6)}, tolerance=1e-2)


def questions(two) -> dict:
    """Of θ and θ̇, (N, 2) each."""
    arm, five = example("two-link"), example("five-bar-gearbox")
    return {
        "evaluate": lambda x, v: two.evaluate(x),
        "forward": lambda x, v: two.forward(x, v, v),
        "inverse": lambda x, v: two.inverse(x, v, v),
        "energy": lambda x, v: two.energy(x, v),
        "tree": lambda x, v: supple.linearize_batch(arm, x, v),
        "tree with inputs": lambda x, v: supple.linearize_batch(arm, x, v, inputs=v),
        "loop": lambda x, v: supple.linearize_batch(
            five, supple.assemble(five).theta + 0.1 * (x - 0.3), v, inputs=v, rigid=True
        ),
        "assemble": lambda x, v: supple.assemble(five, np.asfortranarray(supple.assemble(five).theta + 0.1 * x)),
    }


def signatures() -> int:
    return sum(len(native.signatures) for native in _compiled.values() if hasattr(native, "signatures"))


def test_no_order_of_an_array_compiles_anything_again(two):
    plain = np.array([[0.1, 0.4], [0.2, 0.5], [0.15, 0.45]]), np.array([[0.2, -0.1], [0.0, 0.3], [0.1, 0.1]])
    frozen = tuple(x.copy() for x in plain)
    for x in frozen:
        x.setflags(write=False)
    asked = questions(two)
    for question in asked.values():
        question(*plain)
    before = signatures()
    for question in asked.values():
        question(*frozen)
        question(*(np.asfortranarray(x) for x in plain))
        question(np.repeat(plain[0], 2, axis=1)[:, ::2], np.broadcast_to(plain[1][0], (3, 2)))
    assert signatures() == before
