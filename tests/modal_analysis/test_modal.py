"""Modes of vibration: their laws, how their energy is divided, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.formulations.elastic_rest.dense import dense_modes
from supple.view.mode_sketch import element_curves

EXAMPLES = Path(__file__).parents[2] / "examples"
STEEL = {"steel": {"youngs_modulus": 210e9, "poisson": 0.3, "density": 7800}}
BAR = {"bar": {"rectangle": [0.02, 0.01]}}


def example(name: str) -> supple.Mechanism:
    return supple.load(EXAMPLES / name / "mechanism.yaml")


@pytest.fixture(scope="module")
def four_bar() -> supple.Mechanism:
    return example("flexible-four-bar")


def one_rod(**changes) -> supple.Mechanism:
    """A rigid rod of 1 m and 3 kg on a hinge: 1 kg m² about it."""
    parts = {
        "name": "rod", "plane": "xy", "points": {"A": [0, 0], "B": [1, 0]},
        "bodies": {"rod": {"rod": ["A", "B"], "mass": 3.0}}, "joints": {"A": {"revolute": ["ground", "rod"]}},
    }  # fmt: skip
    return supple.Mechanism(**parts | changes)


# ------------------------------------------------------------------------------------------------- laws


@pytest.mark.parametrize("name", ["flexible-four-bar", "ralf", "aluminium-four-bar"])
@pytest.mark.parametrize("free", [False, True])
def test_energies_are_whole(name, free):
    energy = supple.modes(example(name), None, count=6, free_actuators=free, preload=False).energy
    assert_allclose(sum(energy.kinetic.values()), 1.0, rtol=1e-12)
    assert_allclose(sum(energy.strain.values())[~energy.free], 1.0, rtol=1e-9)
    assert_allclose(energy.along.sum(axis=-1), 1.0, rtol=1e-12)
    assert energy.free.sum() == (len(supple.check(example(name)).coordinates) if free else 0)
    # Rayleigh: without preload all potential energy is elastic
    assert_allclose(energy.elastic[~energy.free], 1.0, rtol=1e-6)


def test_modes_are_orthonormal_in_the_mass_of_all_nodes(four_bar):
    modes = supple.modes(four_bar, [0.3])
    M = np.zeros((6, 6))
    for body in modes.rest.bodies:
        U = modes.displacements(body.name)
        M += U @ (body.mesh.M @ U.T)
    assert_allclose(M, np.eye(6), atol=1e-7)  # shapes are found to 1e-8


@pytest.mark.parametrize("name", ["flexible-four-bar", "ralf"])
@pytest.mark.parametrize("count", [1, 7, 12, 25, 60])
@pytest.mark.parametrize("preload", [True, False])
def test_no_mode_is_missed_however_many_are_asked_for(name, count, preload):
    modes = supple.modes(example(name), "home", count=count, preload=preload)
    squares, _ = dense_modes(modes.rest, modes.configuration, modes.held, preload=preload)
    assert len(modes) == count
    assert_allclose(modes.frequencies_hz, np.sqrt(squares[:count]) / (2 * np.pi), rtol=1e-7)


def test_of_more_modes_than_exist_all_are_given(four_bar):
    assert len(supple.modes(four_bar, count=500)) == 90 - 21  # 15 nodes of six; 4 hinges of five rows, and the crank


def test_a_batch_is_its_members(four_bar):
    angles = np.array([[-1.2], [0.0], [0.7]])
    batch = supple.modes(four_bar, angles)
    for i, angle in enumerate(angles):
        one = supple.modes(four_bar, angle)
        assert_allclose(batch.frequencies_hz[i], one.frequencies_hz, rtol=1e-12)
        assert_allclose(batch.energy.out_of_plane[i], one.energy.out_of_plane, atol=1e-12)
        for body, shares in one.energy.kinetic.items():
            assert_allclose(batch.energy.kinetic[body][i], shares, atol=1e-7)


def test_a_configuration_may_be_given(four_bar):
    here = supple.assemble(four_bar, [0.3])
    assert_allclose(supple.modes(four_bar, here).frequencies_hz, supple.modes(four_bar, [0.3]).frequencies_hz)


# ------------------------------------------------------------------------------------------------- energies


def test_a_motor_takes_its_share():
    """J = 1 kg m² behind a gear of 2 on a rod of 1 kg m² with a spring: 4/5 of the energy, √(k/5)."""
    motor = {"A": {"revolute": ["ground", "rod"], "motor": {"inertia": 1.0, "gear": 2.0}}}
    rod = one_rod(joints=motor, springs={"s": {"joint": "A", "stiffness": 500.0}}, actuators={"a": {"joint": "A"}})
    modes = supple.modes(rod, free_actuators=True, count=1)
    assert_allclose(modes.frequencies_hz, [10.0 / (2 * np.pi)], rtol=1e-9)
    assert_allclose([modes.energy.motors["A"][0], modes.energy.kinetic["rod"][0]], [0.8, 0.2], rtol=1e-9)
    assert_allclose(modes.energy.springs["s"], [1.0], rtol=1e-9)
    assert 'motor of "A" 80 % and rod 20 % of the motion' in modes.descriptions[0]


def test_springs_divide_the_energy_by_their_stiffness():
    springs = {"soft": {"joint": "A", "stiffness": 100.0}, "hard": {"joint": "A", "stiffness": 300.0}}
    modes = supple.modes(one_rod(springs=springs, actuators={"a": {"joint": "A"}}), free_actuators=True, count=1)
    assert_allclose(modes.frequencies_hz, [20.0 / (2 * np.pi)], rtol=1e-9)
    assert_allclose([modes.energy.springs[name][0] for name in springs], [0.25, 0.75], rtol=1e-9)
    assert 'spring "hard" 75 % and spring "soft" 25 % of the deformation' in modes.descriptions[0]


def test_an_elastic_joint_holds_all_energy_of_rigid_bodies():
    """A rod welded to the ground by stiffnesses: k/m along the weld's axes."""
    weld = {"A": {"weld": ["ground", "rod"], "elastic": {"x": 3.0e4, "y": 12.0e4, "angle": 1.0e9}}}
    modes = supple.modes(one_rod(joints=weld), count=1)
    assert_allclose(modes.frequencies_hz, [100.0 / (2 * np.pi)], rtol=1e-6)
    assert_allclose(modes.energy.joints["A"], [1.0], rtol=1e-12)
    assert modes.descriptions == ['mostly along x; rod 100 % of the motion; joint "A" 100 % of the deformation']


def test_a_hanging_rod_swings_by_gravity_alone():
    rod = supple.Mechanism(
        name="rod", plane="xz", gravity=[0, -9.81], points={"A": [0, 0], "B": [0, -1]}, materials=STEEL, sections=BAR,
        bodies={"rod": {"beam": ["A", "B"], "section": "bar", "material": "steel"}},
        joints={"A": {"revolute": ["ground", "rod"]}}, actuators={"a": {"joint": "A"}},
    )  # fmt: skip
    modes = supple.modes(rod, free_actuators=True, count=2)
    assert_allclose(modes.frequencies_hz[0], np.sqrt(1.5 * 9.81) / (2 * np.pi), rtol=1e-4)  # 0.6105 Hz
    assert modes.energy.elastic[0] < 1e-3
    assert "100 % of its stiffness from gravity and the forces at rest" in modes.descriptions[0]
    assert "rod 100 % of the deformation" in modes.descriptions[1]
    free = supple.modes(rod, free_actuators=True, preload=False, count=2)
    assert free.energy.free.tolist() == [True, False]
    assert "no stiffness" in free.descriptions[0]


def test_a_standing_rod_falls():
    rod = one_rod(gravity=[0, -9.81], points={"A": [0, 0], "B": [0, 1]}, actuators={"a": {"joint": "A"}})
    modes = supple.modes(rod, free_actuators=True, count=1)
    assert_allclose(modes.frequencies_hz, [-np.sqrt(1.5 * 9.81) / (2 * np.pi)], rtol=1e-9)
    assert "unstable" in modes.descriptions[0]


# ------------------------------------------------------------------------------------------------- directions


def test_hinges_along_one_axis_define_a_plane(four_bar):
    modes = supple.modes(four_bar, [0.0])
    assert_allclose(np.abs(modes.energy.normal), [0, 1, 0], atol=1e-12)
    assert_allclose(modes.energy.out_of_plane, [0, 1, 0, 1, 0, 0], atol=1e-9)
    assert_allclose(modes.energy.along[:, 1], modes.energy.out_of_plane, atol=1e-9)
    starts = [words.partition(";")[0] for words in modes.descriptions]
    assert starts == ["in the plane", "out of the plane"] * 2 + ["in the plane"] * 2


def test_a_tilted_mechanism_vibrates_alike():
    Q, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))
    Q *= np.sign(np.linalg.det(Q))
    flat, tilted = (supple.modes(spatial_arm(R)) for R in (np.eye(3), Q))
    assert_allclose(tilted.frequencies_hz, flat.frequencies_hz, rtol=1e-9)
    assert_allclose(np.abs(tilted.energy.normal @ Q[:, 1]), 1.0, rtol=1e-9)
    assert_allclose(tilted.energy.out_of_plane, flat.energy.out_of_plane, atol=1e-9)
    assert_allclose(np.abs(tilted.energy.kinetic["upper"] - flat.energy.kinetic["upper"]), 0.0, atol=1e-7)


def spatial_arm(R: np.ndarray) -> supple.Mechanism:
    """Two beams with hinges along y, turned by R; the second hinge is stiff but elastic."""
    place = {"A": [0, 0, 0], "B": [0.5, 0, 0], "C": [0.8, 0, 0.4]}
    up = R[:, 1].tolist()
    beam = {"section": "bar", "material": "steel", "up": up}
    return supple.Mechanism(
        name="arm", points={name: (R @ at).tolist() for name, at in place.items()}, materials=STEEL, sections=BAR,
        bodies={"upper": {"beam": ["A", "B"]} | beam, "fore": {"beam": ["B", "C"]} | beam},
        joints={"A": {"revolute": ["ground", "upper"], "axis": up}, "B": {"revolute": ["upper", "fore"], "axis": up}},
        actuators={"a": {"joint": "A"}, "b": {"joint": "B"}},
    )  # fmt: skip


def test_without_a_plane_the_axis_of_the_world_is_named():
    beam = supple.Mechanism(
        name="cantilever", points={"A": [0, 0, 0], "B": [1, 0, 0]}, materials=STEEL, sections=BAR,
        bodies={"beam": {"beam": ["A", "B"], "section": "bar", "material": "steel", "up": "z"}},
        joints={"A": {"weld": ["ground", "beam"]}},
    )  # fmt: skip
    modes = supple.modes(beam, count=2)
    assert modes.energy.normal is None
    assert_allclose(modes.energy.along, [[0, 0, 1], [0, 1, 0]], atol=1e-9)
    assert [words[:14] for words in modes.descriptions] == ["mostly along z", "mostly along y"]


# ------------------------------------------------------------------------------------------------- maps


def test_a_map_marks_what_cannot_be_assembled(four_bar):
    found = supple.frequency_map(four_bar, {"crank": [-2.0, 0.0, 0.7, 1.9]}, count=4)
    assert found.assembled.tolist() == [False, True, True, False]
    assert np.isnan(found.frequencies_hz[[0, 3]]).all()
    expected = supple.modes(four_bar, np.array([[0.0], [0.7]]), count=4).frequencies_hz
    assert_allclose(found.frequencies_hz[1:3], expected, rtol=1e-12)
    assert_allclose(found.bands_hz, np.column_stack([expected.min(axis=0), expected.max(axis=0)]), rtol=1e-12)


def test_a_map_marks_where_modes_are_not_found(four_bar, monkeypatch):
    from importlib import import_module

    module = import_module("supple.maps.frequency_map")

    def failing(mechanism, at, **options):
        if (np.abs(at.theta - 0.7) < 1e-12).any():
            raise supple.NumericalError("its modes did not converge")
        return supple.modes(mechanism, at, **options)

    monkeypatch.setattr(module, "modes", failing)
    with pytest.warns(supple.SuppleWarning, match=r"did not converge at 1 of 3 postures, the first crank=0.7;"):
        found = supple.frequency_map(four_bar, {"crank": [0.0, 0.7, 1.0]}, count=2)
    assert np.isnan(found.frequencies_hz[1]).all()
    assert_allclose(found.frequencies_hz[[0, 2]], supple.modes(four_bar, [[0.0], [1.0]], count=2).frequencies_hz)
    assert np.isfinite(found.bands_hz).all()
    with pytest.raises(supple.NumericalError, match=r"at any of 1 postures"):
        supple.frequency_map(four_bar, {"crank": [0.7]}, count=2)


def test_a_map_varies_what_it_is_told_and_leaves_the_rest():
    ralf = example("ralf")
    found = supple.frequency_map(ralf, {"elbow": [0.8, 1.1]}, at={"lift": 0.9}, count=2)
    assert found.at == {"lift": 0.9}
    assert_allclose(found.frequencies_hz[1], supple.modes(ralf, [0.9, 1.1], count=2).frequencies_hz, rtol=1e-12)
    grid = supple.frequency_map(ralf, {"elbow": [0.8, 1.1], "lift": [0.9, 1.0, 1.2]}, count=2)
    assert_allclose(grid.frequencies_hz[:, 0], found.frequencies_hz, rtol=1e-12)


def test_a_long_map_goes_in_pieces_and_shows_them(four_bar, capfd):
    angles = np.linspace(-1.0, 1.0, 300)
    found = supple.frequency_map(four_bar, {"crank": angles}, count=2, progress=True)
    assert "256 of 300 configurations" in capfd.readouterr().err
    expected = supple.modes(four_bar, angles[-1:], count=2).frequencies_hz
    assert_allclose(found.frequencies_hz[-1], expected, rtol=1e-12)


def test_a_map_as_a_table(four_bar, tmp_path):
    found = supple.frequency_map(four_bar, {"crank": [0.0, 1.9]}, count=2)
    lines = found.save(tmp_path / "map.csv").read_text("utf-8").splitlines()
    assert lines[0] == "crank,mode 1,mode 2"
    assert [float(item) for item in lines[1].split(",")] == [0.0, *found.frequencies_hz[0]]
    assert lines[2] == "1.9,nan,nan"


# ------------------------------------------------------------------------------------------------- pictures


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("flexible-four-bar", "3d"), ("ralf", "rectilinear")])
def test_shapes_are_drawn_one_panel_a_mode(name, kind, tmp_path):
    modes = supple.modes(example(name), "home", count=4)
    figure = modes.plot()
    assert [axes.name for axes in figure.axes] == [kind] * 4
    assert figure.axes[0].get_title().startswith(f"1: {modes.frequencies_hz[0]:.4g} Hz")
    figure.savefig(tmp_path / "shapes.png", dpi=40)
    assert len(modes.plot(which=[2]).axes) == 1


def test_a_body_given_by_matrices_is_described_and_drawn_by_its_nodes(tmp_path):
    beam = spatial_rod({"beam": ["A", "B"], "section": "bar", "material": "steel"})
    expected = supple.modes(beam, count=3)
    mesh = expected.rest.bodies[0].mesh
    table = np.column_stack([np.arange(len(mesh.nodes)), mesh.nodes])
    np.savez(tmp_path / "rod.npz", K=mesh.K.toarray(), M=mesh.M.toarray(), nodes=table)
    files = {"file": str(tmp_path / "rod.npz"), "interfaces": {"A": {"node": 0}}}
    modes = supple.modes(spatial_rod({"superelement": files, "at": [0, 0, 0]}), count=3)
    assert_allclose(modes.frequencies_hz, expected.frequencies_hz, rtol=1e-9)
    assert modes.descriptions == expected.descriptions
    figure = modes.plot()
    figure.savefig(tmp_path / "shapes.png", dpi=40)
    assert any(line.get_marker() == "." and len(line.get_data_3d()[0]) == 5 for line in figure.axes[0].lines)


def spatial_rod(body: dict) -> supple.Mechanism:
    return supple.Mechanism(
        name="rod", points={"A": [0, 0, 0], "B": [1, 0, 0]}, materials=STEEL, sections=BAR, bodies={"rod": body},
        joints={"A": {"revolute": ["ground", "rod"], "axis": "y", "at": "A"}}, actuators={"a": {"joint": "A"}},
    )  # fmt: skip


def test_an_elastic_line_goes_through_its_nodes_with_their_slopes(four_bar):
    mesh = supple.modes(four_bar, [0.0]).rest.bodies[0].mesh
    turned = 1e-3 * mesh.rigid_motions()[:, [1, 4]].sum(axis=1)  # a rigid motion keeps a straight line straight
    curves = element_curves(mesh, turned.reshape(-1, 6))
    along = np.linspace(0, 1, curves.shape[1])[:, None]
    assert_allclose(curves, curves[:, :1] + along * (curves[:, -1:] - curves[:, :1]), atol=1e-15)
    bent = np.zeros((len(mesh.nodes), 6))
    bent[:, 5] = np.random.default_rng(6).standard_normal(len(mesh.nodes))
    curves = element_curves(mesh, bent, samples=2001)
    assert_allclose(curves[:, [0, -1]], mesh.ends, atol=1e-15)
    slope = np.diff(curves[..., 1], axis=1) / np.diff(curves[..., 0], axis=1)
    assert_allclose(slope[:, [0, -1]], bent[mesh.elements, 5], atol=5e-3)


def test_maps_are_drawn(four_bar, tmp_path):
    supple.frequency_map(four_bar, {"crank": [-2.0, 0.0, 0.7]}, count=2).plot().savefig(tmp_path / "curves.png", dpi=40)
    figure = supple.frequency_map(example("ralf"), {"lift": [0.9, 1.1], "elbow": [0.8, 1.0]}, count=2).plot()
    figure.savefig(tmp_path / "maps.png", dpi=40)
    assert [axes.get_title() for axes in figure.axes[:2]] == ["mode 1", "mode 2"]


# ------------------------------------------------------------------------------------------------- refused


def test_no_modes_are_refused(four_bar):
    with pytest.raises(supple.InputError, match=r"at least 1 \(got 0\)"):
        supple.modes(four_bar, count=0)


def test_a_rigid_mechanism_with_locked_actuators_has_no_modes():
    with pytest.raises(supple.InputError, match=r"elastic.*replace a rod by a beam"):
        supple.modes(example("four-bar"))


def test_a_spring_that_is_locked_does_not_vibrate():
    rod = one_rod(springs={"s": {"joint": "A", "stiffness": 100.0}}, actuators={"a": {"joint": "A"}})
    with pytest.raises(supple.InputError, match=r"(can move while|is elastic)"):
        supple.modes(rod)


def test_a_spring_between_bodies_that_cannot_move_does_not_vibrate():
    text = (EXAMPLES / "four-bar" / "mechanism.yaml").read_text("utf-8")
    with pytest.raises(supple.InputError, match=r"can move while its actuators are locked.*free the actuators"):
        supple.modes(supple.loads(text + "\nsprings:\n  s: {joint: E, stiffness: 10}\n"))


def test_a_dead_point_is_refused(four_bar):
    with pytest.raises(supple.InputError, match="dead point"):
        supple.modes(four_bar, [1.9])
    with pytest.raises(supple.InputError, match="dead point"):
        supple.frequency_map(four_bar, {"crank": [1.9, 2.0]})


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"crnk": [0.0]}, 'unknown coordinate "crnk"'),
        ({}, "a map needs a coordinate"),
        ({"crank": []}, "list of finite numbers"),
        ({"crank": [np.nan]}, "list of finite numbers"),
    ],
)
def test_a_wrong_grid_is_refused(four_bar, grid, message):
    with pytest.raises(supple.InputError, match=message):
        supple.frequency_map(four_bar, grid)


def test_words_and_shapes_are_of_one_configuration(four_bar):
    batch = supple.modes(four_bar, np.array([[0.0], [0.1]]), count=2)
    with pytest.raises(supple.InputError, match=r"one configuration.*\b2\b"):
        _ = batch.descriptions
    with pytest.raises(supple.InputError, match=r"one configuration.*\b2\b"):
        batch.plot()
    with pytest.raises(supple.InputError, match=r"no mode 7: .*0 to 1; omit `which`"):
        supple.modes(four_bar, count=2).plot(which=[7])


def shaft(**more):
    return supple.Mechanism(
        points={"A": [0, 0, 0], "B": [0.4, 0, 0]},
        materials={"steel": {"youngs_modulus": 210e9, "poisson": 0.3, "density": 7800}},
        sections={"tube": {"tube": [0.05, 0.04]}},
        bodies={"arm": {"beam": ["A", "B"], "section": "tube", "material": "steel", "elements": 6}},
        **more,
    )  # fmt: skip


def test_torsion_is_named():
    """A tube with a disc at its end twists at √(GJ/Lθ)/2π, its own inertia added by a third."""
    held = shaft(joints={"A": {"weld": ["ground", "arm"]}},
                 point_masses={"disc": {"at": "arm.B", "mass": 1e-3, "inertia": 0.4}})  # fmt: skip
    found = supple.modes(held, count=3)
    J = np.pi / 32 * (0.05**4 - 0.04**4)
    inertia = 0.4 + 7800 * J * 0.4 / 3
    assert_allclose(found.frequencies_hz[0], np.sqrt(210e9 / 2.6 * J / 0.4 / inertia) / (2 * np.pi), rtol=1e-5)
    assert_allclose(found.energy.torsion["arm"], [1.0, 0.0, 0.0], atol=1e-9)
    wanted = "turning in place; arm 100 % of the motion; arm 100 % (torsion) of the deformation"
    assert found.descriptions[0] == wanted
    assert not any("torsion" in words for words in found.descriptions[1:])


def test_energy_of_torsion_is_part_of_the_elastic_energy(example):
    made = example("flexible-four-bar")
    found = supple.modes(made, {"crank": 0.4}, count=6).energy
    for share in found.torsion.values():
        assert (share >= 0.0).all()
        assert (share <= 1.0 + 1e-9).all()
        assert_allclose(share[found.out_of_plane < 1e-6], 0.0, atol=1e-9)  # bars bend in the plane
    assert max(share.max() for share in found.torsion.values()) > 0.5


def test_a_body_that_floats_has_its_modes_with_or_without_preload():
    floating = {"joints": {"A": {"free": ["ground", "arm"]}}}
    plain = supple.modes(shaft(**floating), count=8, free_actuators=True, preload=False).frequencies_hz
    stressed = supple.modes(shaft(**floating), count=8, free_actuators=True)
    assert_allclose(stressed.frequencies_hz[6:], plain[6:], rtol=1e-9)
    assert stressed.energy.free[:6].all()
    with pytest.raises(
        supple.InputError, match=r"no joint, coordinate or spring .*; constrain it, or .*--no-preload \(preload=False\)"
    ):
        supple.modes(shaft(**floating, gravity=[0, 0, -9.81]), count=8, free_actuators=True)
