"""A superelement by its modes: what its file must hold, and what is said of one that does not."""

from __future__ import annotations

import numpy as np
import pytest

import supple

ROD = """
supple: 1
name: rod
points: {A: [0, 0, 0], B: [1, 0, 0]}
bodies:
  rod: {superelement: {file: rod.npz}MASS}
  load: {mass: 1, center: B, inertia: [0.1, 0.1, 0.1]}
joints:
  A: {revolute: [ground, rod], axis: z}
  B: {weld: [rod, load]}
coordinates: [A]
"""


def arrays():
    """A massless rod with two equal masses at its ends, which one mode moves apart."""
    shapes = np.zeros((2, 6, 1))
    shapes[0, 0], shapes[1, 0] = -0.5, 0.5
    rigid = np.diag([2.0, 2.0, 2.0, 0.1, 1.0, 1.0])
    rigid[1, 5] = rigid[5, 1] = 1.0
    rigid[2, 4] = rigid[4, 2] = -1.0
    widening, turned = np.zeros((3, 3, 1)), np.zeros((3, 3, 1, 1))
    for k in (1, 2):
        widening[k, k], turned[k, k] = 0.5, 0.5
    return {
        "nodes": np.array([[1, 0, 0, 0], [2, 1, 0, 0]]), "K": np.array([[100.0]]), "M": np.array([[0.5]]),
        "shapes": shapes, "rigid": rigid, "coupling": np.zeros((6, 1)), "widening": widening,
        "turning": np.zeros((3, 1, 1)), "turned": turned,
    }  # fmt: skip


def loaded(folder, mass="", **changes):
    np.savez(folder / "rod.npz", **{name: array for name, array in (arrays() | changes).items() if array is not None})
    (folder / "rod.yaml").write_text(ROD.replace("MASS", mass))
    return supple.load(folder / "rod.yaml")


def test_it_is_a_body_of_its_mass(tmp_path):
    found = supple.check(loaded(tmp_path, ", mass: 2"))
    assert "superelement of 2 nodes, 2 kg" in str(found)


def test_it_is_pulled_longer_as_it_spins(tmp_path):
    """The rod and the load at its end turn with Ω about A: q = u_B - u_A rests where K q = m Ω² (1 + q), m = 2 kg."""
    made = loaded(tmp_path)
    speed, load = 3.0, 2.0  # rad/s; kg at B, half of them the rod's
    run = supple.simulate(made, until=0.3, step=5e-4, motion={"A": lambda t: speed * t})
    q = run.bodies.X[:, 0, 0]
    rest = load * speed**2 / (100.0 - load * speed**2)
    # From the unstretched start it swings between 0 and twice the rest, at ω² = K/m - Ω².
    omega = np.sqrt(100.0 / load - speed**2)
    np.testing.assert_allclose(q, rest * (1.0 - np.cos(omega * run.time)), atol=2e-5)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"turned": None}, 'no array "turned"'),
        ({"shapes": np.zeros((2, 6, 3))}, "its shapes is 2 by 6 by 3, not 2 by 6 by 1"),
        ({"K": np.array([[-1.0]])}, "diagonal of its K"),
        ({"M": np.array([[0.0]])}, "diagonal of its M"),
        ({"coupling": np.full((6, 1), np.nan)}, "not finite"),
        ({"rigid": np.triu(np.ones((6, 6))) + np.eye(6)}, "not symmetric"),
        ({"coupling": np.full((6, 1), 10.0)}, "kinetic energy"),
        ({"nodes": np.zeros((2, 2))}, "rows of number, x, y, z"),
    ],
)
def test_what_is_wrong_is_said_with_the_body(tmp_path, changes, said):
    with pytest.raises(supple.InputError, match=said) as error:
        supple.check(loaded(tmp_path, **changes))
    assert 'body "rod"' in str(error.value)


def test_a_place_without_a_node_is_refused(tmp_path):
    nodes = np.array([[1, 0, 0, 0], [2, 1.2, 0, 0]])
    with pytest.raises(supple.InputError, match=r'"B": .*no node at \(1, 0, 0\).*nearest is 0\.2 m away; add a node'):
        supple.check(loaded(tmp_path, nodes=nodes))


def test_its_vibrations(tmp_path):
    """Held at A, the masses of the rod's end and of the load, 2 kg, swing against K = 100 N/m."""
    assert supple.modes(loaded(tmp_path), count=1).frequencies_hz[0] == pytest.approx(np.sqrt(50.0) / (2.0 * np.pi))
