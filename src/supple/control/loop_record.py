"""What was kept of a loop at every sample, as a result."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from supple.array_types import Array
from supple.control.plants.sampled import Sampled
from supple.hardware.drive_bank import DriveBank
from supple.results.closed_loop import ClosedLoop
from supple.results.signals import Signals, labelled
from supple.systems.advancing import Plant


def loop_result(
    plant: Plant, drives: DriveBank, samples: Sampled, commands: Array, reference: Any, failed: str
) -> ClosedLoop:
    """The run; commands : (samples reached, a); failed : why the controller stopped, or ""."""
    n = len(commands)
    run = plant.result(samples.forces[:n])
    time = run.time
    n = min(n, len(time))
    known = {item.name: getattr(run, item.name) for item in fields(run)}
    if failed:
        known |= {"reason": failed, "stopped": float(time[-1])}
    inputs, outputs, units = plant.inputs, plant.outputs, plant.units
    told = {name: block.unit or units.inputs.get(name, "") for name, block in zip(inputs, drives.blocks, strict=True)}
    pushing = [i for i, block in enumerate(drives.blocks) if not block.leads]
    return ClosedLoop(
        **known,
        seen_outputs=labelled(time, outputs, samples.seen[:n], units.outputs),
        measured=labelled(time, outputs, samples.readings[:n], units.outputs),
        commands=labelled(time, inputs, commands[:n], told),
        applied=labelled(time, inputs, samples.applied[:n], told),
        forces=labelled(time, [inputs[i] for i in pushing], samples.forces[:n, pushing], units.inputs),
        wanted=_wanted(reference, run.coordinates),
    )


def _wanted(reference: Any, coordinates: Signals) -> Signals:
    """What the reference asks of coordinates over time."""
    if reference is None:
        return Signals(coordinates.time, {})
    values = reference.sampled(coordinates.time)[:, 0]
    names = [name for name in reference.coordinates if name in coordinates]
    columns = [list(reference.coordinates).index(name) for name in names]
    return labelled(coordinates.time, names, values[:, columns], coordinates.units)
