"""Uses of kernels: calls of public functions over all bundled examples, so that a wheel carries every kernel they need.

`supple warmup` covers the common cases in two minutes. A wheel should leave nothing to compile, so that its kernels are
compiled by calling each function with every kind of mechanism: rigid and flexible, planar and spatial, trees and loops,
with drives, friction, superelements and mass-proportional damping. A call that a mechanism does not support is skipped.
"""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import supple
from supple import control
from supple.cli.warmup import BEAM
from supple.compilation.patience import natively
from supple.diagnostics import SuppleError

SOURCE = Path(supple.__file__).parent
SHORT = 0.004  # s
DAMPED = (
    BEAM
    + """
damping: {rayleigh: [0.5, 1e-4]}
motions: {nod: {coordinates: {motor: {from: 0, to: 0.1, velocity: 1, acceleration: 10}}}}
"""
)
TABLE = "stiffness: {x: {over: motor, at: [-0.2, 0, 0.2], values: [1e6, 2e6, 3e6]}}"
SOFTENED = BEAM.replace("{revolute: [ground, arm]}", f"{{revolute: [ground, arm], {TABLE}}}")
UNUSED = {"one_state"}  # only benchmarks call `StateLinearizer`


def entry_kernels(source: Path = SOURCE) -> set[str]:
    """Return the kernels that Python calls, as the source shows, so that none is forgotten below.

    These are kernels with a purpose, which is shown while they compile, and kernels named in a call of
    `compile_kernel`. Those with `count=0` always run interpreted.
    """
    marked, found = set(), set()
    for file in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                marks = [ast.unparse(mark) for mark in node.decorator_list]
                if any(mark.partition("(")[0] == "kernel" for mark in marks):
                    marked.add(node.name)
                    found |= {node.name for mark in marks if "purpose=" in mark}
            elif isinstance(node, ast.Call):
                function, *arguments = [ast.unparse(item) for item in (node.func, *node.args)]
                if function == "partial" and arguments[:1] == ["compile_kernel"]:
                    function, *arguments = arguments
                options = {item.arg: ast.unparse(item.value) for item in node.keywords}
                if function == "compile_kernel" and arguments and options.get("count") != "0":
                    found.add(arguments[0])
    return (found & marked) - UNUSED


def machines() -> Iterator[Any]:
    """Yield all bundled examples, a beam with mass-proportional damping, and one on a joint with a stiffness table."""
    from supple.formats.mechanism_file import loads

    yield loads(DAMPED)
    yield loads(SOFTENED)
    for folder in sorted((Path(__file__).resolve().parents[1] / "examples").iterdir()):
        if (folder / "mechanism.yaml").is_file():
            yield supple.load(folder / "mechanism.yaml")


def run_all() -> tuple[int, int]:
    """Make all calls; return the number of those that ended and of those that a mechanism does not support."""
    done = skipped = 0
    with natively(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for mechanism in machines():
            for call in (
                *of_mechanism(mechanism),
                *of_model(mechanism, {}),
                *of_model(mechanism, {"internal_modes": 1}),
            ):
                try:
                    call()
                    done += 1
                except (SuppleError, ValueError, TypeError, KeyError, StopIteration, AttributeError, IndexError):
                    skipped += 1
            print(f"{mechanism.name}: {done} calls, {skipped} not supported", file=sys.stderr, flush=True)
    return done, skipped


def of_mechanism(mechanism: Any) -> Iterator[Callable[[], object]]:
    """Yield calls of functions of a mechanism."""
    actuators, sensors = list(mechanism.actuators), list(mechanism.sensors)
    output = list(supple.linearize(mechanism).outputs)[:1] if actuators else sensors[:1]
    motions = list(mechanism.motions)
    lines = [1.0, 2.0]
    yield lambda: supple.check(mechanism)
    yield lambda: supple.assemble(mechanism)
    yield lambda: supple.motion(supple.assemble(mechanism), [0.1] * len(supple.assemble(mechanism).theta))
    yield lambda: supple.assemble(mechanism).jacobian()
    yield lambda: supple.branches(mechanism, count=8)
    yield lambda: supple.small_motions(mechanism, rates=[0.1] * len(supple.assemble(mechanism).theta))
    yield lambda: supple.simulate(mechanism, until=SHORT, step=SHORT / 4).reaction(next(iter(mechanism.joints)))
    for body in list(mechanism.bodies)[:1]:
        yield lambda body=body: supple.simulate(mechanism, until=SHORT, step=SHORT / 4).section(body, 0.5)
    for rigid in (False, True):
        yield lambda rigid=rigid: supple.local(mechanism, rigid=rigid)
        yield lambda rigid=rigid: supple.simulate(mechanism, until=SHORT, step=SHORT / 4, rigid=rigid)
        yield lambda rigid=rigid: supple.linearize(mechanism, rigid=rigid)
        for motion in motions[:1]:
            yield lambda rigid=rigid, motion=motion: supple.inverse(mechanism, motion, rigid=rigid)
            yield lambda rigid=rigid, motion=motion: supple.simulate(
                mechanism, motion=motion, until=SHORT, step=SHORT / 4, rigid=rigid
            )
    yield lambda: supple.local(mechanism, internal_modes=2)
    yield lambda: supple.local(mechanism, internal_modes=1, stiffening=True)
    yield lambda: supple.equilibrium(mechanism)
    for free in (False, True):
        yield lambda free=free: supple.modes(mechanism, count=2, free_actuators=free)
        yield lambda free=free: supple.modes(mechanism, count=2, free_actuators=free, preload=False)
        for name in actuators[:1]:
            for kind in (name, f"{name}.acceleration"):
                yield lambda kind=kind, free=free: supple.frf(
                    mechanism, None, [kind], output, lines, free_actuators=free
                )
                yield lambda kind=kind: supple.frf(mechanism, None, [kind], output, lines, preload=False)
                yield lambda kind=kind: supple.frf(mechanism, None, [kind], output, lines, damping={"structural": 0.02})
    yield lambda: supple.deflection(mechanism)
    yield lambda: supple.deflection(mechanism, large=True)
    yield lambda: supple.compliance(mechanism, None, output[:1])
    yield lambda: supple.buckling(mechanism)
    yield lambda: supple.linearize(mechanism, formulation="erls")
    yield lambda: supple.modes(mechanism, count=2, formulation="erls")
    yield lambda: supple.simulate(mechanism, until=SHORT, step=SHORT / 4, drives=True)
    yield lambda: supple.simulate(mechanism, until=SHORT, step=SHORT / 4, formulation="erls")
    for name in list(mechanism.parameters)[:1]:
        yield lambda name=name: supple.linearize(mechanism, along=name)
        yield lambda name=name: supple.modes(mechanism, count=2, along=name)
        yield lambda name=name: supple.local(mechanism, along=name)


def of_model(mechanism: Any, modes: dict[str, int]) -> Iterator[Callable[[], object]]:
    """Yield calls of methods of a reduced model of one box, and of controllers designed on it."""
    try:
        model = supple.reduce(mechanism, boxes=1, fit="quadratic", store=False, rigid=not modes, **modes)
    except (SuppleError, ValueError):
        return
    (box,) = model.provenance["options"]["region"][:1]
    here = np.mean(np.transpose(box) if len(box) != 2 else box, axis=0).ravel()[: model.layout.theta].tolist()
    times, sample = [0.0, SHORT], SHORT / 4
    yield lambda: supple.reduce(mechanism, boxes=1, fit="chebyshev", degree=2, store=False, rigid=not modes, **modes)
    yield lambda: model.evaluate(here)
    yield lambda: model.evaluate([here, here])
    yield lambda: model.fitted.evaluate([here, here])
    for method in ("forward", "inverse"):
        yield lambda method=method: getattr(model, method)(here)
        yield lambda method=method: getattr(model, method)([here, here])
    yield lambda: model.energy(here)
    yield lambda: model.equilibrium(here)
    yield lambda: model.linearize(here)
    yield lambda: model.frf(here, model.layout.inputs[:1], model.layout.outputs[:1], [1.0, 2.0], free_actuators=True)
    for method in ("explicit", "implicit"):
        yield lambda method=method: model.simulate(times, None, here, method=method)
        yield lambda method=method: model.simulate(times, None, here, method=method, drives=True)
    for plant in (mechanism, model):
        yield lambda plant=plant: control.closed_loop(plant, Still(model), until=SHORT, sample_time=sample, start=here)
    if mechanism.motions:
        name = next(iter(mechanism.motions))
        motion = supple.trajectory(mechanism, name)
        designs: tuple[Callable[[], Any], ...] = (
            lambda: control.computed_torque(model, motion, 12.0),
            lambda: control.joint_pd(model, motion, sample_time=sample, frequencies=12.0),
            lambda: control.joint_servo(model, motion, sample_time=sample),
        )
        yield lambda: model.simulate(until=SHORT, motion=motion)
        yield lambda: model.follow(motion)
        yield lambda: supple.inverse(model, name)
        for design in designs:
            for plant in (mechanism, model):
                yield lambda design=design, plant=plant: control.closed_loop(
                    plant, design(), until=SHORT, sample_time=sample
                )


class Still:
    """A controller that commands nothing."""

    def __init__(self, model: Any) -> None:
        self._zeros = dict.fromkeys(model.layout.inputs, 0.0)

    def step(self, t: float, measurement: Any) -> dict[str, float]:
        """Return zero for every actuator."""
        return self._zeros


if __name__ == "__main__":
    os.environ.setdefault("SUPPLE_KERNELS", "compiled")
    print(*run_all())
