"""Every example runs, draws its picture, and shows the number it is there for."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from figures import measured_tables, unprinted
from numpy.testing import assert_allclose

import supple

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(folder.name for folder in EXAMPLES.iterdir() if (folder / "mechanism.yaml").is_file())


def mechanism(name: str) -> supple.Mechanism:
    return supple.load(EXAMPLES / name / "mechanism.yaml")


def study(name: str) -> dict:
    """What the example's study defines."""
    return runpy.run_path(str(EXAMPLES / name / "study.py"))


def of_largest(found, reference) -> float:
    """Largest difference over the largest entry of the reference."""
    return float(np.abs(np.asarray(found) - reference).max() / np.abs(reference).max())


@pytest.mark.parametrize("name", NAMES)
def test_study_runs_and_draws(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["study.py", "--output", str(tmp_path / "results")])
    runpy.run_path(str(EXAMPLES / name / "study.py"), run_name="__main__")
    picture = (tmp_path / "results" / "picture.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000  # not an empty page
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) > 3
    tables = measured_tables((EXAMPLES / name / "README.md").read_text("utf-8"))
    assert unprinted(tables, printed) == []  # figures in its README are those that it prints


def test_a_figure_that_is_not_printed_is_found():
    readme = "# A\n\n## Numbers\n\n| a | b |\n|---|---|\n| 1.2e-3 | 4912 |\n| 0.21 % | 15.81 |\n"
    assert unprinted(measured_tables(readme), "0.00118 and 4912; 0.212% of 15.8107") == []
    assert unprinted(measured_tables(readme), "0.0013, 491; 0.3% of 16") == ["1.2e-3", "4912", "0.21 %", "15.81"]
    assert not measured_tables(readme.replace("Numbers\n", "Control\n\n    python examples/a/control.py\n"))


@pytest.mark.parametrize("name", NAMES)
def test_example_is_complete(name):
    folder = EXAMPLES / name
    text = (folder / "README.md").read_text("utf-8")
    assert "![" in text
    assert "(picture.png)" in text
    assert f"supple check {name}" in text
    assert (folder / "picture.png").stat().st_size < 150_000  # the repository stays light
    assert mechanism(name).name == name
    assert mechanism(name).description


@pytest.mark.parametrize(
    "picture", sorted(EXAMPLES.glob("*/*.png")), ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_pictures_are_wide_enough_to_read(picture):
    head = picture.read_bytes()[16:24]
    assert int.from_bytes(head[:4], "big") >= 1600  # pixels
    assert picture.stat().st_size < 150_000


def test_four_bar_inertia():
    reference = {-1.2: 0.0705966783, 0.0: 0.172774478, 0.7: 0.0459804818}
    M = supple.local(mechanism("four-bar"), np.array([*reference])[:, None]).M[:, 0, 0]
    assert_allclose(M, [*reference.values()], rtol=0, atol=6e-10)  # printed to nine decimals


def test_four_bar_locks_where_coupler_and_follower_stretch():
    four_bar = mechanism("four-bar")
    p = four_bar.parameters
    reach = p["coupler"] + p["follower"]
    dead = np.arccos((p["ground"] ** 2 + p["crank"] ** 2 - reach**2) / (2 * p["ground"] * p["crank"]))
    assert round(dead, 2) == 1.80  # as printed
    found = study("four-bar")["find_dead_points"](four_bar)
    assert_allclose(found, [-dead, dead], atol=1e-4)  # closure halts a little before the point itself


def test_redundant_torques():
    four_bar, example = mechanism("four-bar-redundant"), study("four-bar-redundant")
    tolerance = 0.1  # N m: references have one decimal and are peaks over samples
    alone = example["divided"](four_bar, "torque")[1]
    assert_allclose([alone.largest["A"], alone.least["A"]], [203.5, -232.7], atol=tolerance)
    for objective, peaks in (("torque", {2: 98.3, 3: 93.3, 4: 79.5}), ("peak", {2: 89.9, 3: 76.8, 4: 58.5})):
        found = example["divided"](four_bar, objective)
        for n, peak in peaks.items():
            assert len(found[n].forces) == n
            assert_allclose(example["peak"](found[n]), peak, atol=tolerance)
    with pytest.raises(supple.InputError, match=r"at 0\.839 s every bound must rise by .*\b8\.5 N m"):
        supple.inverse(four_bar, "turn", minimize="peak", bounds=50.0)


def test_orthoglide_equations():
    model, example = supple.local(mechanism("orthoglide"), "off-axis"), study("orthoglide")
    found = {"M": model.M, "force": model.force, "Γ_x": model.christoffel[0], "tool": example["tool"](model)}
    for name, reference in example["REFERENCE"].items():
        assert of_largest(found[name], reference) < 3e-7  # printed to seven decimals
    assert_allclose(model.input_map, np.eye(3), atol=1e-14)  # θ are the actuators


def test_orthoglide_demo_shows_the_printed_reference():
    """The study's table is the published one, not a copy of what supple computes."""
    reference = study("orthoglide")["REFERENCE"]
    assert reference["tool"] == [-0.0704617, 0.0512819, -0.1945540]
    assert reference["force"] == [1.8027733, -1.0905362, -26.6928513]
    assert np.diag(reference["M"]).tolist() == [2.6561783, 2.4850726, 2.8303996]


def test_parallelograms_do_not_change_the_orthoglide():
    full, rods = mechanism("orthoglide-parallelogram"), mechanism("orthoglide")
    found = supple.check(full)
    assert (found.mobility, found.redundant_constraints) == (3, 12)  # 6*16 - 105 = 3 - 12
    assert set(found.redundant_joints) == set(full.joints)
    theta = np.random.default_rng(1).uniform(-0.26, 0.06, (200, 3))
    difference = study("orthoglide-parallelogram")["differences"](supple.local(full, theta), supple.local(rods, theta))
    assert max(difference.values()) < 1e-9  # closure stops at 1e-10 of the machine's size or better


def test_squeezer_starts_as_published():
    angles, accelerations = study("andrews-squeezer")["start"](supple.local(mechanism("andrews-squeezer")))
    for name, (angle, acceleration) in study("andrews-squeezer")["PUBLISHED"].items():
        assert_allclose(angles[name], angle, rtol=0, atol=1e-12)
        # 14222.44: the others are zero only as far as the start, given to double precision, is exact
        assert_allclose(accelerations[name], acceleration, rtol=0, atol=1e-11 * 14222)
    assert_allclose(accelerations["beta"], 14222.4439199541138706, rtol=1e-12)


def test_bricard_moves_against_the_count():
    found = supple.check(mechanism("bricard"))
    assert (found.mobility, found.redundant_constraints, found.gruebler) == (1, 1, 0)
    assert found.redundant_joints == ("P1", "P2", "P3", "P4", "P5", "P6")


def test_double_four_bar_by_hand():
    double = mechanism("double-four-bar")
    theta = np.radians([90.0, 45.0, 5.0, 1.0])
    model = supple.local(double, theta[:, None])
    assert_allclose(model.M[:, 0, 0], 3.0, rtol=1e-9)  # 3 ml²/3 + 2 ml²
    assert_allclose(model.christoffel, 0.0, atol=1e-9)
    assert_allclose(model.force[:, 0], -3.5 * 9.81 * np.cos(theta), atol=1e-8)


def test_double_four_bar_says_that_it_lies_flat():
    double = mechanism("double-four-bar")
    with pytest.raises(supple.InputError, match=r"singular|dead point"):
        supple.local(double, [0.0])
    measure = supple.assemble(double, np.radians([[1.0], [0.1], [0.01]])).singularity
    assert_allclose(measure[:-1] / measure[1:], 10.0, rtol=1e-3)  # proportional to the angle


def test_stewart_platform():
    stewart = mechanism("stewart")
    found = supple.check(stewart)
    assert (found.mobility, found.redundant_constraints, found.coordinates) == (6, 0, tuple(stewart.actuators))
    home = supple.local(stewart, "home")
    assert_allclose(home.force, study("stewart")["leg_force"](stewart), rtol=1e-10)
    turned = np.roll(home.M, (2, 2), axis=(0, 1))  # a third of a turn leads each leg to the next but one
    assert_allclose(turned, home.M, atol=1e-10 * home.M.max())
    assert_allclose(home.outputs["platform.z"].value, 1.4, atol=1e-12)


def test_stewart_platform_over_its_stroke():
    stewart = mechanism("stewart")
    leg, stroke = stewart.parameters["leg"], stewart.parameters["stroke"]
    lengths = leg + np.random.default_rng(2).uniform(-stroke, stroke, (1000, 6))
    platform = supple.assemble(stewart, lengths)
    assert platform.assembled.all()
    base, top = platform.frame("B1").position, platform.frame("P1").position
    assert_allclose(np.linalg.norm(top - base, axis=1), lengths[:, 0], rtol=1e-9)


def test_pendulum_period():
    example, pendulum = study("pendulum"), mechanism("pendulum")
    assert_allclose(example["exact_period"](pendulum), 2.3678419475762373, rtol=1e-14)
    assert_allclose(example["period"](example["swing"](pendulum, 1e-4)), 2.3678419475762373, atol=1e-7)


def test_spatial_slider_crank_start():
    example = study("spatial-slider-crank")
    for name, value in example["start"](mechanism("spatial-slider-crank")).items():
        assert_allclose(value, example["PUBLISHED"][name], atol=1e-12)


def test_squeezer_ends_as_published():
    example = study("andrews-squeezer")
    run = example["simulate"](mechanism("andrews-squeezer"), step=2e-6)
    found = example["end"](run)
    assert example["error"](found, 0) < 1e-6
    assert example["error"](found, 1) < 4e-6  # a quarter of it with half the step
    for name, published in example["MULTIPLIERS"].items():
        assert_allclose(np.abs(run.reaction(name).force[0, :2]), np.abs(published), atol=1e-7)


def test_bricard_keeps_its_energy():
    run = study("bricard")["simulate"](mechanism("bricard"), step=1e-3)
    assert np.ptp(run.energy["total"]) < 2e-6 * run.energy["kinetic"].max()


def test_double_four_bar_passes_its_flat_position():
    example = study("double-four-bar")
    run = example["simulate"](mechanism("double-four-bar"), 5e-4)
    found = [run.outputs[name][-1] for name in example["REFERENCE"]]
    assert_allclose(found, [*example["REFERENCE"].values()], atol=2e-5)


def test_flexible_four_bar_frequencies():
    example, four_bar = study("flexible-four-bar"), mechanism("flexible-four-bar")
    assert example["REFERENCE"][0.0] == [10.268, 26.489, 54.162, 55.748]  # as printed, not what supple computes
    for angle, reference in example["REFERENCE"].items():
        assert_allclose(supple.modes(four_bar, [angle], count=4).frequencies_hz, reference, rtol=1e-4)


def test_ralf_frequencies():
    example, ralf = study("ralf"), mechanism("ralf")
    assert example["HOME"] == [5.984, 8.331, 36.47, 60.0]
    assert_allclose(supple.modes(ralf, "home", count=4, preload=False).frequencies_hz, example["HOME"], rtol=1e-3)
    assert_allclose(example["over_its_region"](ralf, 10).bands_hz, example["BANDS"], rtol=1e-3)


def test_aluminium_four_bar_over_a_turn():
    found = study("aluminium-four-bar")["over_a_turn"](mechanism("aluminium-four-bar"), 37)
    assert found.assembled.all()
    # The table of its README; tests/references compares every angle with an assembly by hand.
    table = {0: [42.940, 48.666, 61.065], 9: [46.605, 50.126, 81.043], 18: [47.301, 50.297, 86.874]}
    for i, reference in table.items():
        assert_allclose(found.frequencies_hz[i], reference, rtol=0, atol=5.1e-4)


def test_five_bar_from_urdf_is_the_one_drawn_in_the_plane():
    example = study("five-bar-urdf")
    robot = supple.load(EXAMPLES / "five-bar-urdf" / "mechanism.urdf")
    assert robot == mechanism("five-bar-urdf")  # named by either of its two files
    drawing = example["drawn_in_the_plane"]()
    for angles in example["PLACES"].values():
        assert example["difference"](robot, drawing, np.radians(angles)) < 1e-12


def test_two_link_arm_comes_to_rest():
    example, arm = study("two-link"), mechanism("two-link")
    linear = supple.linearize(arm)
    by_angle, inverse_mass = example["printed"](linear)
    assert_allclose(by_angle, [[-5.1918, 3.4612], [1.1537, -4.0380]], atol=5.1e-5)  # as printed
    assert_allclose(inverse_mass, [[0.0824, -0.0294], [-0.0294, 0.0176]], atol=5.1e-5)
    assert {name: dict(values) for name, values in arm.configurations.items()} == {
        "near": {"shoulder": 0.05, "elbow": 0.05}, "far": {"shoulder": 1.0, "elbow": 1.0},
    }  # fmt: skip
    for gain in example["gains"](linear).values():
        assert example["pole_error"](gain) < 1e-9
        for start, size in (("near", 0.05), ("far", 1.0)):
            loop = example["run"](arm, gain, start)
            assert loop.complete
            assert example["left_over"](loop) < 1e-5 * size  # e^{-1.6 · 8} is 3e-6
            assert max(abs(rates[-1]) for rates in loop.rates.values()) < 1e-4 * size
            if start == "near":  # the linear model cannot be told from the arm
                same = example["run"](linear, gain, [size, size])
                for name, values in loop.coordinates.items():
                    assert_allclose(values, same.coordinates[name], atol=2e-3 * size)


def test_seven_joint_step_response():
    example, arm = study("seven-joint"), mechanism("seven-joint")
    linear = supple.linearize(arm)
    assert example["perturbation_error"](arm, linear) < 1e-5
    gain = supple.control.decoupled_gains(linear, example["FREQUENCIES"], example["DAMPING"])
    assert example["pole_error"](gain) < 1e-9
    assert example["JOINT"] == linear.states[3]
    found = [[example["step_response"](plant, gain, size) for plant in (arm, linear)] for size in example["STEPS"][:2]]
    for (whole, small), size in zip(found, example["STEPS"], strict=False):
        # The model is a second-order system: 4.6 % beyond its aim; the delay of holding the torques adds little.
        assert_allclose(example["overshoot"](small, size), np.exp(-np.pi * 0.7 / np.sqrt(0.51)), atol=2e-3)
        assert_allclose(small.coordinates["elbow_pitch"][-1], size, rtol=1e-3)
        assert_allclose(example["rise"](whole, size), example["rise"](small, size), rtol=0.02)
    (first, second), sizes = found, example["STEPS"]
    assert example["apart"](*first) < 0.015 * abs(sizes[0])
    ratio = example["apart"](*second) / example["apart"](*first)
    assert_allclose(ratio, (sizes[1] / sizes[0]) ** 2, rtol=0.15)  # of second order in the step


def test_flexible_four_bar_local_models():
    example, four_bar = study("flexible-four-bar"), mechanism("flexible-four-bar")
    assert example["LOCAL"][0.7] == (0.045980, 2.38171e7, [20.920, 25.451, 47.991, 85.577])  # as printed
    for angle, (inertia, stiffness, hertz) in example["LOCAL"].items():
        model = supple.local(four_bar, [angle], constraint_modes=["E.z"], internal_modes=4)
        assert_allclose([model.M[0, 0], model.K[1, 1], *model.internal_hz], [inertia, stiffness, *hertz], rtol=1e-4)


def test_flexible_five_bar_around_its_crossing():
    example, five_bar = study("flexible-five-bar"), mechanism("flexible-five-bar")
    crossing = supple.assemble(five_bar, "crossing")
    hertz = supple.local(five_bar, crossing, internal_modes=2).internal_hz
    assert_allclose(hertz[0], hertz[1], rtol=1e-6)
    coarse, fine, single = (
        example["around"](five_bar, crossing.theta, *asked)
        for asked in ((64, "subspace"), (256, "subspace"), (64, "modes"))
    )
    size = np.abs(fine).max()
    assert np.abs(fine[-1] - fine[0]).max() < 1e-9 * size
    bends = [np.abs(np.diff(item, 2, axis=0)).max() for item in (coarse, fine)]
    assert_allclose(bends[0] / bends[1], 16.0, rtol=0.05)  # four times the points
    assert np.abs(single[-1] + single[0]).max() < 1e-6 * size  # single modes come back with their signs turned


def test_gearboxes_of_a_five_bar():
    """The numbers of its README; a hub and an elastic weld in place of each gearbox give the same (tests of drives)."""
    example, five_bar = study("five-bar-gearbox"), mechanism("five-bar-gearbox")
    stiff = example["without_gearboxes"](five_bar)
    assert_allclose(supple.modes(five_bar, "home", count=2, preload=False).frequencies_hz, [21.286, 24.780], atol=5e-4)
    assert_allclose(supple.modes(stiff, "home", count=2, preload=False).frequencies_hz, [41.596, 48.477], atol=5e-4)
    # One spring behind another: 1/ω² falls by nearly the same for a tenth of the compliance each time.
    squares = np.square(example["over_stiffness"](five_bar, np.array([8e3, 8e4, 8e5])))
    gained = np.diff(1.0 / squares, axis=0)
    assert_allclose(gained[0] / gained[1], 10.0, rtol=0.02)
    assert abs(supple.deflection(five_bar, "home").of("encoder")) < 1e-15


def test_surgiscope_as_a_model_written_on_its_own():
    robot, example = mechanism("surgiscope"), study("surgiscope")
    assert list(robot.actuators) == ["arm1", "arm2", "arm3"]
    for posture, reference in example["REFERENCE"].items():
        found = supple.modes(robot, posture, count=9, preload=False).frequencies_hz
        assert_allclose(found, reference, rtol=1e-6)  # printed to eight digits; bodies are condensed to 5e-7
    for place, reference in example["DEFLECTION"].items():
        assert example["relative"](example["deflection"](robot, place), reference) < 1e-3


def test_surgiscope_stands_where_its_configurations_say():
    robot = mechanism("surgiscope")
    for name, place in (("first", [0.0, 0.0, -1.1]), ("second", [0.19, -0.33, -0.9])):
        assert_allclose(supple.assemble(robot, name).frame("platform").position, place, atol=1e-10)


def test_parts_of_a_sag_are_all_of_it():
    """Links, gearboxes and bearings yield in series: what each lets the tool sink adds up."""
    arm, example = mechanism("serial-flexible"), study("serial-flexible")
    whole = example["sag"](arm, "home")
    parts = [whole - example["sag"](example["stiffened"](names), "home") for names in example["SHARES"].values()]
    assert_allclose(np.sum(parts, axis=0), whole * (1.0 - 1e-3), atol=1e-3 * np.abs(whole).max())  # a part is 1e-3 left
