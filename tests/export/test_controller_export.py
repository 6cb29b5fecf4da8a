"""Controllers as C: one function for a sample reproduces the controller in Python, and the loop with its plant."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import supple
from supple import control
from supple.control.laws.affine_controller import AffineController
from supple.control.laws.affine_law import AffineLaw, constant_law
from supple.control.laws.affine_matrices import AffineMatrices, Ports, empty, shapes
from supple.control.laws.scheduling import scheduled_law
from supple.diagnostics import InputError
from supple.export.export import export
from supple.time_functions.function_of_time import PiecewisePolynomial, Trajectory

T = 1e-3
JOINTS = ("lift", "elbow")


def motion(names=JOINTS, end: float = 0.3) -> PiecewisePolynomial:
    times = np.linspace(0.0, end, 301)[:, None]
    w, shift = np.array([5.0, 9.0]), np.array([0.0, 1.0])
    parts = (0.3 * w**k * np.sin(w * times + shift + 0.5 * np.pi * k) + (0.4 if k == 0 else 0.0) for k in range(3))
    return Trajectory(names, times[:, 0], *parts).function


PORTS = Ports(("lift", "elbow", "tip.x"), JOINTS, ("f", "g"), T, (0.0, 0.013), fed=True, swept=True)


def design(sigma, n: int = 2, ports: Ports = PORTS) -> AffineMatrices:
    rng = np.random.default_rng(4)
    parts = []
    for shape in shapes(n, ports):
        mean, slope, phase = (rng.standard_normal(shape) for _ in range(3))
        change = rng.random(shape) < 0.4
        parts.append(0.1 * mean + 0.05 * change * np.sin(slope * sigma[0] - 2.0 * slope * sigma[1] + phase))
    return AffineMatrices(*parts)


@cache
def scheduled() -> AffineLaw:
    region = {"lift": (-0.2, 1.0), "elbow": (-1.0, 1.0)}
    return scheduled_law(design, region, PORTS, tolerance=1e-2, name="all of it*/")


def every_port() -> AffineController:
    return AffineController(scheduled(), motion(), motion(("f", "g")))


def regulator(slope: np.ndarray) -> AffineController:
    """A law without a motion whose command follows from the previous one by a slope."""
    ports = Ports(("a", "b"), (), ("f", "g"), T)
    found = empty(1, ports)
    found.A[:], found.B[:], found.C[:], found.b[:] = 0.9, 0.1, [[1.0], [-2.0]], 0.01
    found.D[:, ports.y], found.D[:, ports.applied_commands], found.d[:] = [[3.0, 0.0], [1.0, -4.0]], slope, [0.3, -50.0]
    return AffineController(constant_law(found, ports, name="regulator"))


CASES = {
    "every port": every_port,
    "regulator": lambda: regulator(np.array([[0.3, -0.2], [0.0, 0.5]])),
    "any command holds": lambda: regulator(np.array([[1.0, 0.0], [0.5, 1.25]])),  # I - S has rank one
    "no rank": lambda: regulator(np.eye(2)),
}


def built(folder, cc, strict, name: str, flags=()) -> list[str]:
    """Compile all files with all warnings as errors, run the tests, and return what they print."""
    sources = sorted(file.name for file in folder.glob("*.c"))
    tests = [file for file in sources if file.endswith("_test.c")]
    library = [file for file in sources if file not in tests]
    said = []
    shared = [cc, *strict, *flags, "-fPIC", "-shared", *library, "-lm", "-o", f"{name}.so"]
    commands = [shared, *([cc, *strict, *flags, test, *library, "-lm", "-o", test[:-2]] for test in tests)]
    for command in (*commands, *([f"./{test[:-2]}"] for test in tests)):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr[:2000]
        said += done.stdout.splitlines()
    return said


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("name", list(CASES))
def test_the_compiled_controller_is_the_controller(name, precision, cc, strict, tmp_path):
    export(CASES[name](), tmp_path, prefix="arm", precision=precision)
    said = built(tmp_path, cc, strict, "arm")
    assert "largest relative error of the commands" in said[0]


def measured_by(names, values) -> SimpleNamespace:
    """A measurement for the controller in Python."""
    return SimpleNamespace(array=lambda asked: np.array([values[names.index(name)] for name in asked]), time=0.0)


@pytest.mark.parametrize("fallback", ["HOLD", "ZERO", "PASS"])
def test_without_an_answer_the_commands_are_as_configured(fallback, cc, strict, tmp_path):
    controller = regulator(np.array([[0.3, -0.2], [0.0, 0.5]]))
    export(controller, tmp_path, prefix="arm")
    built(tmp_path, cc, strict, "arm", [f"-DARM_CONTROLLER_FALLBACK=ARM_CONTROLLER_{fallback}"])
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    state, y, commands = np.zeros(64), np.array([0.2, -0.1]), np.full(2, 3.0)
    broken = np.array([0.2, np.inf])

    def step(values):
        return library.arm_controller_step(address(state), address(values), address(commands))

    assert library.arm_controller_start(address(state), address(broken)) == 3
    assert step(broken) == 3  # has not begun
    assert_allclose(commands, 3.0 if fallback == "PASS" else 0.0)
    names = ("a", "b")
    assert step(y) == 0  # begins by itself
    assert_allclose(commands, controller.step(0.0, measured_by(names, y)), rtol=1e-12)
    assert library.arm_controller_record(address(state), address(np.array([np.nan, 0.0]))) == 3
    good = commands.copy()
    commands[:] = 5.0
    assert step(broken) == 3
    expected = {"HOLD": good, "ZERO": np.zeros(2), "PASS": np.full(2, 5.0)}[fallback]
    assert_allclose(commands, expected)
    controller.record_command(expected)  # that command was applied; the state of the law has not changed
    assert step(y) == 0
    assert_allclose(commands, controller.step(T, measured_by(names, y)), rtol=1e-12)


def test_time_goes_on_while_the_law_has_no_answer(cc, strict, tmp_path):
    controller = every_port()
    export(controller, tmp_path, prefix="arm", tolerance=0.0)
    built(tmp_path, cc, strict, "arm")
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    state, y, commands = np.zeros(64), np.array([0.3, 0.2, 0.1]), np.zeros(2)
    calls = [address(state), address(y), address(commands)]
    names = PORTS.measured
    for k in range(20):
        if k in (5, 6):
            y[1] = np.nan
            assert library.arm_controller_step(*calls) == 3
            y[1] = 0.2
            continue
        if k == 0:
            assert library.arm_controller_start(*calls[:2]) == 0
        assert library.arm_controller_step(*calls) == 0
        assert_allclose(commands, controller.step(k * T, measured_by(names, y)), rtol=1e-6)


MACHINE = """
supple: 1
name: two-link
plane: xz
gravity: [0, -9.8]
points: {S: [0, 0], E: [0, -1], T: [0, -2]}
bodies:
  upper: {mass: 10, center: [0, -0.5], inertia: 2}
  lower: {mass: 5, center: [0, -1.5], inertia: 1}
frames: {tip: {on: lower, at: T}}
joints:
  shoulder: {revolute: [ground, upper], at: S, viscous: 0.5}
  elbow: {revolute: [upper, lower], at: E}
sensors: {%s}
actuators:
  shoulder: {joint: shoulder%s}
  elbow: {joint: elbow%s}
"""
MOTOR = ", limits: [-2, 2], drive: {motor: {torque_constant: 0.1 N*m/A, resistance: 0.5, inductance: 2 mH, gear: 100,"
MACHINES = {
    "forces": ("", "", ""),
    "motor and velocity": (
        "one: {joint: shoulder, noise: 1e-5, bandwidth: 300 Hz}, two: {joint: elbow, delay: 0.7 ms}, "
        "acc: {acceleration: tip, noise: 0.1}",
        f"{MOTOR} delay: 0.4 ms}}}}", ", drive: {velocity: {frequency: 20 Hz, damping: 0.7, delay: 1 ms}}",
    ),
}  # fmt: skip


def follower(machine, names: tuple[str, ...]) -> AffineController:
    """Proportional gains with the rate of the motion; the first actuator also damps its rate by differences."""
    ports = Ports(JOINT_NAMES, JOINT_NAMES, JOINT_NAMES, T)
    found = empty(1, ports)
    gains = {"forces": (300.0, 80.0), "motor and velocity": (20.0, 10.0)}[machine]
    found.B[0, 0], found.C[0, 0] = 1.0, gains[0] * 0.1 / T
    for i, gain in enumerate(gains):
        found.D[i, i], found.D[i, ports.wanted(0).start + i] = -gain, gain
    found.D[0, 0] -= gains[0] * 0.1 / T
    found.D[1, ports.wanted(1).start + 1] = 1.0
    found.A0[0, 0] = 1.0
    law = constant_law(found, ports, name="follower", commanded_actuators=names)
    return AffineController(law, motion(JOINT_NAMES))


JOINT_NAMES = ("shoulder", "elbow")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Reduced models of two arms, and controllers of theirs."""
    found = {}
    for name, parts in MACHINES.items():
        file = tmp_path_factory.mktemp("machine") / "two-link.yaml"
        file.write_text(MACHINE % parts)
        region = dict.fromkeys(JOINT_NAMES, (-1.5, 1.5))
        model = supple.reduce(supple.load(file), region=region, tolerance=1e-3)
        found[name] = model, follower(name, JOINT_NAMES if model.hardware.drives else ())
    return found


@pytest.mark.parametrize(
    ("name", "precision"), [("forces", "double"), ("motor and velocity", "double"), ("motor and velocity", "single")]
)
def test_the_exported_loop_is_the_loop(name, precision, models, cc, strict, tmp_path):
    """Controller, model, drives (one of them prescribes its joint) and instruments, without Python."""
    model, controller = models[name]
    files = {file.name for file in export(controller, tmp_path, prefix="arm", precision=precision, model=model)}
    assert {"arm_law.c", "arm_motion.c", "arm_controller.c", "two_link.c", "arm_loop_test.c", "Makefile"} <= files
    said = built(tmp_path, cc, strict, "arm")
    errors = {line.split(":")[0]: float(line.rsplit(" ", 1)[1]) for line in said if "largest relative error" in line}
    assert errors["coordinates"] < (1e-6 if precision == "double" else 1e-3)


def test_make_runs_all_tests(models, tmp_path, cc):
    model, controller = models["forces"]
    export(controller, tmp_path, prefix="arm", model=model)
    done = subprocess.run(["make", "test", f"CC={cc}", "CFLAGS=-O1"], cwd=tmp_path, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(f"./{name}" in done.stdout for name in ("arm_controller_test", "two_link_test", "arm_loop_test"))


def test_the_header_states_size_and_effect(tmp_path):
    controller = every_port()
    files = {file.name: file.read_text() for file in export(controller, tmp_path, prefix="arm")}
    header = files["arm_controller.h"]
    assert "The state of the controller takes 56 bytes." in header
    effect = header.split("in the run of the test:")[1].split()[1]
    assert 0.0 < float(effect) < 1e-5
    assert " of degree " in files["arm_motion.h"]
    assert "precomputed commands" in files["arm_feedforward.h"]


def test_what_cannot_run_alone_is_refused(models, tmp_path):
    model, controller = models["forces"]
    with pytest.raises(InputError, match="it has no motion"):
        export(_without_motion(controller), tmp_path)
    endless = control.reference(lambda t: ([t, 0.0], [1.0, 0.0], [0.0, 0.0]), model)
    with pytest.raises(InputError, match="the motion has no end"):
        export(AffineController(controller.law, endless), tmp_path)
    with pytest.raises(InputError, match='option "sample_time"'):
        export(controller, tmp_path, sample_time=1e-3)
    with pytest.raises(InputError, match='unknown precision "half"'):
        export(controller, tmp_path, precision="half")
    wild = replace(
        controller.law, matrices=controller.law.matrices._replace(template=1e3 * controller.law.matrices.template)
    )
    with pytest.raises(InputError, match="ends early"):
        export(AffineController(wild, controller.reference), tmp_path, model=model)


def _without_motion(controller: AffineController) -> AffineController:
    found = AffineController(controller.law, controller.reference)
    found.reference = None
    return found
