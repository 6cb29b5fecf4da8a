"""One result of every kind, of small mechanisms."""

from functools import cache
from pathlib import Path

import numpy as np
from flexible_arm import HOME, five_bar, model

import supple
from supple.control import MarginMap, Study, closed_loop, lqr, margins
from supple.description.scenario import Scenario
from supple.maps.grid import model_grid

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def arm():
    return supple.load(EXAMPLES / "two-link" / "mechanism.yaml")


@cache
def judged():
    near = supple.reduce(arm(), region={"shoulder": (-0.5, 0.5), "elbow": (-0.5, 0.5)}, tolerance=1e-3, store=False)
    return supple.compare(arm(), near, scenario=Scenario(rates={"elbow": 0.5}, until=0.2, step=0.002))


@cache
def forms():
    near = supple.reduce(arm(), region={"shoulder": (-0.5, 0.5), "elbow": (-0.5, 0.5)}, tolerance=1e-3, store=False)
    return supple.run_time_forms(near, memory="8kB", tolerance=1e-2, checks=50)


@cache
def linear():
    return supple.linearize(arm())


@cache
def gain():
    return lqr(linear(), np.ones(4), np.ones(2))


def margin_map():
    """Margins of one input over two coordinates, made up."""
    grid = model_grid(model(), {"A": [2.0, 2.1], "E": [1.0, 1.1, 1.2]})
    values = np.tile([0.5, 4.0, 0.5, 0.01, 1.2, 1.0], (2, 3, 1))
    values[..., 2] = np.linspace(0.5, 1.0, 6).reshape(2, 3)
    names = ("a.gain.low", "a.gain.high", "a.phase", "a.delay", "a.disk", "together")
    return MarginMap(supple.Map(grid, values, names, ("1", "1", "rad", "s", "1", "1"), "margin"))


@cache
def run():
    return supple.simulate(arm(), until=0.5, step=0.005)


@cache
def path():
    return supple.trajectory(five_bar(), "shift", step=0.01)


def measured():
    """Two accelerations of one hammer point, noisy, with a coherence."""
    rng = np.random.default_rng(7)
    H = rng.normal(size=(20, 2, 1)) + 1j * rng.normal(size=(20, 2, 1))
    tip, side = (supple.Channel("tip", way, position=(0.0, 0.1, 0.2)) for way in ("z", (0.6, 0.8, 0.0)))
    hammer = supple.Channel("tip", "-z", "force", (0.0, 0.1, 0.2))
    return supple.Responses(
        np.arange(20.0), (tip, side), (hammer,), H, rng.uniform(0.5, 1.0, (20, 2, 1)), 3,
        1.5, "home", "a test", notes=("made up",),
    )  # fmt: skip


@cache
def updated():
    """Stiffnesses of a Delta robot from five frequencies."""
    robot = supple.load(EXAMPLES / "surgiscope" / "mechanism.yaml")
    seen = supple.Measurement(at="first", frequencies_hz=[11.8, 15.2, 31.2, 36.1, 38.8])
    return supple.update(robot, seen, {"motor": "motor_r[xy]", "motor_rz": "motor_rz", "hinge": "hinge_r?"}, starts=1)


@cache
def modal():
    """Two modes at three places, found from their responses."""
    hertz, own = np.arange(5.0, 60.0, 0.5), np.array([20.0, 35.0])
    g = 1.0 / (own**2 - hertz[:, None] ** 2 + 0.04j * own * hertz[:, None])
    phi = np.array([[1.0, 0.5, -0.3], [-0.4, 1.0, 0.7]])
    places = [supple.Channel(name, "z", "displacement") for name in ("a", "b", "c")]
    H = np.einsum("kr,ro,r->ko", g, phi, phi[:, 0])[:, :, None]
    return supple.modal_parameters(supple.Responses(hertz, places, [supple.Channel("a", "z", "force")], H))


RESULTS = {
    "Simulation": run,
    "Signals": lambda: run().coordinates,
    "Simulation of a model": lambda: model().simulate(np.linspace(0.0, 0.02, 41), {"A": 2.0}, HOME),
    "Simulation along a motion": lambda: model().follow(path()),
    "Trajectory": path,
    "InverseDynamics": lambda: supple.inverse(five_bar(), "shift", step=0.01, rigid=True),
    "ModelForces": lambda: supple.inverse(model(), path()),
    "FrequencyResponse": lambda: supple.frf(
        five_bar(), "home", ["tool.x", "tool.z"], ["tool.x", "tool.z"], np.geomspace(1.0, 300.0, 200)
    ),
    "Responses": lambda: measured(),
    "TimeRecords": lambda: supple.TimeRecords(
        500.0, measured().references, measured().responses, np.ones((2, 1, 16)), np.ones((2, 2, 16)), 0.01
    ),
    "ModalParameters": modal,
    "ModePairs": lambda: supple.pair_modes(modal(), ([20.2, 34.0], [[1.0, 0.5, -0.3], [-0.4, 1.0, 0.6]])),
    "FrequencyResponse of a model": lambda: model().frf(HOME, "A", "tool.x", [1.0, 2.0, 5.0], free_actuators=True),
    "ModeSet": lambda: supple.modes(five_bar(), "home", count=3),
    "ModeSet of a batch": lambda: supple.modes(five_bar(), [[2.05, 1.12], [2.1, 1.1]], count=3),
    "FrequencyMap": lambda: supple.frequency_map(five_bar(), {"A": [2.0, 2.1, 2.2], "E": [1.0, 1.1]}, count=2),
    "LinearModel": linear,
    "LinearBatch": lambda: supple.linearize_batch(arm(), [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]),
    "Compliance": lambda: supple.compliance(five_bar(), "home", ["tool.x", "tool.z"]),
    "ComplianceMap": lambda: supple.compliance_map(five_bar(), {"A": [2.05, 2.1], "E": [1.1, 1.12]}, "tool.x"),
    "Compliance of a batch": lambda: supple.compliance(five_bar(), [[2.05, 1.12], [2.1, 1.1]], ["tool.x", "tool.z"]),
    "Deflection": lambda: supple.deflection(five_bar(), "home"),
    "LargeDeflection": lambda: supple.deflection(five_bar(), "home", large=True),
    "SmallMotions": lambda: supple.small_motions(five_bar(), "home", count=3),
    "ClosedLoop": lambda: closed_loop(
        arm(), gain().regulator(), until=0.2, sample_time=0.01, start=dict.fromkeys(linear().states[:2], 0.05)
    ),
    "FeedbackGain": gain,
    "Margins": lambda: margins(linear(), gain()),
    "MarginMap": margin_map,
    "Map": lambda: supple.over(five_bar(), {"A": [2.05, 2.1], "E": [1.1, 1.12]}, supple.modes, count=2),
    "RunTimeForms": forms,
    "Study": lambda: Study(
        {"payload": np.array([1.0, 2.0, 3.0]), "delay": np.zeros(3)}, {"error": np.array([0.1, 9.0, np.nan])},
        {"error": 0.1}, ("", "", "it leaves the region"),
    ),
    "Sweep": lambda: supple.sweep(
        EXAMPLES / "flexible-four-bar" / "mechanism.yaml", {"crank": "0.4:0.5:2"},
        lambda mechanism: supple.modes(mechanism, count=2),
    ),
    "LocalModel": lambda: supple.local(five_bar(), "home", internal_modes=2),
    "Coefficients": lambda: model().evaluate(HOME),
    "Updated": updated,
    "Predicted": lambda: updated().predict("second", 6),
    "TestPlan": lambda: supple.plan_test(
        EXAMPLES / "surgiscope" / "mechanism.yaml", ["motor_r?"],
        [supple.Candidate({"second": ["platform.z"]}, ["platform"])], lines=5,
    ),
    "TimeComparison": judged,
    "Comparison": lambda: supple.compare(five_bar(), model(), points=20),
}  # fmt: skip


@cache
def result(name):
    return RESULTS[name]()
