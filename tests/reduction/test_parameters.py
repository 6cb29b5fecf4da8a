"""Parameters of the file as coordinates of the region: models at values never sampled, and what is refused."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple import InputError
from supple.formats.mechanism_file import loads
from supple.formats.model_description import restore_mechanism
from supple.formats.varied_mechanism import VariedMechanism, first_of
from supple.reduced.damped import locked_frequencies
from supple.reduction.parameter_space import parameter_space, require_one_branch
from supple.reduction.sampling import Sampling, samples_name

ARM = """
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
parameters: {upper: 0.6, fore: 0.8*upper, payload: 2, elements: 2, idle: 3, stop: 1, drag: 0.1, wall: 2 mm}
materials: {steel: {youngs_modulus: 210 GPa, density: 7800}}
sections: {tube: {tube: [30 mm, 30 mm - 2*wall]}}
points: {O: [0, 0], E: [upper, 0], T: [upper + fore, 0]}
bodies:
  upper: {beam: [O, E], section: tube, material: steel, elements: 2}
  fore: {beam: [E, T], section: tube, material: steel, elements: elements}
joints:
  shoulder: {revolute: [ground, upper], at: O}
  elbow: {revolute: [upper, fore], at: E, dry: drag}
point_masses: {load: {at: fore.T, mass: payload}}
actuators:
  shoulder: {joint: shoulder, limits: [-0.5, stop]}
  elbow: {joint: elbow, limits: [-1, 1]}
sensors: {tip: {position: T}}
configurations: {up: {shoulder: 0.3*stop}}
"""
REGION = {"shoulder": (0.0, 0.4), "elbow": (-0.9, -0.5)}


@pytest.fixture(scope="module")
def arm():
    return loads(ARM)


@pytest.fixture(scope="module")
def rigid(arm):
    vary = {"upper": ("550 mm", "650 mm")}
    return supple.reduce(arm, region={**REGION, "shoulder": 0.1}, vary=vary, rigid=True, tolerance=1e-2)


@pytest.fixture(scope="module")
def flexible(arm):
    return supple.reduce(arm, region={**REGION, "shoulder": 0.1}, vary={"payload": (1, 3)}, internal_modes=2)


@pytest.mark.slow
def test_a_rigid_family_is_the_mechanism_at_parameters_never_sampled(arm, rigid):
    rng = np.random.default_rng(0)
    assert rigid.met
    assert [item.unit for item in rigid.family.parameters] == ["m"]
    assert rigid.family.named == {"upper": 0.6}
    for given in [{"upper": value} for value in rng.uniform(0.55, 0.65, 6).tolist()]:
        elbow = rng.uniform(-0.9, -0.5, (40, 1))
        member = loads(ARM, parameters=given)
        exact = supple.local(member, np.insert(elbow, 0, 0.1, axis=1), rigid=True)
        model = rigid.at(given).evaluate(elbow)
        assert_allclose(model.M[:, 0, 0], exact.M[:, 1, 1], rtol=1e-2)
        assert_allclose(model.force[:, 0], exact.force[:, 1], rtol=1e-2)
        assert restore_mechanism(rigid.at(given)).bodies == member.bodies
        slope = rigid.at(given).parameter_slopes(elbow[0])["upper"].M[0, 0]
        length = 0.8 * given["upper"]
        load = 2.0 * length**2  # the other part goes with the cube of the length
        assert_allclose(slope, 0.8 * (2.0 * load + 3.0 * (exact.M[0, 1, 1] - load)) / length, rtol=2e-2)


@pytest.mark.slow
def test_a_flexible_family_follows_one_germ_and_has_the_frequencies_of_its_members(flexible):
    rng = np.random.default_rng(0)
    assert flexible.met
    assert not flexible.provenance["exchanges"]
    for payload in rng.uniform(1.0, 3.0, 4).tolist():
        model, elbow = flexible.at(payload=payload), rng.uniform(-0.9, -0.5, (10, 1))
        theta, found = np.insert(elbow, 0, 0.1, axis=1), model.evaluate(elbow)
        hz = locked_frequencies(found.K[:, 1:, 1:], found.M[:, 1:, 1:]) / (2.0 * np.pi)
        full = supple.modes(loads(ARM, parameters={"payload": payload}), theta, count=2).frequencies_hz
        assert_allclose(hz, full, rtol=1e-3)
        member = restore_mechanism(model)
        assert first_of(member) is not None
        exact = supple.local(member, theta, internal_modes=2, tracking=model.basis.tracking)
        assert exact.basis == model.basis
        for name in ("M", "K", "force"):
            given, own = (getattr(item, name) for item in (exact, found))
            for _ in range(given.ndim - 1):  # without the shoulder
                given = np.moveaxis(given[:, 1:], 1, -1)
            assert np.abs(own - given).max() <= 1e-3 * np.abs(given).max(), name


def test_the_mechanism_travels_as_text_with_its_expressions(arm):
    varied = VariedMechanism(arm, ("upper",))
    there = pickle.loads(pickle.dumps(varied))  # noqa: S301
    assert there.nominal == arm
    assert there.at([0.7]) == varied.at([0.7])
    assert there.at([0.7]).parameters["fore"] == 0.8 * 0.7
    assert varied.at([0.6]) is arm


@pytest.mark.slow
def test_a_mechanism_built_in_python_is_varied_too():
    made = supple.Mechanism(
        name="pendulum", plane="xz", gravity=[0, -9.81], parameters={"L": 1.0, "m": "2*L"},
        points={"O": [0, 0], "P": ["L", 0]}, bodies={"bar": {"rod": ("O", "P"), "mass": "m"}},
        joints={"O": supple.Joint(revolute=("ground", "bar"))}, actuators={"motor": supple.Actuator(joint="O")},
    )  # fmt: skip
    model = supple.reduce(made, region={"motor": (-1.0, 1.0)}, vary={"L": (0.5, 1.5)})
    assert_allclose(model.at(L=0.8).evaluate([0.2]).M, [[2 * 0.8 * 0.8**2 / 3]], rtol=1e-3)


def test_samples_are_kept_by_parameters_and_shared_between_ranges(arm, tmp_path):
    one, other = VariedMechanism(arm, ("payload",)), VariedMechanism(arm, ("payload",), [1.5])
    assert samples_name(one) == samples_name(other)
    assert samples_name(one) != samples_name(arm) != samples_name(VariedMechanism(arm, ("upper",)))
    first, second = (Sampling(item, store=tmp_path / "x.samples") for item in (one, other))
    x = np.array([[0.1, -0.7, 1.2], [0.2, -0.7, 2.0], [0.1, -0.7, 2.0]])
    rows, valid = first.rows(x)
    again, _ = second.rows(x[::-1])
    assert valid.all()
    assert (first.evaluations, second.evaluations) == (3, 0)
    assert_array_equal(rows, again[::-1])
    plain, _ = Sampling(arm).rows(x[1:, :2])
    assert_array_equal(rows[1:, : first.layout.width], plain)


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"paylod": (1, 2)}, '"paylod".*did you mean "payload"'),
        ({"idle": (1, 2)}, '"idle".*does not depend'),
        ({"payload": (-1, 2)}, "cannot be built at payload=-1.*mass"),
        ({"elements": (2, 3)}, "cannot be built|elements.*differ"),
        ({"drag": (0.1, 0.2)}, "drag.*forces of dry friction.*differ"),
        ({"payload": (2, 1)}, "2 to 1 is empty"),
        ({"payload": 2}, "2.*not a range"),
        ({"payload": ("1 m", "2 m")}, "length"),
        ({"wall": ("1 kg", "2 kg")}, "mass"),
        ({"shoulder": (1, 2)}, 'unknown parameter "shoulder"'),
    ],
)
def test_what_cannot_be_varied_is_refused_at_once(arm, vary, words):
    with pytest.raises(InputError, match=words):
        supple.reduce(arm, region=REGION, vary=vary, rigid=True)


def test_nominal_values_outside_the_range_and_limits_that_follow_are_said(arm):
    with pytest.warns(supple.SuppleWarning, match=r"payload.*outside its range 4 to 6.*payload=5"):
        space = parameter_space(arm, {"payload": (4, 6)})
    assert space.mechanism.values == (5.0,)
    with pytest.warns(supple.SuppleWarning, match="configurations, limits of shoulder change"):
        parameter_space(arm, {"stop": (0.9, 1.1), "payload": (1, 3)})


def test_a_branch_that_is_left_on_the_way_is_refused():
    text = """
supple: 1
name: two ways
plane: xz
parameters: {rise: 0.3}
points: {A: [0, 0], B: [0.5, 0], E: [0.8, rise], D: [1, 0]}
bodies:
  crank: {rod: [A, B], length: 0.5, mass: 1}
  coupler: {rod: [B, E], length: 0.5, mass: 1}
  follower: {rod: [D, E], length: 0.6, mass: 1}
joints: {A: {revolute: [ground, crank]}, B: {revolute: [crank, coupler]}, E: {revolute: [coupler, follower]},
  D: {revolute: [ground, follower]}}
actuators: {crank: {joint: A, limits: [-0.2, 0.2]}}
rest: {crank: 0}
"""
    space = parameter_space(loads(text), {"rise": (-0.3, 0.4)})
    with pytest.raises(InputError, match=r"loops.*branch"):
        require_one_branch(space, np.zeros(1))


@pytest.mark.slow
def test_eigenvalues_along_the_payload_are_those_of_the_family(flexible):
    (elbow,) = (0.5 * (low + high) for low, high in [REGION["elbow"]])
    here, step = flexible.at(payload=1.7), 0.01
    found = here.linearize([elbow], along=("payload",))
    near = [flexible.at(payload=1.7 + k * step).linearize([elbow]).eigenvalues for k in (-2, -1, 1, 2)]
    expected = (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / (12.0 * step)
    assert_allclose(found.eigenvalue_slopes["payload"], expected, rtol=0, atol=1e-6 * np.abs(expected).max())
