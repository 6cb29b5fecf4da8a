"""`supple warmup`: compile every kernel in one go, so that nothing has to wait for it later."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from supple.cli.answer import answering
from supple.cli.options import Json

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.reduced.model import ReducedModel

_LOOP = """
supple: 1
plane: xz
points: {A: [0, 0], B: [0.3, 0], E: [0.54, 0.52], D: [1, 0]}
bodies: {crank: {rod: [A, B], mass: 1}, coupler: {rod: [B, E], mass: 1}, follower: {rod: [D, E], mass: 1}}
joints: {A: {revolute: [ground, crank]}, B: {revolute: [crank, coupler]}, E: {revolute: [coupler, follower]},
         D: {revolute: [follower, ground]}}
actuators: {crank: {joint: A, limits: [-0.2, 0.2]}}
sensors: {tip: {position: E}}
motions: {nod: {coordinates: {crank: {from: 0, to: 0.1, velocity: 1, acceleration: 10}}}}
"""
_BEAM = """
supple: 1
plane: xz
gravity: [0, -9.81]
materials: {steel: {youngs_modulus: 210e9, density: 7800}}
sections: {bar: {rectangle: [20 mm, 10 mm]}}
points: {O: [0, 0], T: [1, 0]}
bodies: {arm: {beam: [O, T], section: bar, material: steel}}
joints: {O: {revolute: [ground, arm]}}
actuators: {motor: {joint: O, limits: [-0.2, 0.2]}}
sensors: {tip: {position: T}}
"""


class Machines(NamedTuple):
    """Two small mechanisms that between them need every kernel, and their reduced models."""

    loop: Mechanism
    beam: Mechanism
    rigid_model: ReducedModel | None = None
    flexible_model: ReducedModel | None = None


class Job(NamedTuple):
    """What is compiled, about which part of all the time that takes, and a call that needs it."""

    name: str
    share: float
    run: Callable[[Machines], Machines | None]


def warmup(as_json: Json = False) -> None:
    """Compile all kernels for this machine, once, with the time that is left."""
    with answering(as_json) as answer:
        from supple.compilation import announcement
        from supple.compilation.kernel import cache_folder
        from supple.compilation.patience import natively
        from supple.formats.mechanism_file import loads

        cache = cache_folder()
        before = announcement.heard()
        machines = Machines(loads(_LOOP), loads(_BEAM))
        start, used, done = time.perf_counter(), time.process_time(), 0.0
        with announcement.quietly(), natively(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of these machines nobody wants to know anything
            for number, job in enumerate(JOBS, 1):
                to_go = (time.perf_counter() - start) * (1.0 - done) / done if done > 0.05 else None
                left = "" if to_go is None else f", about {to_go:.0f} s to go"
                print(f"{number} of {len(JOBS)}: {job.name}{left}", file=sys.stderr, flush=True)
                machines = job.run(machines) or machines
                done += job.share
        passed, used = time.perf_counter() - start, time.process_time() - used
        count = announcement.heard() - before
        answer.give(
            {"compiled": count, "seconds": passed, "processor_seconds": used, "folder": str(cache)},
            lambda: print(f"{count} kernels compiled in {passed:.0f} s ({used:.0f} s of processor), kept in {cache}"),
        )


def _loops(machines: Machines) -> None:
    import numpy as np

    import supple

    here = supple.assemble(machines.loop, np.array([[0.0], [0.1]]))
    supple.motion(here, [[1.0], [1.0]])
    supple.local(machines.loop, here)


def _linear(machines: Machines) -> None:
    import supple

    supple.linearize(machines.loop, {"crank": 0.1}, rates={"crank": 1.0})
    supple.linearize(machines.beam, {"motor": 0.1}, rigid=True)


def _time(machines: Machines) -> None:
    import supple

    supple.simulate(machines.loop, until=0.01)
    supple.simulate(machines.beam, until=0.002, step=1e-3).section("arm", 0.5)
    supple.inverse(machines.loop, "nod")


def _vibration(machines: Machines) -> None:
    import supple

    supple.modes(machines.beam, {"motor": 0.1}, count=2)
    supple.modes(machines.beam, {"motor": 0.1}, count=2, free_actuators=True)
    supple.deflection(machines.beam, {"motor": 0.1})
    supple.deflection(machines.beam, {"motor": 0.1}, large=True)
    supple.frf(machines.beam, {"motor": 0.1}, "motor.acceleration", "tip.z", [1.0, 2.0])


def _flexible(machines: Machines) -> None:
    import supple

    supple.local(machines.beam, {"motor": 0.1}, internal_modes=1)


def _reduction(machines: Machines) -> Machines:
    import supple

    rigid = supple.reduce(machines.loop, fit="quadratic", boxes=1, store=False)
    flexible = supple.reduce(machines.beam, internal_modes=1, fit="chebyshev", boxes=1, store=False)
    return machines._replace(rigid_model=rigid, flexible_model=flexible)


def _models(machines: Machines) -> None:
    import supple

    for model in (machines.rigid_model, machines.flexible_model):
        assert model is not None
        theta = model.layout.theta
        model.evaluate([0.1] * theta)
        model.evaluate([[0.1] * theta, [0.0] * theta])
        model.forward([0.1] * theta)
        model.inverse([0.1] * theta)
        model.forward([[0.1] * theta] * 2)
        model.inverse([[0.1] * theta] * 2)
        if model.layout.size > theta:
            model.evaluate([[0.1] * theta] * 2, delta=[[0.0] * (model.layout.size - theta)] * 2)
            model.follow(supple.trajectory(machines.beam, lambda _: ([0.1], [0.0], [0.0]), times=[0.0, 0.001]))
        model.energy([0.1] * theta)
        model.simulate([0.0, 0.001], None, [0.1] * theta, method="explicit")
        model.simulate([0.0, 0.001], None, [0.1] * theta, method="implicit")


JOBS = (
    Job("closing loops, local models", 0.2, _loops),
    Job("motion in time, inverse dynamics", 0.15, _time),
    Job("linear models", 0.15, _linear),
    Job("modes, static and frequency responses", 0.15, _vibration),
    Job("local models with modes", 0.2, _flexible),
    Job("reduction", 0.05, _reduction),
    Job("reduced models", 0.1, _models),
)
