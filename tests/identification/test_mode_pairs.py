"""Which measured mode is which of a model's."""

from pathlib import Path

import numpy as np
import pytest
from known_modes import few_modes
from numpy.testing import assert_allclose

import supple
from supple.identification.modal_parameters.pairing import principal_angles
from supple.modal_analysis.ports import channel_ports

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def measured():
    return supple.modal_parameters(few_modes().measured(np.arange(5.0, 90.0, 0.25)))


def test_modes_are_paired_by_shape_where_frequencies_are_swapped(measured):
    known = few_modes()
    order = [0, 2, 1, 3]  # the model has the neighbours the other way round
    pairs = supple.pair_modes(measured, (known.frequencies_hz * 1.02, known.shapes[order]), close=1e-3)
    assert [(pair.measured, pair.model) for pair in pairs] == [((i,), (order.index(i),)) for i in range(4)]
    assert min(pair.mac for pair in pairs) > 0.999
    assert pairs.unpaired_measured == pairs.unpaired_model == ()


def test_close_modes_are_paired_as_planes(measured):
    """Any two shapes of a plane: a turn by 40° halves the MAC of each, and changes nothing of the plane."""
    known, turn = few_modes(), np.radians(40.0)
    unit = known.shapes / np.linalg.norm(known.shapes, axis=1, keepdims=True)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    shapes = np.vstack([unit[0], R @ unit[1:3], unit[3]])
    pairs = supple.pair_modes(measured, (np.array([20.0, 34.0, 34.1, 60.0]), shapes), close=0.1)
    plane = pairs.pairs[1]
    assert plane.measured == plane.model == (1, 2)
    assert_allclose(plane.angles, 0.0, atol=1e-3)
    assert pairs.cross_mac[1, 1] < 0.7


def test_one_measured_shape_in_the_plane_of_two(measured):
    """A blow excites one shape of a double mode: it lies in the plane of the model's two."""
    known = few_modes()
    across = np.random.default_rng(3).standard_normal(6)
    shapes = np.vstack([known.shapes[0] + across, known.shapes[0] - across, known.shapes[1:]])
    pairs = supple.pair_modes(measured, (np.array([20.0, 20.0, 33.0, 35.0, 60.0]), shapes))
    assert pairs.pairs[0].measured == (0,)
    assert pairs.pairs[0].model == (0, 1)
    assert pairs.pairs[0].mac > 0.999


def test_what_has_no_counterpart_stays_alone(measured):
    known = few_modes()
    pairs = supple.pair_modes(measured, (known.frequencies_hz[[0, 3]] * [1.0, 2.0], known.shapes[[0, 3]]))
    assert [(pair.measured, pair.model) for pair in pairs] == [((0,), (0,))]
    assert pairs.unpaired_measured == (1, 2, 3)
    assert pairs.unpaired_model == (1,)


def test_principal_angles_are_those_of_planes():
    a = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    b = np.array([[1.0, 1.0, 0.0], [0.0, np.sin(0.3), np.cos(0.3)]])
    normal = np.cross(b[0], b[1])
    between = np.arccos(np.abs(normal[2]) / np.linalg.norm(normal))  # of the planes, from their normals
    assert_allclose(principal_angles(a, b), [0.0, between], atol=1e-7)
    assert_allclose(principal_angles(a, a[::-1] * 3.0), 0.0, atol=1e-7)


def test_modes_of_a_mechanism_at_measured_channels():
    """A displacement of each mode at a sensor's place, along and against its direction, is that of its nodes."""
    arm = supple.load(EXAMPLES / "ralf" / "mechanism.yaml")
    modes = supple.modes(arm, "home", count=3)
    channels = [supple.Channel("tip", "z"), supple.Channel("tip", "-z"), supple.Channel("tip", (0.6, 0.0, 0.8))]
    shapes, along = (
        modes.shapes @ channel_ports(modes.rest.numbering, given).rows(modes.rest, modes.configuration.X).T
        for given in (channels, [supple.Channel("tip", "x")])
    )
    x = along[:, 0]
    assert_allclose(shapes[:, 1], -shapes[:, 0])
    assert_allclose(shapes[:, 2], 0.6 * x + 0.8 * shapes[:, 0], atol=1e-12)


def test_shapes_of_another_length_are_refused(measured):
    with pytest.raises(supple.InputError, match="5 entries"):
        supple.pair_modes(measured, ([20.0], np.ones((1, 5))))
