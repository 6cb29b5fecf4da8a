"""Frequency responses: against closed forms, between their kinds and inputs, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple.results.frequency_response import response_unit

LINES = np.array([0.5, 3.0, 5.9, 8.4, 20.0])


def oscillator(**more):
    """2 kg on a slide with a spring of 800 N/m, ω₀ = 20 rad/s; its slide is a joint coordinate but not locked."""
    described = {
        "plane": "xy", "points": {"A": [0, 0]}, "bodies": {"cart": {"mass": 2, "center": [0, 0], "inertia": 1}},
        "joints": {"A": {"prismatic": ["ground", "cart"], "axis": "x", **more.pop("joint", {})}},
        "springs": {"s": {"joint": "A", "stiffness": 800}}, "actuators": {"push": {"joint": "A"}}, **more,
    }  # fmt: skip
    return supple.Mechanism(**described)


def exact(lines, damping):
    w = 2 * np.pi * lines
    return 1.0 / (800.0 * (1 + 1j * damping.get("eta", 0)) - 2.0 * w**2 + 1j * w * damping.get("c", 0))


@pytest.mark.parametrize("preload", [False, True])
@pytest.mark.parametrize("method", ["direct", "modal"])
@pytest.mark.parametrize(
    ("given", "law"),
    [
        ({"damping": {"structural": 0.05}}, {"eta": 0.05}),
        ({"damping": {"modal": 0.1}}, {"c": 2 * 0.1 * 20 * 2}),
        ({"damping": {"rayleigh": (3.0, 1e-3)}}, {"c": 3.0 * 2 + 1e-3 * 800}),
        ({"dampers": {"d": {"joint": "A", "damping": 7}}}, {"c": 7}),
        ({"joint": {"viscous": 7}, "damping": {"structural": 0.05}}, {"c": 7, "eta": 0.05}),
        ({"joint": {"viscous": 7}, "damping": {"modal": 0.1}}, {"c": 7 + 2 * 0.1 * 20 * 2}),
    ],
)
def test_an_oscillator_answers_as_the_closed_form_says(given, law, method, preload):
    made = oscillator(**given)
    found = supple.frf(made, None, "push", "A", LINES, free_actuators=True, method=method, preload=preload)
    assert_allclose(found["A", "push"], exact(LINES, law), rtol=1e-10)
    assert found.unit("A", "push") == "m/N"


def test_a_motor_adds_its_inertia():
    made = oscillator(joint={"motor": {"inertia": 0.02, "gear": 5}}, damping={"structural": 0.05})
    for preload in (False, True):  # without, line by line; with it, from modes
        found = supple.frf(made, None, "push", "A", LINES, free_actuators=True, preload=preload)
        w = 2 * np.pi * LINES
        assert_allclose(found["A", "push"], 1 / (800 * (1 + 0.05j) - 2.5 * w**2), rtol=1e-10)


def two_carts(**more):
    """A led cart pulls another along by a spring and a damper."""
    return supple.Mechanism(
        plane="xy", points={"A": [0, 0], "B": [1, 0]},
        bodies={name: {"mass": 2, "center": [x, 0], "inertia": 1} for name, x in (("one", 0), ("two", 1))},
        joints={"A": {"prismatic": ["ground", "one"], "axis": "x"},
                "B": {"weld": ["one", "two"], "elastic": {"x": 800.0}, "elastic_damping": {"x": 6.0}}},
        actuators={"push": {"joint": "A"}}, sensors={"far": {"position": "two.B"}}, **more,
    )  # fmt: skip


@pytest.mark.parametrize("law", [{"structural": 0.05}, {"modal": 0.0}, {"rayleigh": (0.0, 2e-3)}])
@pytest.mark.parametrize("method", ["direct", "modal"])
def test_a_led_coordinate_shakes_what_hangs_on_it(law, method):
    """Transmissibility κ/(κ - mω²), κ = k(1 + iη) + iω(c + βk)."""
    w = 2 * np.pi * LINES
    kappa = 800 * (1 + 1j * law.get("structural", 0)) + 1j * w * (6 + 800 * law.get("rayleigh", (0, 0))[1])
    ratio = kappa / (kappa - 2 * w**2)
    for kind, power in (("accelerance", 0), ("mobility", -1), ("receptance", -2)):
        found = supple.frf(
            two_carts(), None, "push.acceleration", "far.x", LINES, kind=kind, damping=law, method=method
        )
        assert_allclose(found["far.x", "push.acceleration"], ratio * (1j * w) ** power, rtol=1e-9)
        assert found.units[0][0] == {"accelerance": "(m/s²)", "mobility": "(m/s)", "receptance": "m"}[kind] + "/(m/s²)"


def test_led_motion_follows_from_forces(example):
    """With free actuators u drives y = H_yu u and θ = H_θu u, so that y per θ is H_yu / H_θu; the others locked."""
    made = example("ralf").replace(damping=None)
    free = supple.frf(
        made, "home", ["lift", "elbow"], ["tip.z", "lift", "elbow"], LINES,
        free_actuators=True, preload=False, damping={"structural": 0.01},
    ).values  # fmt: skip
    led = supple.frf(made, "home", ["lift.acceleration", "elbow.acceleration"], "tip.z", LINES,
                     kind="accelerance", damping={"structural": 0.01}, preload=False).values  # fmt: skip
    by_motion = np.linalg.solve(free[:, 1:].transpose(0, 2, 1), free[:, 0][:, :, None])[..., 0]
    assert_allclose(led[:, 0], by_motion, rtol=1e-7)


def test_a_free_mechanism_answers_like_its_local_model():
    """Rigid and linearized about its rest: (iω)² M + iω D - ∂p/∂θ, force in, coordinate out."""
    made = oscillator(joint={"viscous": 3})
    model = supple.local(made)
    w = 2 * np.pi * LINES
    K = -model.dforce[0, 0]
    expected = 1 / (K - w**2 * model.M[0, 0] + 1j * w * model.damping[0, 0])
    assert_allclose(
        supple.frf(made, None, "push", "A", LINES, free_actuators=True).values[:, 0, 0], expected, rtol=1e-10
    )


def test_kinds_are_derivatives_of_one_another(example):
    made = example("flexible-four-bar")
    found = [
        supple.frf(made, None, "E.z", "E.x", LINES, kind=kind, damping=0.01).values
        for kind in ("receptance", "mobility", "accelerance")
    ]
    rate = (2j * np.pi * LINES)[:, None, None]
    assert_allclose(found[1], rate * found[0], rtol=1e-14)
    assert_allclose(found[2], rate**2 * found[0], rtol=1e-14)


def test_resonances_are_at_the_modes_and_as_wide_as_their_damping(example):
    made = example("flexible-four-bar")
    first = supple.modes(made, None, count=1).frequencies_hz[0]
    lines = np.linspace(0.97 * first, 1.03 * first, 2001)
    size = np.abs(supple.frf(made, None, "E.z", "E.z", lines, damping=0.005).values[:, 0, 0])
    peak = int(np.argmax(size))
    assert abs(lines[peak] / first - 1) < 1e-4
    half = lines[size > size[peak] / np.sqrt(2)]
    assert_allclose((half[-1] - half[0]) / first, 2 * 0.005, rtol=0.02)


def test_damping_of_the_file_is_taken_and_can_be_replaced(example):
    made = example("ralf")
    given, same, none = (supple.frf(made, None, "tip.z", "tip.z", 6.0, damping=law).values for law in (None, 0.01, 0))
    assert_allclose(given, same, rtol=1e-14)
    assert abs(given[0, 0, 0].imag) > 1e3 * abs(none[0, 0, 0].imag)


def test_the_result_has_names_units_and_conversions(example, tmp_path):
    made = example("flexible-four-bar")
    ports = ["E.z", "E.ry"]
    found = supple.frf(made, None, ports, ports, [1.0, 2.0, 4.0], damping=0.01)
    assert found.values.shape == (3, 2, 2)
    assert found.units == (("m/N", "m/(N m)"), ("rad/N", "rad/(N m)"))
    assert_allclose(found["E.ry", "E.z"], found.values[:, 1, 0])
    assert response_unit("accelerance", "m", "N") == "(m/s²)/N"
    *above, below = found.plot().axes
    assert [len(axes.lines) for axes in above] == [1, 1, 1, 1]  # each with a unit of its own
    assert len(below.lines) == 4
    table = np.loadtxt(found.save(tmp_path / "h.csv"), delimiter=",", skiprows=1)
    assert_allclose(table[:, 0], [1, 2, 4])
    assert_allclose(table[:, 5] + 1j * table[:, 6], found["E.ry", "E.z"], rtol=1e-15)
    with pytest.raises(supple.InputError, match=r'unknown output "E\.y"; did you mean'):
        found["E.y", "E.z"]
    control = pytest.importorskip("control")
    assert isinstance(found.to_control(), control.FrequencyResponseData)
    assert_allclose(found.to_control()(2j * np.pi * 2.0), found.values[1], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("crank", "E.z", [1.0]), {}, r'input "crank": .*locked.*crank\.acceleration'),
        (("B.acceleration", "E.z", [1.0]), {}, 'unknown coordinate "B"; known: "crank"'),
        (("E.w", "E.z", [1.0]), {}, r'unknown direction "w" of "E"'),
        (("E.z", "F.z", [1.0]), {}, '"F"|no place'),
        (("E.z", "E.z", [-1.0]), {}, "-1 Hz.*0 or more"),
        (("E.z", "E.z", []), {}, "frequencies_hz: no frequenc"),
        (("E.z", "E.z", [1.0]), {"kind": "recptance"}, 'did you mean "receptance"'),
        (("E.z", "E.z", [1.0]), {"damping": -0.1}, "damping ratio of -0.1"),
        (("E.z", "E.z", [1.0]), {"damping": {"modal": 0.1, "structural": 0.1}}, "exactly one (law|model)"),
        (("E.z", "E.z", [0.0]), {"free_actuators": True, "damping": 0}, "at 0 Hz.*not finite.*lock the actuators"),
        (
            ("E.z", "E.z", [2.0, 0.0]),
            {"free_actuators": True, "preload": False, "damping": {"structural": 0.01}},
            "at 0 Hz.*not finite.*lock the actuators",
        ),
        (("crank.acceleration", "E.z", [0.0]), {}, "at 0 Hz.*acceleration.*accelerance"),
        (("E.z", "E.z", [0.0]), {"free_actuators": True, "preload": False, "damping": {"modal": 0.01}}, "not finite"),
        (("ground.A.z", "E.z", [1.0]), {}, r"ground\.A\.z.*ground.*point on a body"),
    ],
)
def test_what_cannot_be_answered_is_named(example, arguments, options, words):
    with pytest.raises(supple.InputError, match=words):
        supple.frf(example("flexible-four-bar"), None, *arguments, **options)


def test_a_rigid_mechanism_with_locked_actuators_does_not_vibrate(example):
    with pytest.raises(supple.InputError, match=r"elastic.*replace a rod by a beam"):
        supple.frf(example("four-bar"), None, "E.z", "E.z", [1.0])
