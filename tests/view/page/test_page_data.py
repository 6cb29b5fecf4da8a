"""What the page is given: the arrays that it computes with, and what it draws."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import supple
from supple.description.elastic.cross_section import CrossSection
from supple.kinematics.rest import rest
from supple.view.page.encoding import encode_data
from supple.view.page.page_data import page_data, page_mechanism, ranges
from supple.view.page.scene import list_stations, outline, place_motion

EXAMPLES = Path(__file__).parents[3] / "examples"
_TYPES = {"f4": "<f4", "f8": "<f8", "i2": "<i2", "i4": "<i4"}


def array(item):
    return np.frombuffer(base64.b64decode(item["data"]), dtype=_TYPES[item["type"]]).reshape(item["shape"])


@pytest.fixture(scope="module")
def arm():
    return supple.load(EXAMPLES / "ralf" / "mechanism.yaml")


@pytest.fixture(scope="module")
def data(arm):
    return page_data(arm, at="home")


def test_what_is_encoded_has_no_character_of_markup_and_comes_back(data):
    hostile = "</script><img src=x onerror=alert(1)>\"'"
    text = encode_data({**data, "name": hostile})
    assert not set(text) & set("<>\"'&")
    back = json.loads(gzip.decompress(base64.b64decode(text)))
    assert back["name"] == hostile
    assert back["coordinates"][0]["name"] == "lift"


def test_numbers_that_are_not_finite_are_null():
    text = encode_data({"a": [float("nan"), np.float64("inf"), 1.5], "b": np.array([1.0, np.nan])})
    assert json.loads(gzip.decompress(base64.b64decode(text))) == {"a": [None, None, 1.5], "b": [1.0, None]}


def test_places_are_those_of_assemble(arm, data):
    at = supple.assemble(arm, "home")
    numbering = at.rest.numbering
    assert [place["name"] for place in data["scene"]["places"]] == list(at.frames)
    for place in data["scene"]["places"]:
        x, R = at.X[place["body"], :3], at.X[place["body"], 3:].reshape(3, 3)
        world = numbering.mechanism.plane_axes() @ (x + R @ place["at"])
        np.testing.assert_allclose(world, at.frame(place["name"]).position, atol=1e-12)
    assert data["at"] == at.theta.tolist()


def test_coordinates_have_their_limits_or_a_range_about_rest(arm):
    assert [(item.low, item.high, item.limited) for item in ranges(rest(arm))] == [
        (0.85, 1.3, True),
        (0.76, 1.18, True),
    ]
    pendulum = rest(supple.load(EXAMPLES / "pendulum" / "mechanism.yaml"))
    (free,) = ranges(pendulum)
    assert not free.limited
    assert free.low < pendulum.theta[0] < free.high


@pytest.mark.parametrize("name", ["ralf", "flexible-four-bar"])
def test_energy_along_beams_is_the_energy_of_the_body(name):
    """∫ ½|strain z|² over all beams is ½ zᵀΛz: curvature is linear on an element, Simpson's 3/8 rule exact."""
    rest_, *_ = page_mechanism(rest(supple.load(EXAMPLES / name / "mechanism.yaml")))
    for body in rest_.bodies:
        if body.mesh is None:
            continue
        z = np.random.default_rng(0).normal(size=body.size) / np.sqrt(1.0 + body.stiffness)
        total = 0.0
        for part in list_stations(rest_, body):
            at, strain = array(part["at"]), array(part["strain"]).astype(float)
            density = 0.5 * np.square(strain @ z).sum(axis=1).reshape(-1, 4)
            length = np.linalg.norm(at.reshape(-1, 4, 3)[:, 3] - at.reshape(-1, 4, 3)[:, 0], axis=1)
            total += float((density @ np.array([1.0, 3.0, 3.0, 1.0]) / 8.0) @ length)
        assert total == pytest.approx(0.5 * z @ (body.stiffness * z), rel=2e-5)  # strains are kept in single precision


def test_stations_at_nodes_move_as_the_nodes(arm):
    rest_, *_ = page_mechanism(rest(arm))
    body = next(item for item in rest_.bodies if item.mesh is not None)
    (part,) = list_stations(rest_, body)
    at, motion = array(part["at"]), array(part["motion"])
    for place, node in body.mesh.places.items():
        here = np.flatnonzero(np.linalg.norm(at - np.array(place), axis=1) < 1e-9)
        if len(here):
            exact = place_motion(rest_, rest_.numbering.body_index(body.name), np.array(place))
            np.testing.assert_allclose(motion[here[0]], exact, atol=1e-5 * np.abs(exact).max())
            assert body.mesh.node_at(np.array(place)) == node


def test_a_rigid_mechanism_says_why_it_has_no_modes():
    found = page_data(supple.load(EXAMPLES / "orthoglide" / "mechanism.yaml"))
    assert found["vibration"] is None
    assert "elastic" in found["still"]
    assert [part["kind"] for body in found["scene"]["bodies"] for part in body["parts"]].count("solid") >= 6


def test_a_mechanism_without_coordinates_has_a_page():
    text = "supple: 1\nplane: xz\npoints: {O: [0, 0], P: [1, 0]}\nbodies: {bar: {rod: [O, P], mass: 1}}\n"
    found = page_data(supple.loads(text + "joints: {O: {revolute: [ground, bar]}}\n"))
    assert found["coordinates"] == []
    assert found["kinematics"]["rest"]["Psi"]["shape"] == [0]


@pytest.mark.parametrize(
    ("section", "area"),
    [
        ({"rectangle": (0.02, 0.05)}, 1e-3),
        ({"box": (0.1, 0.2, 0.01)}, 0.0056),
        ({"i_beam": (0.1, 0.2, 0.01, 0.008)}, 0.00344),
    ],
)
def test_an_outline_encloses_the_area_of_its_section(section, area):
    found = outline(CrossSection(**section))

    def enclosed(points):
        y, z = np.array(points).T
        return 0.5 * abs(float(y @ np.roll(z, -1) - z @ np.roll(y, -1)))

    assert enclosed(found["outer"]) - (enclosed(found["inner"]) if "inner" in found else 0.0) == pytest.approx(area)


def test_boxes_of_a_reduced_model_with_their_errors(arm):
    region = {"lift": (1.05, 1.2), "elbow": (0.9, 1.0)}
    model = supple.reduce(
        arm, region=region, checks=200, internal_modes=1, boxes=(2, 1), fit="quadratic", progress=False
    )
    found = page_data(model)["model"]
    assert array(found["low"]).shape == (2, 2)
    errors = array(found["errors"]["frequencies"])
    assert errors.shape == (2,)
    assert 0.0 < errors.max() <= 1.5 * model.error["frequencies"]  # other points than those the statement is from
    units = {column["label"]: column["unit"] for column in found["function"]["columns"]}
    assert units["M of lift, lift"] == "kg"
    assert units["K of mode1, mode1"] == "1/s²"
    assert units["p along lift"] == "N"
    taken = [model.layout.columns[c["coefficient"]][0] + c["place"] for c in found["function"]["columns"]]
    assert_same = np.testing.assert_array_equal
    assert_same(array(found["function"]["coefficients"]), model.fitted.arrays.coefficients[:, taken])
