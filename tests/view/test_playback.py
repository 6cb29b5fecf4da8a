"""Runs and measured modes as the page gets them: bodies and nodes are where they were."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.diagnostics import InputError
from supple.results.channel import Channel
from supple.view.movie import mode_movie, run_movie
from supple.view.page.page_modes import PageModes, measured_section, points_alone, read_measured
from supple.view.page.played_motion import playback_motion, read_run, saved_run
from supple.view.page.whole_page import quaternions, run_section, whole_page
from supple.view.view_page import ShownPage, view_page

ARM = """
supple: 1
name: arm
gravity: [0, 0, -9.81]
materials: {steel: {youngs_modulus: 2.1e11, poisson: 0.3, density: 7800}}
sections: {bar: {rectangle: [20 mm, 4 mm]}}
points: {A: [0, 0, 0], B: [0.5, 0, 0]}
bodies: {arm: {beam: [A, B], section: bar, material: steel, elements: 2, up: z}}
joints: {A: {revolute: [ground, arm], axis: -y}}
actuators: {A: {joint: A, limits: [-1, 1]}}
sensors: {tip: {position: B}}
"""


@pytest.fixture(scope="module")
def arm():
    return supple.loads(ARM)


@pytest.fixture(scope="module")
def full(arm):
    return supple.simulate(arm, until=0.1, step=1e-3)


@pytest.fixture(scope="module")
def model(arm):
    return supple.reduce(arm, region={"A": (-0.9, 0.3)}, checks=200, internal_modes=2, fit="chebyshev", boxes=[2])


def _tip(motion, mechanism):
    """(n, 3) of the last node, from the pose of the body and its displacement."""
    X, u = motion.X[:, 0], motion.nodes["arm"][:, -1, :3]
    return X[:, :3] + np.einsum("nij,nj->ni", X[:, 3:].reshape(-1, 3, 3), np.array([0.5, 0.0, 0.0]) + u)


def test_a_run_of_the_mechanism_is_where_it_was(arm, full, tmp_path):
    motion = playback_motion(read_run(full.save(tmp_path / "full.npz")), arm)
    assert motion.kind == "full"
    assert_allclose(_tip(motion, arm)[:, 2], full.outputs["tip.z"], atol=1e-6)  # single precision in the file


def test_a_run_of_the_model_deforms_as_its_modes_say(arm, model, tmp_path):
    run = model.simulate(np.linspace(0.0, 0.1, 51))
    motion = playback_motion(read_run(run.save(tmp_path / "reduced.npz")), arm)
    assert motion.kind == "reduced"
    tip = _tip(motion, arm)
    # Outputs of the model are fitted: to about 1e-3 of what deforms.
    bent = np.abs(motion.nodes["arm"]).max()
    assert bent > 1e-4
    assert_allclose(tip[:, 2], run.outputs["tip.z"], atol=0.01 * bent)
    assert saved_run(run).mechanism() == arm


def test_a_table_of_coordinates_is_played_without_deformation(arm, tmp_path):
    (tmp_path / "run.csv").write_text("time,A\n0,0\n1,0.5\n")
    motion = playback_motion(read_run(tmp_path / "run.csv"), arm)
    assert motion.kind == "rigid"
    assert "arm" in motion.note
    assert_allclose(motion.X[1, 0], supple.assemble(arm, {"A": 0.5}).X[0])


def test_two_runs_and_their_signals_are_in_the_page(arm, full, model):
    page = whole_page(full, runs=[model.simulate(np.linspace(0.0, 0.1, 51))])
    assert [run["kind"] for run in page["runs"]] == ["full", "reduced"]
    names = {signal["name"]: signal for signal in page["runs"][0]["signals"]}
    assert names["tip.z"]["unit"] == "m"
    assert names["tip.z"]["group"] == "output"
    assert names["A"]["group"] == "coordinate"
    assert names["kinetic"]["group"] == "energy"
    assert page["name"] == "arm"


def test_more_than_two_runs_are_refused(full):
    with pytest.raises(InputError, match="runs: 3 runs were given"):
        whole_page(full, runs=[full, full])


def test_quaternions_do_not_jump():
    angles = np.linspace(0.0, 4.0 * np.pi, 50)
    c, s = np.cos(angles), np.sin(angles)
    zero, one = 0.0 * c, 0.0 * c + 1.0
    X = np.stack([zero, zero, zero, c, -s, zero, s, c, zero, zero, zero, one], axis=1)[:, None]
    q = quaternions(X)
    assert np.abs(np.diff(q, axis=0)).max() < 0.2
    assert_allclose(np.linalg.norm(q, axis=-1), 1.0)


def _saved(path, **changes):
    arrays = {"time": np.array([0.0, 1.0]), "A": np.array([0.0, 0.1])} | changes
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize(("changes", "said"), [
    ({"playback.poses": np.zeros((2, 1, 12)), "playback.time": np.zeros(2)}, "not a run of"),
    ({"A": np.array(["x", "y"])}, "no column"),
    ({"playback.model": np.array(["{"]), "playback.coordinates": np.zeros((2, 1)), "playback.time": np.zeros(2)},
     "cannot be read"),
])  # fmt: skip
def test_what_is_no_run_of_it_is_told(arm, tmp_path, changes, said):
    run = read_run(_saved(tmp_path / "run.npz", **changes))
    with pytest.raises(InputError, match=said):
        run_section(run, arm)


@pytest.mark.parametrize("text", ["", "time,A\n", "time,A\n0,0\n0,1\n", "time,A\n0,x\n", "A\n1\n", "time,A\n0\n"])
def test_a_table_that_is_none_is_told(tmp_path, text):
    (tmp_path / "run.csv").write_text(text)
    with pytest.raises(InputError, match="supple simulate -o"):
        read_run(tmp_path / "run.csv")


def test_a_file_that_would_run_code_is_refused(tmp_path):
    np.savez(tmp_path / "run.npz", time=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="cannot be read as a run"):
        read_run(tmp_path / "run.npz")


# ---------------------------------------------------------------------------------------------- measured modes


def test_measured_modes_are_drawn_at_the_points_of_the_test(arm, tmp_path):
    file = tmp_path / "modal.json"
    file.write_text(json.dumps({
        "responses": ["B.z", "B.-y"], "frequencies_hz": [20.0], "damping": [0.01],
        "shapes": {"real": [[1.0, 0.5]], "imag": [[0.0, 0.25]]},
    }))  # fmt: skip
    section = measured_section(read_measured(file), arm, {"A": 0.5})
    (point,) = section["points"]
    assert_allclose(point["place"], supple.assemble(arm, {"A": 0.5}).frame("B").position, atol=1e-12)
    assert_allclose(point["local"], [0.5, 0.0, 0.0], atol=1e-12)
    values = np.frombuffer(base64.b64decode(section["real"]["data"]), "<f4")
    assert_allclose(values, [0.0, -0.5, 1.0], atol=1e-7)
    assert section["coordinates"] == {"A": 0.5}


def test_modes_in_a_universal_file_are_matched_by_where_their_nodes_are(arm, tmp_path):
    pytest.importorskip("pyuff", reason="pyuff is not installed")
    from supple.formats.measurements.universal_file import write_universal
    from supple.formats.measurements.universal_modes import universal_modes

    channels = (Channel("3", "z", "displacement", (0.5, 0.0, 0.0)), Channel("9", "z", "displacement", (0.25, 0.0, 0.0)))
    poles, shapes = np.array([-1.0 + 100.0j]), np.array([[1.0 + 0j, 0.5]])
    file = tmp_path / "modes.uff"
    write_universal(file, universal_modes(channels, poles, shapes, "arm"))
    section = measured_section(read_measured(file), arm, {"A": 0.0})
    assert [point["name"] for point in section["points"]] == ["tip", "arm[0.5]"]
    assert_allclose(section["frequencies_hz"], np.abs(poles) / (2.0 * np.pi), rtol=1e-6)


def test_a_test_alone_is_drawn_on_its_points():
    channels = tuple(
        Channel(point, axis, position=(x, 0.5, 1.0)) for point, x in (("7", 0.0), ("a", 2.0)) for axis in "xz"
    )
    test = PageModes("test.uff", np.array([10.0]), np.array([0.02]), channels, np.array([[1.0, 2.0, 3.0, 4.0j]]))
    mechanism, named = points_alone(test)
    section = measured_section(named, mechanism)
    assert [point["name"] for point in section["points"]] == ["p7", "a"]
    assert_allclose([point["place"] for point in section["points"]], [[0.0, 0.5, 1.0], [2.0, 0.5, 1.0]], atol=1e-12)
    with pytest.raises(InputError, match='point "7" is unknown'):
        points_alone(replace(test, channels=tuple(one.copy_with(position=None) for one in channels)))


def test_modes_that_cannot_be_read_are_told(tmp_path):
    (tmp_path / "modal.json").write_text('{"responses": ["B.z"], "frequencies_hz": [1], "damping": [], "shapes": 1}')
    with pytest.raises(InputError, match="supple modal -o"):
        read_measured(tmp_path / "modal.json")


# ---------------------------------------------------------------------------------------------- movies


def _frames(path):
    from PIL import Image

    with Image.open(path) as movie:
        for k in range(movie.n_frames):
            movie.seek(k)
            yield np.asarray(movie.convert("L")).astype(int)


def test_a_movie_of_a_mode_moves_and_comes_back(arm, tmp_path):
    pictures = list(_frames(mode_movie(tmp_path / "mode.gif", arm, mode=1, pictures=4)))
    assert len(pictures) == 4
    moved = [int((np.abs(one - pictures[0]) > 40).sum()) for one in pictures]
    assert moved[1] > 200  # sin: 0, 1, 0, -1
    assert moved[3] > 200
    assert moved[2] == 0


def test_a_movie_of_a_run_shows_both(arm, full, tmp_path):
    motion = playback_motion(saved_run(full), arm)
    pictures = list(_frames(run_movie(tmp_path / "run.gif", arm, [motion, motion], pictures=3)))
    assert len(pictures) == 3
    assert (np.abs(pictures[2] - pictures[0]) > 40).sum() > 200


def test_a_movie_is_also_an_mp4(arm, full, tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    file = run_movie(tmp_path / "run.mp4", arm, [playback_motion(saved_run(full), arm)], pictures=3)
    assert file.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("name", "mode", "said"), [("x.avi", 1, "must end in .gif or .mp4"), ("x.gif", 99, "no mode 99")]
)
def test_what_is_no_movie_is_told(arm, tmp_path, name, mode, said):
    with pytest.raises(InputError, match=said):
        mode_movie(tmp_path / name, arm, mode=mode, pictures=2)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------- from Python


def test_view_serves_the_page_and_stops(bundle, arm, tmp_path):
    from urllib.request import urlopen

    shown = view_page(arm, browser=False, wait=False)
    try:
        with urlopen(shown.address) as answer:
            assert answer.read().decode() == shown.html
        assert "arm" in repr(shown)
        assert shown.save(tmp_path / "page.html").read_text(encoding="utf-8") == shown.html
    finally:
        shown.close()
    assert shown.address == ""


def test_in_a_notebook_it_shows_itself(bundle, arm, monkeypatch):
    monkeypatch.setattr("supple.view.view_page.in_notebook", lambda: True)
    shown = arm.view()
    assert shown.address == ""
    html = shown._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 'sandbox="allow-scripts' in html


def test_names_in_a_frame_stay_inside_it():
    assert '"><script>' not in ShownPage("x", '"><script>')._repr_html_()
