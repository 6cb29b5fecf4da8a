"""Sensors, actuators, dampers and friction act along lengths and angles: their maps against differences of those."""

import numpy as np
from differences import CLOSE, gradient, largest
from drawn_parts import COORDINATES, by_coordinate
from numpy.testing import assert_allclose

from supple.kinematics.closure import assemble
from supple.parameterization.local_model import local


def measured(case, part):
    """The joint coordinate or distance a part acts along, for a batch of θ, from the assembled frames."""

    def length(thetas):
        found = assemble(case.mechanism, thetas)
        if "between" in part:
            first, second = (found.frame(name).position for name in part["between"])
            return np.linalg.norm(second - first, axis=-1)
        return found.joint_coordinates[part["joint"]]

    return length


def joint_field(parts, field):
    """({"joint": reference}, value) of every joint coordinate with that field."""
    for name, joint in parts["joints"].items():
        kind = next(key for key in COORDINATES if key in joint)
        for coordinate, value in by_coordinate(joint.get(field), kind):
            yield {"joint": name if len(COORDINATES[kind]) == 1 else f"{name}.{coordinate}"}, value


def test_outputs_are_where_the_frames_are(any_case):
    thetas = any_case.thetas(3)
    found = assemble(any_case.mechanism, thetas)
    outputs = local(any_case.mechanism, thetas).outputs
    sensors, P = any_case.parts["sensors"], any_case.mechanism.plane_axes()
    place = found.frame(sensors["place"]["position"]).position
    letters = any_case.parts.get("plane", "xyz")
    for letter in letters:
        # one rounding of a place of about a metre
        assert_allclose(outputs[f"place.{letter}"].value, place[:, "xyz".index(letter)], atol=1e-14)
    axis = np.array(sensors["level"]["axis"])
    axis = P[:, : len(axis)] @ axis / np.linalg.norm(axis)
    assert_allclose(outputs["level"].value, found.frame(sensors["level"]["position"]).position @ axis, atol=1e-14)
    for name in ("opening", "range"):
        assert_allclose(outputs[name].value, measured(any_case, sensors[name])(thetas), atol=1e-14)
    assert set(outputs) == {*(f"place.{letter}" for letter in letters), "level", "opening", "range"}


def test_slope_and_bend_of_outputs_are_differences_of_their_values(any_case):
    for theta in any_case.thetas(2):
        outputs = local(any_case.mechanism, theta).outputs
        names = list(outputs)

        def values(thetas, names=names):
            found = local(any_case.mechanism, thetas).outputs
            return np.stack([found[name].value for name in names], axis=-1)

        def slopes(thetas, names=names):
            found = local(any_case.mechanism, thetas).outputs
            return np.stack([found[name].rigid for name in names], axis=-2)

        rigid, bend = gradient(values, theta), gradient(slopes, theta)
        for i, name in enumerate(names):
            assert_allclose(outputs[name].rigid, rigid[i], atol=CLOSE * largest(rigid))
            assert_allclose(outputs[name].bend, bend[i], atol=CLOSE * largest(bend, rigid))
            assert outputs[name].modes.shape == (0,)


def test_bend_of_an_output_is_symmetric(any_case):
    for output in local(any_case.mechanism, any_case.thetas(2)).outputs.values():
        # second derivatives through two solves: rounding times the square of the condition
        assert_allclose(output.bend, output.bend.swapaxes(1, 2), atol=1e-10 * max(1.0, largest(output.bend)))


def test_input_map_is_the_slope_of_the_actuators_coordinate(any_case):
    theta = any_case.thetas(1)[0]
    model = local(any_case.mechanism, theta)
    assert model.inputs == tuple(any_case.parts["actuators"])
    for i, name in enumerate(model.inputs):
        slope = gradient(measured(any_case, any_case.parts["actuators"][name]), theta)
        assert_allclose(model.input_map[:, i], slope, atol=CLOSE * max(1.0, largest(slope)))
        if name in model.coordinates:
            unit = np.eye(len(theta))[model.coordinates.index(name)]
            assert_allclose(model.input_map[:, i], unit, atol=1e-12)  # rounding times the condition


def test_damping_is_the_sum_of_coefficients_times_slopes(any_case):
    theta = any_case.thetas(1)[0]
    dampers = [(part, part["damping"]) for part in any_case.parts["dampers"].values()]
    total = np.zeros((len(theta), len(theta)))
    for part, coefficient in [*dampers, *joint_field(any_case.parts, "viscous")]:
        slope = gradient(measured(any_case, part), theta)
        total += coefficient * np.outer(slope, slope)
    assert len(list(joint_field(any_case.parts, "viscous"))) == 1
    assert_allclose(local(any_case.mechanism, theta).damping, total, atol=CLOSE * largest(total))


def test_friction_map_is_the_slope_of_joints_with_dry_friction(any_case):
    theta = any_case.thetas(1)[0]
    model = local(any_case.mechanism, theta)
    joints = list(joint_field(any_case.parts, "dry"))
    assert list(model.dry_forces.values()) == [value for _, value in joints]
    for row, (part, _) in zip(model.friction_map, joints, strict=True):
        slope = gradient(measured(any_case, part), theta)
        assert_allclose(row, slope, atol=CLOSE * max(1.0, largest(slope)))


def test_a_local_model_of_a_batch_is_the_same_bit_for_bit(any_case):
    thetas = any_case.thetas(70)  # more than one piece on several cores
    batch = local(any_case.mechanism, thetas)
    shuffled = np.random.default_rng(3).permutation(len(thetas))
    mixed = local(any_case.mechanism, thetas[shuffled])
    fields = ("M", "dM", "christoffel", "force", "dforce", "potential", "damping", "input_map", "friction_map")
    for field in fields:
        assert np.array_equal(getattr(batch, field)[shuffled], getattr(mixed, field))
    for n in (0, 34, 69):
        single = local(any_case.mechanism, thetas[n])
        for field in fields:
            assert np.array_equal(getattr(batch, field)[n], getattr(single, field))
        for name, output in single.outputs.items():
            for one, many in zip(output, batch.outputs[name], strict=True):
                assert np.array_equal(many[n], one)
