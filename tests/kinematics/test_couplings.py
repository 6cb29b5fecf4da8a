"""Couplings: joint coordinates tied together, against closed forms and over many turns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm

import supple
from supple.diagnostics import InputError

RATIO = 2.5  # the pinion turns so much faster, the other way round
WHEEL, PINION = 0.02, 0.001  # kg m² about their axles
GEARS = {"coordinates": {"wheel": RATIO, "pinion": 1.0}}


def geared_pair(**coupling):
    """Two wheels on parallel axles, the teeth said by their ratio."""
    return supple.loads(
        f"""
        supple: 1
        name: geared pair
        points: {{A: [0, 0, 0], B: [0.3, 0, 0]}}
        bodies:
          wheel: {{mass: 2, center: [0, 0, 0], inertia: [0.02, {WHEEL}, 0.03]}}
          pinion: {{mass: 0.5, center: [0.3, 0, 0], inertia: [0.001, {PINION}, 0.002]}}
        joints:
          wheel: {{revolute: [ground, wheel], at: A, axis: y, viscous: 0.1}}
          pinion: {{revolute: [ground, pinion], at: B, axis: y, viscous: 0.02}}
        couplings:
          gears: {coupling or GEARS}
        springs:
          twist: {{joint: pinion, stiffness: 3}}
        actuators: {{motor: {{joint: wheel}}}}
        sensors:
          shown: {{joint: pinion}}
          far: {{position: pinion}}
          speed: {{joint: pinion, order: 1}}
          load: {{reaction: pinion}}
        """
    )


INERTIA = WHEEL + RATIO**2 * PINION
DAMPING = 0.1 + RATIO**2 * 0.02
STIFFNESS = 3.0 * RATIO**2


def rack_and_pinion():
    """A pinion of 20 mm drives a rack, whose teeth tie its slide to the pinion's angle."""
    return supple.loads(
        """
        supple: 1
        name: rack and pinion
        points: {A: [0, 0, 0], B: [0, 0, 0.02]}
        bodies:
          pinion: {mass: 0.5, center: [0, 0, 0], inertia: [0.001, 0.001, 0.002]}
          rack: {mass: 3, center: [0, 0, 0.02], inertia: [0.01, 0.01, 0.01]}
        joints:
          pinion: {revolute: [ground, pinion], at: A, axis: y}
          rack: {prismatic: [ground, rack], at: B, axis: x}
        couplings:
          teeth: {coordinates: {rack: 1, pinion: -20 mm}}
        actuators: {motor: {joint: pinion}}
        """
    )


def test_a_coupling_is_counted_and_named():
    report = supple.check(geared_pair())
    assert report.couplings == ("gears",)
    assert (report.mobility, report.gruebler, report.redundant_constraints) == (1, 1, 0)
    assert "gears" in report.summary()


@pytest.mark.parametrize("angle", [0.3, -4.0, 60.0])
def test_coupled_angles_follow_over_many_turns(angle):
    there = supple.assemble(geared_pair(), [angle])
    assert_allclose(there.joint_coordinates["pinion"], -RATIO * angle, rtol=1e-12)


def test_a_geared_pair_carries_the_inertia_of_both_wheels():
    model = supple.local(geared_pair(), [7.0])
    assert_allclose(model.M, [[INERTIA]], rtol=1e-12)
    assert_allclose(model.dM, 0.0, atol=1e-12)
    assert_allclose(model.force, [-STIFFNESS * 7.0], rtol=1e-12)


def test_a_geared_pair_swings_as_one_wheel():
    linear = supple.linearize(geared_pair())
    poles = np.roots([INERTIA, DAMPING, STIFFNESS])
    assert_allclose(np.sort_complex(np.linalg.eigvals(linear.A)), np.sort_complex(poles), rtol=1e-10)


def test_a_geared_pair_swings_so_in_time():
    run = supple.simulate(geared_pair(), until=0.2, start=[2.0], tolerance=1e-8)
    poles = np.roots([INERTIA, DAMPING, STIFFNESS])
    share = np.linalg.solve([[1.0, 1.0], poles], [2.0, 0.0])
    expected = (np.exp(np.outer(run.time, poles)) @ share).real
    assert_allclose(run.joint_coordinates["wheel"], expected, atol=1e-5)  # what the steps leave
    assert_allclose(run.joint_coordinates["pinion"], -RATIO * run.joint_coordinates["wheel"], atol=1e-10)


def test_a_geared_pair_spins_up_over_many_turns():
    free = geared_pair().replace(
        springs={},
        joints={
            **geared_pair().joints,
            **{name: geared_pair().joints[name].model_copy(update={"viscous": None}) for name in ("wheel", "pinion")},
        },
    )
    run = supple.simulate(free, until=0.5, inputs={"motor": 5.0})
    expected = 2.5 * run.time**2 / INERTIA
    assert expected[-1] * RATIO > 8.0 * np.pi
    assert_allclose(run.joint_coordinates["wheel"], expected, rtol=1e-9, atol=1e-9)
    assert_allclose(run.joint_coordinates["pinion"], -RATIO * expected, rtol=1e-9, atol=1e-9)


def test_a_geared_pair_behind_a_soft_drive_is_one_wheel_on_a_spring():
    joints = geared_pair().joints
    soft = {**joints["wheel"].model_dump(exclude_none=True), "motor": {"inertia": 1e-4, "gear": 10}}
    machine = geared_pair().replace(springs={}, joints={**joints, "wheel": {**soft, "drive": {"stiffness": 400}}})
    expected = np.sqrt(400.0 / INERTIA) / (2.0 * np.pi)
    assert_allclose(supple.modes(machine).frequencies_hz, [expected], rtol=1e-7)  # of the lowest modes by blocks


def test_a_rack_moves_by_the_radius_and_weighs_on_its_pinion():
    machine = rack_and_pinion()
    assert_allclose(supple.assemble(machine, [30.0]).joint_coordinates["rack"], 0.6, rtol=1e-12)
    assert_allclose(supple.local(machine, [30.0]).M, [[0.001 + 3.0 * 0.02**2]], rtol=1e-12)


def test_a_coupling_may_be_given_its_value():
    machine = geared_pair(coordinates={"wheel": RATIO, "pinion": 1.0}, value=0.5)
    assert_allclose(supple.assemble(machine, [0.0]).joint_coordinates["pinion"], 0.5, rtol=1e-12)


def test_a_second_coupling_that_says_the_same_is_redundant():
    report = supple.check(
        geared_pair().replace(
            couplings={
                "one": {"coordinates": {"wheel": 5, "pinion": 2}},
                "two": {"coordinates": {"wheel": 2.5, "pinion": 1}},
            }
        )
    )
    assert report.redundant_constraints == 1
    assert report.redundant_joints == ("one", "two")


@pytest.mark.parametrize(
    ("coupling", "complaint"),
    [
        ({"coordinates": {}}, "coordinates"),
        ({"coordinates": {"wheel": 1}}, "one joint coordinate would lock"),
        ({"coordinates": {"far": 1}}, "far.x, far.y, far.z"),
        ({"coordinates": {"far.w": 1, "wheel": 1}}, 'unknown output "far.w" of sensor "far"'),
        ({"coordinates": {"speed": 1, "wheel": 1}}, 'sensor "speed" measures a rate'),
        ({"coordinates": {"load.z": 1, "wheel": 1}}, 'sensor "load" measures an internal force'),
        ({"coordinates": {"pinion": 1, "shown": 2}}, '"pinion" and "shown" refer to the same coordinate'),
        ({"coordinates": {"wheel": 1, "pinion": 1}, "damping": 3}, "damping needs a stiffness"),
        ({"coordinates": {"wheel": 1, "pinion": 1}, "stiffness": "3 N/m"}, "3 N/m"),
        ({"coordinates": {"wheel": "20 mm", "pinion": "8 mm"}, "stiffness": "3 N m/rad"}, "3 N m/rad"),
        ({"coordinates": {"wheel": 1, "pinion": 0}}, "factor of pinion is 0"),
        ({"coordinates": {"wheel": 1, "rim": 1}}, 'unknown joint "rim"'),
        ({"coordinates": {"wheel": 1, "wheel.angle": 2}}, "same coordinate"),
        ({"coordinates": {"wheel": "20 mm", "pinion": "3 N"}}, "3 N"),
        ({"coordinates": {"wheel": "20 mm", "pinion": 1}, "value": "1 kg"}, "1 kg"),
    ],
)
def test_a_coupling_that_cannot_be_is_refused(coupling, complaint):
    with pytest.raises(InputError, match=complaint):
        supple.check(geared_pair(**coupling))


def test_contradicting_couplings_are_refused():
    one = {"coordinates": {"wheel": 2.5, "pinion": 1}}
    with pytest.raises(InputError, match=r'coupling "(one|two)": .*check its factors and its value'):
        supple.check(geared_pair().replace(couplings={"one": one, "two": {**one, "value": 0.5}}))
    with pytest.raises(InputError, match=r"mobility 0.*remove a joint or a coupling"):
        supple.check(geared_pair().replace(couplings={"one": one, "two": {"coordinates": {"wheel": 1, "pinion": 1}}}))


def test_trees_refuse_couplings_by_name():
    from supple.formulations.recursive.tree_of_mechanism import tree_of_mechanism

    with pytest.raises(InputError, match="gears"):
        tree_of_mechanism(geared_pair())


def test_what_sensors_measure_may_be_coupled():
    """Two weights on a rope over two pulleys: the lengths on either side add up to a constant."""
    rope = supple.loads(
        """
        supple: 1
        name: two weights on a rope
        plane: xz
        gravity: [0, -9.81]
        points: {L: [0, 0], R: [0.5, 0], P: [0, -1], Q: [0.5, -1.2]}
        bodies:
          one: {mass: 3, center: P, inertia: 0.01}
          two: {mass: 2, center: Q, inertia: 0.01}
        joints:
          one: {prismatic: [ground, one], at: P, axis: z}
          two: {prismatic: [ground, two], at: Q, axis: z}
        sensors: {left: {between: [ground.L, one.P]}, right: {between: [ground.R, two.Q]}}
        couplings: {rope: {coordinates: {left: 1, right: 1}}}
        coordinates: [one]
        """
    )
    model = supple.local(rope, [0.1])
    assert_allclose(model.M, [[5.0]], rtol=1e-13)
    assert_allclose(model.force, [-9.81], rtol=1e-13)
    run = supple.simulate(rope, until=0.2, step=0.01)
    assert_allclose(run.coordinates["one"], -0.5 * 9.81 / 5.0 * run.time**2, rtol=0, atol=1e-12)  # a parabola is exact


def test_a_coupling_of_a_sensor_alone_holds_it_at_its_value():
    sliding = {"cylindrical": ["ground", "pinion"], "at": "B", "axis": "y"}
    held = geared_pair(coordinates={"far.y": 1}, value=0.0).replace(
        joints={"wheel": geared_pair().joints["wheel"], "pinion": sliding},
        springs={}, sensors={"far": {"position": "pinion"}}, coordinates=["wheel", "pinion.angle"], actuators={},
    )  # fmt: skip
    assert supple.check(held).mobility == 2
    assert_allclose(supple.assemble(held, [1.0, 2.0]).joint_coordinates["pinion.slide"], 0.0, atol=1e-14)


BELT = {"coordinates": {"wheel": "15 mm", "pinion": "-40 mm"}, "stiffness": "2e5 N/m", "damping": "20 N s/m"}


class TestABeltThatGivesWay:
    """Between two pulleys, its stretch r₁ q₁ - r₂ q₂ on a spring and a damper."""

    k, c, J = 2e5, 20.0, np.array([0.015, -0.04])
    M = np.diag([WHEEL, PINION])

    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls):
        joints = geared_pair().joints
        bare = {name: joint.model_copy(update={"viscous": None}) for name, joint in joints.items()}
        return geared_pair(**BELT).replace(springs={}, joints=bare, sensors={"pinion": {"joint": "pinion"}})

    def matrix(self):
        stiffness, damping = (-np.linalg.solve(self.M, f * np.outer(self.J, self.J)) for f in (self.k, self.c))
        return np.block([[np.zeros((2, 2)), np.eye(2)], [stiffness, damping]])

    def test_it_is_an_elastic_part(self, machine):
        assert machine.elastic_names == ("gears",)
        with pytest.warns(supple.SuppleWarning, match='its elastic part "gears" is treated as rigid'):
            supple.linearize(machine)
        assert_allclose(supple.local(machine, rigid=True).M, [[WHEEL + PINION * (15 / 40) ** 2]], rtol=1e-12)

    def test_modes(self, machine):
        locked = supple.modes(machine)
        assert_allclose(locked.frequencies_hz, [np.sqrt(self.k * 0.04**2 / PINION) / (2 * np.pi)], rtol=1e-10)
        assert 'coupling "gears" 100 % of the deformation' in locked.energy.words()[0]
        free = supple.modes(machine, free_actuators=True)
        square = self.k * self.J @ np.linalg.solve(self.M, self.J)
        assert_allclose(free.frequencies_hz[-1], np.sqrt(square) / (2 * np.pi), rtol=1e-10)

    def test_linear_and_reduced_models(self, machine):
        poles = np.linalg.eigvals(self.matrix())
        fastest = poles[np.argmax(np.abs(poles))]
        for found in (
            supple.linearize(machine, internal_modes=1),
            supple.reduce(machine, region={"motor": (-1, 1)}, checks=200, internal_modes=1, store=False).linearize(
                [0.3]
            ),
        ):
            values = np.linalg.eigvals(found.A)
            assert_allclose(np.abs(values - fastest).min(), 0.0, atol=1e-8 * np.abs(fastest))

    def test_a_response(self, machine):
        f = 40.0
        response = supple.frf(machine, None, "motor", "pinion", [f], free_actuators=True)
        s = 2j * np.pi * f
        K = (self.k + s * self.c) * np.outer(self.J, self.J)
        expected = np.linalg.solve(s**2 * self.M + K, [1.0, 0.0])[1]
        assert_allclose(np.ravel(response.values), expected, rtol=1e-9)

    def test_motion_in_time(self, machine):
        run = supple.simulate(machine, until=0.02, step=2e-5, inputs={"motor": 1.0})
        whole = np.zeros((5, 5))
        whole[:4, :4], whole[2, 4] = self.matrix(), 1.0 / WHEEL
        expected = expm(0.02 * whole)[:2, 4]
        found = [run.joint_coordinates[name][-1] for name in ("wheel", "pinion")]
        assert_allclose(found, expected, rtol=1e-5)  # of steps of a sixtieth of its fastest period
        assert run.energy_defect < 1e-5
