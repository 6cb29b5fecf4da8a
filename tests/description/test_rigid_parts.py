"""Where elastic parts are taken as rigid, it is said, in the result too; asked for on purpose, only there."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import supple
from supple.diagnostics import InputError, SuppleWarning

ARM = supple.loads("""\
supple: 1
name: arm
plane: xz
gravity: [0, -9.81]
points: {O: [0, 0], P: [1, 0], Q: [1.5, 0]}
materials: {steel: {youngs_modulus: 210e9, density: 7800, poisson: 0.3}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
bodies:
  link: {beam: [O, P], section: bar, material: steel}
  fork: {rod: [P, Q], mass: 0.5}
joints:
  O: {revolute: [ground, link]}
  P: {weld: [link, fork], elastic: {angle: 2000}}
actuators: {O: {joint: O, limits: [-1, 1]}}
sensors: {Q: {position: fork.Q}}
configurations: {home: {O: 0.2}}
motions: {turn: {coordinates: {O: {from: 0.2, to: 0.3}}, duration: 0.2}}
scenarios: {fall: {start: home, until: 0.02}}
""")
RODS = ARM.replace(
    bodies={**ARM.bodies, "link": supple.Body(rod=("O", "P"), line_mass=1.56)},
    joints={**ARM.joints, "P": supple.Joint(weld=("link", "fork"))},
)
PARTS = ("link", "P")


def loop(mechanism, **options):
    held = supple.control.computed_torque(mechanism, lambda t: ([0.2], [0.0], [0.0]), 20.0, rigid=True)
    return supple.control.closed_loop(mechanism, held, until=0.01, sample_time=0.005, start="home", **options)


@pytest.fixture(scope="module")
def rigid_model():
    return supple.reduce(ARM, region={"O": (0.0, 0.4)}, rigid=True, progress=False)


ACTUATOR = supple.Actuator(joint="O")
VERBS = {
    "local": lambda mechanism, **options: supple.local(mechanism, "home", **options),
    "linearize": lambda mechanism, **options: supple.linearize(mechanism, "home", **options),
    "linearize_batch": lambda mechanism, **options: supple.linearize_batch(mechanism, [[0.1], [0.2]], **options),
    "computed_torque": lambda mechanism, **options: supple.control.computed_torque(
        mechanism, lambda t: ([0.2], [0.0], [0.0]), 20.0, **options
    ),
    "successive_linearization": lambda mechanism, **options: supple.control.successive_linearization(
        mechanism, "turn", lambda linear: supple.control.decoupled_gains(linear, 10.0), **options
    ),
    "antagonism": lambda mechanism, **options: supple.control.antagonism(
        mechanism.replace(actuators={"O": ACTUATOR, "again": ACTUATOR}, coordinates=("O",)), "home", **options
    ),
}
DEFORM = {
    "simulate": lambda mechanism, **options: supple.simulate(mechanism, until=0.01, start="home", **options),
    "closed_loop": loop,
    "equilibrium": lambda mechanism, **options: supple.equilibrium(mechanism, "home", **options),
    "inverse": lambda mechanism, **options: supple.inverse(mechanism, "turn", step=0.01, **options),
}
"""By themselves, unless asked not to."""


@pytest.mark.parametrize("verb", VERBS)
def test_it_is_said_unless_meant(verb):
    with pytest.warns(SuppleWarning) as caught:
        found = VERBS[verb](ARM)
    (said,) = caught  # once, whatever the verb calls
    assert 'mechanism "arm"' in str(said.message)
    assert '"link", "P" are treated as rigid' in str(said.message)
    assert said.filename == __file__  # it points at who asked
    assert found.rigid == PARTS
    assert VERBS[verb](ARM, rigid=True).rigid == PARTS  # a warning would fail the test
    assert VERBS[verb](RODS).rigid == ()


@pytest.mark.parametrize("verb", DEFORM)
def test_parts_deform_unless_asked_not_to(verb):
    found, stiff = DEFORM[verb](ARM), DEFORM[verb](ARM, rigid=True)  # a warning would fail the test
    assert found.rigid == ()
    assert stiff.rigid == PARTS
    if verb in ("simulate", "closed_loop"):
        assert found.energy["strain"].max() > 0.0
        assert "strain" not in stiff.energy
    assert DEFORM[verb](RODS).rigid == ()


OF_MODELS = {"reduce", "compare"}  # below
DEFORMING = {
    "modes", "buckling", "frf", "frequency_map", "compliance", "compliance_map", "deflection", "small_motions",
    "update", "plan_test", "model_responses", "virtual_test", "check_measurement", "pair_modes",
    "fit_damping",
}  # fmt: skip
"""What lets every elastic part deform."""
ELSEWHERE = {
    "acceleration_feedback", "closed_poles", "compensate_deflection", "add_deformation", "disturbance_observer",
    "estimated_disturbance", "gain_scheduled", "kalman_filter", "margin_map", "margins", "positive_position_feedback",
    "rest_to_rest", "run_time_forms", "shape_motion", "stable_inversion",
}  # fmt: skip
"""What is given a reduced or a linear model, which says itself what it takes as rigid."""
PLANTS = {"estimated_payload", "identify", "study"}
"""What asks a model or a loop of the same mechanism, and for names or parameters of the mechanism alone."""
GEOMETRIC = {"assemble", "branches", "check", "match_channels", "trajectory", "to_yaml", "hardware_of"}
"""What asks for θ alone, at which by definition nothing is deformed."""


def test_every_verb_of_a_mechanism_says_it_or_need_not():
    public = {name: getattr(module, name) for module in (supple, supple.control) for name in module.__all__}
    asked = {
        name: tuple(inspect.signature(verb).parameters)
        for name, verb in public.items()
        if inspect.isfunction(verb) and {"mechanism", "plant", "model"} & set(inspect.signature(verb).parameters)
    }
    able = set(VERBS) | OF_MODELS | set(DEFORM)
    assert {name for name, parameters in asked.items() if "rigid" in parameters} == able
    assert set(asked) - able - {"export"} == DEFORMING | GEOMETRIC | ELSEWHERE | PLANTS


def test_modes_leave_nothing_rigid():
    assert supple.local(ARM, "home", internal_modes=1).rigid == ()
    assert supple.linearize(ARM, "home", internal_modes=1).rigid == ()
    for verb in (supple.local, supple.linearize):
        with pytest.raises(InputError, match=r"rigid: .* modes.*; remove one"):
            verb(ARM, "home", internal_modes=1, rigid=True)


def test_models_and_their_comparison_name_what_they_take_as_rigid(rigid_model, tmp_path):
    assert rigid_model.rigid == PARTS
    rigid_model.save(tmp_path / "arm.rom")
    assert supple.load(tmp_path / "arm.rom").rigid == PARTS
    with pytest.warns(SuppleWarning, match='"link", "P" are treated as rigid'):
        supple.reduce(ARM, region={"O": (0.0, 0.4)}, progress=False)
    assert supple.compare(ARM, rigid_model, points=5).rigid == PARTS
    found = supple.compare(ARM, rigid_model, scenario="fall", rigid=True)
    assert found.rigid == PARTS
    assert np.isfinite(list(found.coordinate_error.values())).all()
