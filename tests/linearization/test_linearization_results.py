"""What a linear model can do: modes, discrete time, conversions; flexible mechanisms; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import supple

TWO = {
    "plane": "xz", "gravity": [0, -9.81], "points": {"A": [0, 0], "B": [3, 0], "P": [0, -1], "Q": [3, -2]},
    "bodies": {"short": {"rod": ["A", "P"], "mass": 1}, "long": {"rod": ["B", "Q"], "mass": 5}},
    "joints": {"A": {"revolute": ["ground", "short"], "viscous": 0.5}, "B": {"revolute": ["ground", "long"]}},
    "coordinates": ["A", "B"],
}  # fmt: skip


def test_modes_tell_frequency_damping_and_who_takes_part():
    """Two rods that do not touch: each mode is one rod's, whatever its units and mass."""
    modes = supple.linearize(supple.Mechanism(**TWO)).modes()
    assert modes.coordinates == ("A", "B")
    square = np.array([1.5 * 9.81 / 2, 1.5 * 9.81])
    assert_allclose(modes.frequencies_hz, np.sqrt(square) / (2 * np.pi), rtol=1e-9)
    assert_allclose(modes.damping, [0.0, 0.5 * 3 / (2 * np.sqrt(square[1]))], atol=1e-9)
    assert_allclose(modes.participation, [[0, 1], [1, 0]], atol=1e-9)
    assert modes.rank_coordinates(0) == pytest.approx({"B": 1.0, "A": 0.0})
    values = modes.eigenvalues
    A = supple.linearize(supple.Mechanism(**TWO)).A
    for value, shape in zip(values, modes.shapes, strict=True):
        assert_allclose(A @ shape, value * shape, atol=1e-9)


def test_a_joint_that_nothing_holds_has_a_mode_all_the_same():
    free = supple.Mechanism(**(TWO | {"gravity": [0, 0]}))
    modes = supple.linearize(free).modes()
    assert np.isfinite(modes.participation).all()
    assert_allclose(modes.participation.sum(axis=1), 1.0)
    assert_allclose(modes.eigenvalues, [0, 0, 0, -1.5], atol=1e-12)  # A is damped: -3 × 0.5
    assert (modes.damping == [0, 0, 0, 1]).all()
    assert [next(iter(modes.rank_coordinates(k))) for k in (0, 1, 2)].count("B") == 2


def test_discrete_time(example):
    found = supple.linearize(example("two-link"))
    held = found.discretize(0.01)
    assert_allclose(held.A, expm(0.01 * found.A), atol=1e-12)
    assert held.step == 0.01
    assert_allclose(held.C, found.C)
    near = [model.response(0.4, "tip.x", "elbow") for model in (found, held)]
    assert abs(near[0] - near[1]) < 0.02 * abs(near[0])  # a step against a period of 2.5 s
    tustin = found.discretize(0.01, "bilinear")
    shift = np.linalg.solve(np.eye(4) - 0.005 * found.A, np.eye(4) + 0.005 * found.A)
    assert_allclose(tustin.A, shift, atol=1e-12)
    assert held.to_scipy().dt == 0.01
    for wrong, words in (
        ({"step": 0.0}, r"step: must be positive \(got 0.0 s\)"),
        ({"step": 0.1, "method": "zho"}, 'did you mean "zoh"'),
    ):
        with pytest.raises(supple.InputError, match=words):
            found.discretize(**wrong)
    with pytest.raises(supple.InputError, match="continuous"):
        held.discretize(0.01)
    with pytest.raises(supple.InputError, match="continuous"):
        held.modes()


def test_conversions_keep_the_response(example):
    control = pytest.importorskip("control")
    found = supple.linearize(example("two-link"))
    system = found.to_control()
    assert isinstance(system, control.StateSpace)
    assert system.input_labels == ["shoulder", "elbow"]
    frequency = 1.3
    expected = found.response(frequency, "tip.x", "elbow")
    assert system(2j * np.pi * frequency)[0, 1] == pytest.approx(complex(expected))
    assert found.discretize(0.02).to_control().dt == 0.02
    _, response = found.to_scipy().A, found.to_scipy()
    assert_allclose(response.B, found.B)


@pytest.mark.parametrize("name", ["flexible-four-bar", "ralf"])
def test_a_flexible_mechanism_about_rest_has_the_reduced_models_linear_model(example, name):
    mechanism = example(name)
    forces = {key: item.model_copy(update={"drive": None}) for key, item in mechanism.actuators.items()}
    mechanism = mechanism.replace(actuators=forces)
    here = supple.assemble(mechanism)
    region = {key: (value - 0.02, value + 0.02) for key, value in zip(here.coordinates, here.theta, strict=True)}
    model = supple.reduce(mechanism, region=region, checks=200, internal_modes=2, tolerance=1e-7, store=None)
    full = supple.linearize(mechanism, internal_modes=2)
    small = model.linearize(here.theta)
    assert full.states == small.states
    maps = [item.second_order.P3 for item in (full, small)]  # B holds M too, which the reduced model has where it sags
    assert_allclose(*maps, atol=1e-5 * np.abs(maps[1]).max())
    assert full.at["inputs"] == pytest.approx(small.at["inputs"], rel=1e-5, abs=1e-9)
    ours, theirs = full.second_order.P2, small.second_order.P2
    scale = np.abs(theirs).max()
    if mechanism.gravity is None:  # nothing sags: the same potential
        assert_allclose(ours, theirs, atol=1e-5 * scale)
    else:
        # The reduced model has the change of the weight's lever with the deflection, and the linear model the stiffness
        # that forces at rest give to the deformation: each a share of what sags, 3 cm of 4 m here.
        s = len(here.theta)
        assert_allclose(ours[:s, :s], theirs[:s, :s], atol=7e-3 * scale)
        assert_allclose(full.modes().frequencies_hz, small.modes().frequencies_hz, rtol=3e-3)


def test_locked_bending_is_that_of_the_modes(example):
    """With θ held, the internal modes are those of the mechanism with its actuators locked."""
    mechanism = example("flexible-four-bar")
    found = supple.linearize(mechanism, internal_modes=3)
    M, P2, _, _ = found.second_order
    s = len(supple.assemble(mechanism).theta)
    squares = np.linalg.eigvals(np.linalg.solve(M[s:, s:], -P2[s:, s:])).real
    locked = supple.modes(mechanism, count=3).frequencies_hz
    assert_allclose(np.sort(np.sqrt(squares)) / (2 * np.pi), locked, rtol=1e-6)


def test_the_equilibrium_is_found_first():
    held = supple.Mechanism(**(TWO | {"springs": {"S": {"joint": "B", "stiffness": 30, "rest": 1.0}}}))
    found = supple.linearize(held, "equilibrium")
    assert found.at["accelerations"] == pytest.approx({"A": 0.0, "B": 0.0}, abs=1e-9)
    assert found.at["states"]["B"] != pytest.approx(supple.assemble(held).theta[1], abs=0.1)
    driven = supple.Mechanism(**(TWO | {"actuators": {"motor": {"joint": "A"}}}))
    pushed = supple.linearize(driven, "equilibrium", inputs=[2.0])
    assert pushed.at["inputs"] == {"motor": 2.0}
    assert pushed.at["accelerations"] == pytest.approx({"A": 0.0, "B": 0.0}, abs=1e-8)


def test_what_cannot_be_is_told(example):
    rods, four_bar = supple.Mechanism(**TWO), example("four-bar")
    cases = [
        (lambda: supple.linearize(rods, [0.3, 0.0]),
         r'requires .* N m along "A" at A=0\.3, B=0.* no actuators.*equilibrium'),
        (lambda: supple.linearize(example("two-link").replace(actuators={"elbow": {"joint": "elbow"}},
                                  coordinates=["shoulder", "elbow"]), [0.3, 0.0]),
         r"shoulder.* its actuators \(elbow\) cannot"),
        (lambda: supple.linearize(four_bar, [1.9]), "dead point"),
        (lambda: supple.linearize(four_bar, rates=[1.0, 2.0]), r"rates: .*\(2,\)"),
        (lambda: supple.linearize(four_bar, rates={"cranck": 1.0}), 'did you mean "crank"'),
        (lambda: supple.linearize(four_bar, rates=[np.inf]), "not finite"),
        (lambda: supple.linearize(four_bar, rates=[[1.0], [2.0]]), r"rates: .*\(2, 1\)"),
        (lambda: supple.linearize(four_bar, inputs=[1.0], accelerations=[1.0]), "inputs and accelerations: .*only one"),
        (lambda: supple.linearize(four_bar, [[0.1], [0.2]]), "linearize_batch"),
        (lambda: supple.linearize(rods, "equilibrium", rates=[1.0, 0.0]), "rates: must be zero at the equilibrium"),
        (lambda: supple.linearize(example("flexible-four-bar"), rates=[1.0], internal_modes=1), "about rest alone"),
        (lambda: supple.linearize_batch(four_bar, [0.1]), r"\(N, s\)"),
        (lambda: supple.linearize_batch(four_bar, [[0.1], [0.2]], [[1.0]]), "has 1 states, but θ has 2"),
        (lambda: supple.linearize_batch(four_bar, [[0.1], [1.9]]), "dead point"),
        (lambda: supple.linearize_batch(rods, [[-np.pi / 2, -np.pi / 2], [0.2, 0.0]]), "state 1 of 2"),
    ]  # fmt: skip
    for call, words in cases:
        with pytest.raises(supple.InputError, match=words):
            call()


def test_a_singular_configuration_is_named():
    """Coupler and follower in line: the crank cannot move on."""
    rods = {"crank": ["A", "B"], "coupler": ["B", "E"], "follower": ["D", "E"]}
    hinges = {"A": ["ground", "crank"], "B": ["crank", "coupler"], "E": ["coupler", "follower"]}
    hinges["D"] = ["ground", "follower"]
    dead = supple.Mechanism(
        name="dead", plane="xz", points={"A": [0, 0], "B": [0.3, 0.4], "E": [0.65, 0.2], "D": [1, 0]},
        bodies={name: {"rod": ends, "mass": 1} for name, ends in rods.items()},
        joints={name: {"revolute": pair} for name, pair in hinges.items()}, actuators={"crank": {"joint": "A"}},
    )  # fmt: skip
    with pytest.raises(supple.InputError, match=r'crank=0.927295 is a singular configuration .*"crank" locks'):
        supple.linearize(dead)
    here = supple.assemble(dead)
    values = (np.asarray(item)[None] for item in (here.theta, here.X, here.w, here.reached))
    batch = supple.Configuration(here.rest, *values)
    with pytest.raises(supple.InputError, match=r"crank=0\.927295 is a singular configuration"):
        supple.linearize_batch(dead, batch, inputs=[0.0])


def test_a_joint_that_moves_no_mass_is_named():
    bodies = {**TWO["bodies"], "long": {"rod": ["B", "Q"], "mass": 0}}
    joints = {**TWO["joints"], "A": {"revolute": ["ground", "short"], "dry": 0.1}}
    with pytest.raises(supple.InputError, match='"B" moves no mass'):
        supple.linearize(supple.Mechanism(**(TWO | {"bodies": bodies, "joints": joints})), inputs=[])
    with pytest.raises(supple.NumericalError, match="not finite"):  # the recursions: a tree without friction
        supple.linearize(supple.Mechanism(**(TWO | {"bodies": bodies})), inputs=[])
