"""What is kept of a loop at every sample, in arrays that are there from the beginning."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.control.measurement import Measurement
from supple.control.plants.plant import Plant
from supple.hardware.drive_bank import DriveBank
from supple.hardware.hardware import Hardware
from supple.hardware.pieces import Pieces
from supple.results.closed_loop import ClosedLoop
from supple.results.signals import Signals, labelled

Array = NDArray[np.float64]


class LoopRecord:
    """Of at most N samples: outputs, true and measured, commands as told and as applied, forces of the drives."""

    def __init__(self, plant: Plant, hardware: Hardware, drives: DriveBank, times: Array) -> None:
        self._plant, self._hardware, self._drives = plant, hardware, drives
        count, inputs, outputs = len(times), len(plant.inputs), len(plant.outputs)
        self._seen, self._measured = np.zeros((2, count, outputs))
        self._commands, self._applied, self._forces = np.zeros((3, count, inputs))
        self._places = [place for place in drives.places if place >= 0]
        self._acting = [i for i, place in enumerate(drives.places) if place >= 0]
        self._yields = bool(drives.stiffness.any() or drives.damping.any())
        self._count = 0

    def keep(self, k: int, seen: Array, measurement: Measurement, command: Array, applied: Array) -> None:
        """Sample k."""
        self._see(k, seen, measurement)
        self._commands[k], self._applied[k] = command, applied

    def _see(self, k: int, seen: Array, measurement: Measurement) -> None:
        self._seen[k] = seen
        self._measured[k] = measurement.numbers[len(measurement.numbers) - len(seen) :]
        self._count = k + 1

    def stop(self, k: int, seen: Array, measurement: Measurement) -> None:
        """Sample k, at which no command came: those before stay."""
        self._see(k, seen, measurement)
        for part in (self._commands, self._applied, self._forces):
            part[k] = part[k - 1]

    def drive(self, k: int, pieces: Pieces) -> None:
        """What drives begin to do at sample k."""
        force = self._forces[k]
        force[:] = pieces.forces[3, 0]
        if self._yields:
            eta, rates = self._plant.state
            acting, places, drives = self._acting, self._places, self._drives
            force[acting] -= drives.stiffness[acting] * eta[places] + drives.damping[acting] * rates[places]

    def result(self, reference: Any, failed: str) -> ClosedLoop:
        """The run, its errors against a reference; failed : why the controller stopped, or ""."""
        plant, hardware, n = self._plant, self._hardware, self._count
        run = plant.result(self._forces[:n])
        time = run.time
        n = min(n, len(time))
        known = {item.name: getattr(run, item.name) for item in fields(run)}
        if failed:
            known |= {"reason": failed, "stopped": float(time[-1])}
        led = {self._drives.inputs[i] for i, place in enumerate(self._drives.places) if place in self._drives.led}
        units = {block.actuator: block.unit for block in hardware.drives}
        told = {name: units.get(name, plant.units.inputs.get(name, "")) for name in plant.inputs}
        pushing = [i for i, name in enumerate(plant.inputs) if name not in led]
        forces = labelled(time, [plant.inputs[i] for i in pushing], self._forces[:n, pushing], plant.units.inputs)
        return ClosedLoop(
            **known,
            seen_outputs=labelled(time, plant.outputs, self._seen[:n], plant.units.outputs),
            measured=labelled(time, plant.outputs, self._measured[:n], plant.units.outputs),
            commands=labelled(time, plant.inputs, self._commands[:n], told),
            applied=labelled(time, plant.inputs, self._applied[:n], told),
            forces=forces,
            wanted=_wanted(reference, run.coordinates),
        )


def _wanted(reference: Any, coordinates: Signals) -> Signals:
    """What the reference asks of coordinates over time, without their deformation."""
    if reference is None:
        return Signals(coordinates.time, {})
    values = np.array([reference.at(float(t))[0] for t in coordinates.time])
    names = [name for name in reference.coordinates if name in coordinates]
    columns = [list(reference.coordinates).index(name) for name in names]
    return labelled(coordinates.time, names, values[:, columns], coordinates.units)
