"""FMUs in FMPy, the same for both versions of the standard."""

from __future__ import annotations

import numpy as np
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave

SLAVES = {"2": FMU2Slave, "3": FMU3Slave}
MODELS = {"2": FMU2Model, "3": FMU3Model}


class Running:
    """An instance in co-simulation or model exchange, the same for both versions."""

    def __init__(self, fmu, *, exchange=False, start=0.0, name="one", values=None, options=None):
        self.version = fmu.version
        kind = (MODELS if exchange else SLAVES)[fmu.version]
        description = fmu.description
        identifier = (description.modelExchange if exchange else description.coSimulation).modelIdentifier
        self.fmu = kind(guid=description.guid if fmu.version == "2" else description.instantiationToken,
                        unzipDirectory=fmu.folder, modelIdentifier=identifier, instanceName=name)  # fmt: skip
        self.fmu.instantiate(**(options or {}))
        if fmu.version == "2":
            self.fmu.setupExperiment(startTime=start)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=start)
        self.references = fmu.references
        if values:
            self.set(values)
        self.fmu.exitInitializationMode()
        if exchange:
            if fmu.version == "2":
                self.fmu.newDiscreteStates()
            else:
                self.fmu.updateDiscreteStates()
            self.fmu.enterContinuousTimeMode()

    def get(self, names):
        getter = self.fmu.getReal if self.version == "2" else self.fmu.getFloat64
        return np.array(getter([self.references[name] for name in names]))

    def set(self, values):
        setter = self.fmu.setReal if self.version == "2" else self.fmu.setFloat64
        setter([self.references[name] for name in values], list(values.values()))

    def step(self, at, length):
        """Whether it was done; False where it was discarded."""
        try:
            self.fmu.doStep(currentCommunicationPoint=at, communicationStepSize=length)
        except FMICallException as error:
            if error.status != 2:
                raise
            return False
        return True

    def end(self):
        self.fmu.terminate()
        self.fmu.freeInstance()


def names_of(rom):
    own = [f"{name}.state" if name in rom.layout.outputs else name for name in rom.layout.coordinates]
    return [*own, *(f"{name}.rate" for name in own)], [f"{name}.force" for name in rom.layout.inputs]


def holding(rom, fmu):
    """Inputs that nearly hold the start, by the names they have there."""
    start = np.array([float(item.start) for item in fmu.description.modelVariables if item.initial == "exact"
                      and item.causality == "local"])  # fmt: skip
    n, s = rom.layout.size, rom.layout.theta
    u = rom.linearize(start[:s], delta=start[s:n], drives=False).at["inputs"]
    return start, {f"{name}.force": value for name, value in u.items()}
