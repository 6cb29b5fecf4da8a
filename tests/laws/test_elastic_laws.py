"""Laws of elastic mechanisms about a configuration: stiffness, modes, responses, whatever they are made of."""

import numpy as np
import pytest
from elastic_mechanisms import NAMES, Assembly, loop, mechanism, parts, turned
from numpy.testing import assert_allclose
from random_parts import rotation
from redrawn import shuffled

import supple
from supple.formulations.elastic_rest.dense import dense_modes, dense_system
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.rest import rest
from supple.modal_analysis.mode_set import mac

CONDENSED = 6e-7
"""Of a frequency: bodies are condensed to 1e-6 of ω²."""

each = pytest.mark.parametrize("name", NAMES)


def hertz(made, at=None, count=6, **options):
    return supple.modes(made, at, count=count, **options).frequencies_hz


@each
def test_modes_are_those_of_all_nodes_assembled_without_condensation(name):
    whole = Assembly(parts(name), mechanism(name)).hertz()[:8]
    assert_allclose(hertz(mechanism(name), count=8, preload=False), whole, rtol=CONDENSED)


@pytest.mark.parametrize("preload", [True, False])
@each
def test_modes_of_the_batched_way_are_those_of_the_dense_one(name, preload):
    made = mechanism(name)
    fast = supple.modes(made, count=8, preload=preload)
    squares, shapes = dense_modes(fast.rest, fast.configuration, fast.held, preload=preload)
    # Both err by rounding: the dense one of the largest ω², the other of 1/ω² of the lowest (with its shift, a
    # twentieth of that).
    rounding = 5e-15 * squares[-1] + 2e-13 * squares[:8] ** 2 / squares[0]
    assert (np.abs((2 * np.pi * fast.frequencies_hz) ** 2 - squares[:8]) < rounding).all()
    apart = np.diff(fast.frequencies_hz).min() / fast.frequencies_hz.max()
    assert_allclose(np.diag(mac(fast.shapes, shapes[:8])), 1.0, atol=1e-12 / apart**2)


@each
def test_only_rigid_and_free_motions_have_no_stiffness(name):
    made = mechanism(name)
    found = elastic_rest(made, 500.0)
    for body in found.bodies:
        assert np.count_nonzero(body.stiffness == 0.0) == 6
        assert (body.stiffness >= 0.0).all()
    here = supple.assemble(made)
    _, K, N = dense_system(found, here, found.list_held_rows(actuators=False), preload=False)
    assert_allclose(K, K.T, atol=1e-14 * np.abs(K).max())
    values = np.linalg.eigvalsh(N.T @ K @ N)
    mobility = rest(made).mobility.mobility
    assert np.abs(values[:mobility]).max() < 1e-7 * values[mobility]
    _, K, N = dense_system(found, here, found.list_held_rows(actuators=True), preload=False)
    assert np.linalg.eigvalsh(N.T @ K @ N)[0] > 1e-3 * values[mobility]


@each
def test_frequencies_do_not_depend_on_the_frame_of_the_file(name):
    rng = np.random.default_rng(5)
    there = supple.Mechanism(**turned(parts(name), rotation(rng), rng.standard_normal(3)))
    for options in ({}, {"free_actuators": True}):
        mine, other = (hertz(made, **options) for made in (mechanism(name), there))
        # ω² of free motions under gravity may be small, of either sign
        squares = [np.sign(found) * found**2 for found in (mine, other)]
        assert_allclose(squares[1], squares[0], rtol=1e-8, atol=1e-10 * squares[0].max())


@each
def test_frequencies_do_not_depend_on_the_order_of_the_lists(name):
    for seed in range(2):
        other = supple.Mechanism(**shuffled(parts(name), np.random.default_rng(seed)))
        assert_allclose(hertz(other), hertz(mechanism(name)), rtol=1e-9)


@each
@pytest.mark.parametrize("free", [False, True])
def test_responses_are_reciprocal(name, free):
    made = mechanism(name)
    ports = ["one.x", "one.z", "two.y", "two.rx", *(["drive0"] if free else [])]
    for law in ({"structural": 0.03}, {"rayleigh": (2.0, 1e-5)}, {"modal": 0.02}):
        H = supple.frf(made, None, ports, ports, [7.0, 60.0, 200.0], damping=law, free_actuators=free).values
        assert_allclose(H, H.transpose(0, 2, 1), atol=1e-8 * np.abs(H).max())


@each
def test_direct_responses_are_those_of_all_modes(name):
    """Loss factors and Rayleigh's damping leave modes uncoupled, so the sum over all of them is exact."""
    from supple.frequency_response.direct_response import Proportional, direct_response
    from supple.frequency_response.modal_response import modal_response
    from supple.modal_analysis.ports import port, port_rows
    from supple.modal_analysis.restraint import restraint

    made = mechanism(name)
    found, here = elastic_rest(made, 512.0), supple.assemble(made)
    first = found.numbering.constraints
    theta = list(range(first, first + len(found.numbering.coordinates)))
    rows = port_rows(found, [port(found.numbering, item) for item in ("one.x", "two.z", "two.ry")], here.X[None])[0]
    omega = 2 * np.pi * np.array([0.0, 1e-4, 3.0, 50.0, 300.0])
    for damping in (Proportional(eta=0.02), Proportional(alpha=3.0, beta=1e-5)):
        for led, locked in (([], theta), ([theta[0]], theta), ([theta[0]], theta[:1])):
            free = len(locked) < len(theta)
            lines = omega[2:] if free else omega
            held = restraint(found, locked=set(locked))
            one = direct_response(found, here.X, held, rows[:2], led, rows, lines, damping)
            told = (found, here, held, rows[:2], led, rows, lines, damping, None)
            two = modal_response(*told, preload=False, turning=False, below=None)
            for columns in (slice(2), slice(2, None)):  # of forces, and of what is led
                size = np.abs(one[..., columns]).max(initial=0.0)
                assert_allclose(one[..., columns], two[..., columns], rtol=0, atol=1e-7 * size)


@each
def test_modal_responses_with_static_correction_come_close_to_the_direct_ones(name):
    made = mechanism(name)
    lines = np.linspace(1.0, hertz(made)[3], 40)
    ports = ["one.x", "two.z"]
    direct, modal = (
        supple.frf(made, None, ports, ports, lines, damping={"structural": 0.02}, method=method).values
        for method in ("direct", "modal")
    )
    # modes beyond three times the highest line lack at most 1/8 of their static part
    static = np.abs(supple.compliance(made, None, ports).values).max()
    assert np.abs(modal - direct).max() < 0.125 * static
    assert np.abs(modal - direct).max() > 0.0


@each
def test_static_compliance_is_the_response_at_zero_frequency(name):
    made = mechanism(name)
    ports = ["one.x", "one.z", "two.y", "two.rx"]
    static = supple.compliance(made, None, ports, preload=False).values
    at_zero = supple.frf(made, None, ports, ports, 0.0, damping={"rayleigh": (1.0, 1e-4)}, preload=False).values[0]
    assert_allclose(at_zero, static, atol=1e-11 * np.abs(static).max())
    whole = Assembly(parts(name), made)
    places = parts(name)["points"]
    watched = [sensor["position"].split(".") for sensor in parts(name)["sensors"].values()]
    one, two = (whole.displacement(body, places[point]) for body, point in watched)
    rows = np.array([one[0], one[2], two[1], two[3]])
    assert_allclose(static, whole.compliance(rows), atol=1e-8 * np.abs(static).max())


@each
def test_modes_are_like_themselves_alone(name):
    found = supple.modes(mechanism(name), count=6)
    assert_allclose(found.mac(found), np.eye(6), atol=1e-10)
    scaled = found.shapes * np.array([2.0, -1.0, 0.1, 5.0, 1j, 3.0])[:, None]
    assert_allclose(mac(scaled, found.shapes), np.eye(6), atol=1e-10)


def test_elastic_joints_tend_to_ideal_ones_with_the_inverse_of_their_stiffness():
    """ω²(k) = ω²(∞) - c/k + ...: a tenfold stiffness leaves a tenth of the difference."""
    given = loop(2, bars=3)
    hinge = next(joint for joint in given["joints"].values() if "elastic" in joint)
    soft = hinge.pop("elastic")
    ideal = hertz(supple.Mechanism(**given), count=4) ** 2
    away = []
    for factor in (1e2, 1e3, 1e4):
        hinge["elastic"] = {key: factor * value for key, value in soft.items()}
        away.append(ideal - hertz(supple.Mechanism(**given), count=4) ** 2)
    away = np.array(away)
    assert (away > 0.0).all()
    exponent = np.log10(away[:-1] / away[1:])
    assert_allclose(exponent[-1], 1.0, atol=0.02)


@pytest.mark.parametrize("at", [-0.4, 0.0, 0.5])
def test_a_planar_linkage_has_its_modes_in_space_too(at):
    """In-plane modes of bars that bend in and out of the plane."""
    bars = {"section": "bar", "material": "steel", "elements": 4}
    flat = {"A": [0, 0], "B": [0.3, 0.1], "C": [0.8, 0.6], "D": [1.0, 0]}
    ends = {"a": ["A", "B"], "b": ["B", "C"], "c": ["D", "C"]}
    shared = {"materials": {"steel": {"youngs_modulus": 210e9, "density": 7850}},
              "sections": {"bar": {"rectangle": [0.03, 0.012]}}, "actuators": {"drive": {"joint": "A"}}}  # fmt: skip
    joints = {"A": ["ground", "a"], "B": ["a", "b"], "C": ["b", "c"], "D": ["ground", "c"]}
    soft = {"x": 1e6, "y": 1e6}
    planar = supple.Mechanism(
        plane="xy", points=flat, bodies={name: {"beam": pair, **bars} for name, pair in ends.items()},
        joints={name: {"revolute": pair, "elastic": soft} for name, pair in joints.items()}, **shared,
    )  # fmt: skip
    across = {name: [-(flat[b][1] - flat[a][1]), flat[b][0] - flat[a][0], 0] for name, (a, b) in ends.items()}
    start = supple.assemble(planar).theta[0]
    deep = supple.Mechanism(
        points={name: [*place, 0] for name, place in flat.items()},
        bodies={name: {"beam": pair, **bars, "up": across[name]} for name, pair in ends.items()},
        joints={name: {"revolute": pair, "axis": "z", "elastic": soft} for name, pair in joints.items()}, **shared,
    )  # fmt: skip
    mine, other = hertz(planar, {"drive": start + at}, count=5), hertz(deep, {"drive": at}, count=20)
    for frequency in mine:
        assert np.abs(other / frequency - 1.0).min() < 1e-6


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize("plane", [None, "xz"])
@pytest.mark.parametrize("origin", [0.0, 37.0])
def test_a_hanging_rod_swings_as_it_should(elastic, plane, origin):
    """√(3g/2L)/2π = 0.6105 Hz for a uniform rod of a metre; bending lowers it by about 1e-7 of itself here."""
    top, bottom = [origin, 0.3 - origin], [origin, -0.7 - origin]
    made_of = {"section": "bar", "material": "steel"} if elastic else {"mass": 2.0}
    if plane is None:
        top, bottom = [top[0], origin, top[1]], [bottom[0], origin, bottom[1]]
    made = supple.Mechanism(
        plane=plane, gravity=[0, -9.81] if plane else [0, 0, -9.81], points={"A": top, "B": bottom},
        materials={"steel": {"youngs_modulus": 210e9, "density": 7850}}, sections={"bar": {"rectangle": [0.03, 0.02]}},
        bodies={"rod": {"beam" if elastic else "rod": ["A", "B"], **made_of}},
        joints={"A": {"revolute": ["ground", "rod"], **({} if plane else {"axis": "y"})}},
        actuators={"drive": {"joint": "A"}},
    )  # fmt: skip
    exact = np.sqrt(1.5 * 9.81) / (2 * np.pi)
    assert abs(exact - 0.6105) < 2e-4
    assert_allclose(hertz(made, count=1, free_actuators=True)[0], exact, rtol=2e-5 if elastic else 1e-9)
