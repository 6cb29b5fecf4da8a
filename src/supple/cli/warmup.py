"""`supple warmup`: compile all kernels at once, so that later commands start without compiling."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from supple.cli.answer import open_answer
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
BEAM = """
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
    """Two small mechanisms that together use every kernel, and their reduced models."""

    loop: Mechanism
    beam: Mechanism
    rigid_model: ReducedModel | None = None
    flexible_model: ReducedModel | None = None


class Job(NamedTuple):
    """A group of kernels, and a call that uses them."""

    name: str
    run: Callable[[Machines], Machines | None]


def warmup(as_json: Json = False) -> None:
    """Compile all kernels for this machine and cache them."""
    with open_answer(as_json) as answer:
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from multiprocessing import get_context

        from supple.compilation.kernel import cache_folder

        start, done, count, used = time.perf_counter(), 0, 0, 0.0
        workers = min(len(CHAINS), os.cpu_count() or 1)
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            waiting = {pool.submit(run_chain, chain): chain_summary(chain) for chain in range(len(CHAINS))}
            for found in as_completed(waiting):
                compiled, seconds = found.result()
                done, count, used = done + 1, count + compiled, used + seconds
                print(f"{done} of {len(CHAINS)} done: {waiting[found]}", file=sys.stderr, flush=True)
        passed, cache = time.perf_counter() - start, cache_folder()
        answer.give(
            {"compiled": count, "seconds": passed, "processor_seconds": used, "folder": str(cache)},
            lambda: print(
                f"{count} kernels compiled in {passed:.0f} s ({used:.0f} s of processor time), cached in {cache}"
            ),
        )


def chain_summary(chain: int) -> str:
    """Return a description of the kernels that a chain compiles."""
    return ", ".join(job.name for job in CHAINS[chain])


def run_chain(chain: int) -> tuple[int, float]:
    """Run the jobs of a chain in this process; return the number of compiled kernels and the processor time, s."""
    from supple.compilation import announcement
    from supple.compilation.patience import natively
    from supple.formats.mechanism_file import loads

    before, used = announcement.compiled_count(), time.process_time()
    machines = Machines(loads(_LOOP), loads(BEAM))
    with announcement.quietly(), natively(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about these test machines do not concern the user
        for job in CHAINS[chain]:
            machines = job.run(machines) or machines
    return announcement.compiled_count() - before, time.process_time() - used


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
    supple.modes(machines.beam, {"motor": 0.1}, count=2, free_actuators=True)
    supple.deflection(machines.beam, {"motor": 0.1}, large=True)


def _time(machines: Machines) -> None:
    import supple

    supple.simulate(machines.loop, until=0.01)
    supple.simulate(machines.beam, until=0.002, step=1e-3).section("arm", 0.5)
    supple.inverse(machines.loop, "nod")


def _vibration(machines: Machines) -> None:
    import supple

    supple.modes(machines.beam, {"motor": 0.1}, count=2)
    supple.deflection(machines.beam, {"motor": 0.1})
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


def _hardware(machines: Machines) -> None:
    import numpy as np

    from supple.hardware.drive_bank import DriveBank
    from supple.hardware.hardware import Hardware
    from supple.hardware.instrument import Instrument
    from supple.hardware.instrument_bank import InstrumentBank

    drives, still = DriveBank(Hardware(), ("crank",), ("crank",), {}), np.zeros(1)
    drives.reset(still, still)
    drives.send_command(still)
    drives.pieces(1e-3, still)
    InstrumentBank(Hardware((), (Instrument("tip"),)), ("tip",), 1e-3, 1).read(0, still)


# Jobs of a chain share machines and kernels. Chains are independent of each other and take about the same time. Kernels
# that two chains need are compiled twice, so that there are only as many chains as a small machine has cores.
CHAINS = (
    (
        Job("closing loops, local models", _loops),
        Job("modes, static and frequency responses", _vibration),
        Job("local models with modes", _flexible),
        Job("reduction", _reduction),
        Job("reduced models", _models),
    ),
    (
        Job("motion in time, inverse dynamics", _time),
        Job("linear models, free actuators", _linear),
        Job("drives and instruments", _hardware),
    ),
)
