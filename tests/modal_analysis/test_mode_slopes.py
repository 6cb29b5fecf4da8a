"""Natural frequencies along parameters of the file, against differences of mechanisms that are read again."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formats.mechanism_file import loads
from supple.formats.varied_mechanism import vary_mechanism
from supple.formulations.elastic_rest.dense import dense_modes
from supple.formulations.elastic_rest.elastic_rest import elastic_rest
from supple.kinematics.closure import assemble

EXAMPLES = Path(__file__).parents[2] / "examples"
WHOLE = 1e9  # Hz: nothing is condensed, so that differences see no error of condensing

TWINS = """
supple: 1
name: twins
parameters: {height: 0.5, along: 1e5, across: 1e5, heavy: 2}
points: {O: [0, 0, 0], P: [0, 0, height], Q: [0, 0, 1]}
materials: {steel: {youngs_modulus: 210e9, density: 7800}}
sections: {rod: {circle: 20 mm}}
bodies:
  rod: {beam: [P, Q], section: rod, material: steel, elements: 4}
  foot: {mass: 1, inertia: [0.01, 0.01, 0.01], at: O}
joints:
  O: {prismatic: [ground, foot], axis: [0, 0, 1]}
  P: {weld: [foot, rod], stiffness: {x: along, y: across, z: 1e6, rx: 4e4, ry: 4e4, rz: 1e4}}
point_masses: {end: {at: rod.Q, mass: heavy}}
actuators: {lift: {joint: O}}
"""


def squares(mechanism, theta, count, preload=True, locked=True):
    """ω² of the lowest modes, bodies not condensed."""
    rest = elastic_rest(mechanism, WHOLE)
    return dense_modes(rest, assemble(mechanism, theta), rest.list_held_rows(actuators=locked), preload=preload)[0][
        :count
    ]


def extrapolated(mechanism, name, theta, count, **options):
    at = mechanism.parameters[name]

    def central(h):
        above, below = (
            squares(vary_mechanism(mechanism, {name: at + side * h}), theta, count, **options) for side in (1.0, -1.0)
        )
        return (above - below) / (2.0 * h)

    coarse, fine, finest = (central(4e-3 * at / k) for k in (1.0, 2.0, 4.0))
    return (16.0 * (4.0 * finest - fine) - (4.0 * fine - coarse)) / 45.0


@pytest.fixture(scope="module")
def ralf():
    return supple.load(EXAMPLES / "ralf" / "mechanism.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("preload", [True, False])
@pytest.mark.parametrize("name", ["payload", "link"])
def test_a_payload_and_lengths_of_an_arm(ralf, name, preload):
    theta = [1.1, 0.95]
    found = supple.modes(ralf, theta, count=4, along=name, preload=preload)
    expected = extrapolated(ralf, name, theta, 4, preload=preload)
    assert_allclose(found.eigenvalue_slopes[name], expected, rtol=1e-7)
    hertz = found.frequencies_hz
    assert_allclose(found.frequency_slopes[name], expected / (8.0 * np.pi**2 * hertz), rtol=1e-6)


def test_free_actuators_under_gravity(ralf):
    theta = [1.1, 0.95]
    found = supple.modes(ralf, theta, count=5, along="payload", free_actuators=True)
    expected = extrapolated(ralf, "payload", theta, 5, locked=False)
    assert_allclose(found.eigenvalue_slopes["payload"], expected, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("preload", [True, False])
def test_drives_and_links_that_yield(preload):
    name = "upper"
    arm = supple.load(EXAMPLES / "serial-flexible" / "mechanism.yaml")
    theta = assemble(arm).theta + 0.2
    found = supple.modes(arm, theta, count=3, along=name, preload=preload)
    expected = extrapolated(arm, name, theta, 3, preload=preload)
    size = np.square(2.0 * np.pi * found.frequencies_hz) / arm.parameters[name]
    assert_allclose(found.eigenvalue_slopes[name], expected, rtol=1e-6, atol=1e-8 * size.max())


def test_shapes_along_a_payload(ralf):
    theta, step = [1.1, 0.95], 0.06
    found = supple.modes(ralf, theta, count=2, along=("payload",))

    def shapes(payload):
        moved = supple.modes(vary_mechanism(ralf, {"payload": payload}), theta, count=2).displacements("link2")
        return moved * np.sign(np.sum(moved * found.displacements("link2"), axis=1))[:, None]

    expected = (shapes(12.0 + step) - shapes(12.0 - step)) / (2.0 * step)
    got = found.displacement_slopes("link2", "payload")
    assert np.abs(got - expected).max() < 2e-4 * np.abs(expected).max()  # of the differences, and of condensing


def test_twins_part_as_a_parameter_says():
    rod = loads(TWINS)
    found = supple.modes(rod, [0.0], count=2, along=("across", "heavy"))
    one, two = found.frequencies_hz
    assert abs(two / one - 1.0) < 1e-9
    # x does not see `across`, y does: one branch stays, the other rises
    still, rising = found.eigenvalue_slopes["across"]
    assert abs(still) < 1e-7 * rising
    step = 100.0
    above = squares(vary_mechanism(rod, {"across": 1e5 + step}), [0.0], 2)
    below = squares(vary_mechanism(rod, {"across": 1e5 - step}), [0.0], 2)
    assert_allclose(rising, (above[1] - below[0]) / (2.0 * step), rtol=1e-5)
    together = found.eigenvalue_slopes["heavy"]
    assert_allclose(together, together.mean(), rtol=1e-6)


def test_what_is_refused(ralf):
    with pytest.raises(supple.InputError, match=r'unknown parameter "paylod".*payload'):
        supple.modes(ralf, along=("paylod",))
    with pytest.raises(supple.InputError, match=r'"payload": the mechanism does not depend on it; .*changed in Python'):
        supple.modes(ralf.replace(name="other"), along=("payload",))


def test_a_mechanism_built_in_python_has_slopes_along_its_parameters():
    bar = {"beam": ("O", "P"), "section": "bar", "material": "steel", "elements": 2}
    cantilever = supple.Mechanism(
        parameters={"tip": 0.5}, plane="xz", points={"O": [0, 0], "P": [1, 0]},
        materials={"steel": {"youngs_modulus": 210e9, "density": 7850}}, sections={"bar": {"rectangle": [0.02, 0.02]}},
        bodies={"bar": bar}, joints={"O": {"weld": ("ground", "bar")}},
        point_masses={"tip": {"at": "bar.P", "mass": "2*tip"}},
    )  # fmt: skip
    found = supple.modes(cantilever, count=1, along="tip").eigenvalue_slopes["tip"]
    near = [squares(vary_mechanism(cantilever, {"tip": 0.5 + k * 0.01}), [], 1)[0] for k in (-2, -1, 1, 2)]
    assert_allclose(found[0], (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / 0.12, rtol=1e-5)


@pytest.mark.parametrize("options", [{"rigid": True, "drives": False}, {"internal_modes": 2}])
def test_linear_models_along_a_payload(ralf, options):
    theta, step = [1.1, 0.95], 0.24
    found = supple.linearize(ralf, theta, along="payload", **options)
    near = [
        supple.linearize(vary_mechanism(ralf, {"payload": 12.0 + k * step}), theta, **options) for k in (-2, -1, 1, 2)
    ]
    for matrix in "ABCD":
        values = [getattr(item, matrix) for item in near]
        expected = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
        atol = 1e-6 * np.abs(expected).max() + 1e-11 * np.abs(values[0]).max()
        assert_allclose(getattr(found.slopes["payload"], matrix), expected, rtol=0, atol=atol, err_msg=matrix)
    values = [item.eigenvalues for item in near]
    expected = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * step)
    assert_allclose(found.eigenvalue_slopes["payload"], expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_a_local_model_along_a_payload(ralf):
    """Internal modes are the modes with locked actuators and without loads: two ways to one slope."""
    theta = [1.1, 0.95]
    local = supple.local(ralf, theta, internal_modes=2, along="payload", preload=False).slopes["payload"]
    modes = supple.modes(ralf, theta, count=2, along="payload", preload=False)
    assert_allclose(np.diag(local["K"])[2:], modes.eigenvalue_slopes["payload"], rtol=1e-6)
    rigid = supple.local(ralf, theta, rigid=True, along="payload").slopes["payload"]
    assert_allclose(local["M"][:2, :2], rigid["M"], rtol=0, atol=1e-9 * np.abs(rigid["M"]).max())
    assert_allclose(local["force"][:2], rigid["force"], rtol=0, atol=1e-9 * np.abs(rigid["force"]).max())
    built = ralf.replace(name="built in Python")  # which needs no parameters where none are asked for
    assert not supple.local(built, theta, internal_modes=1).slopes
