"""The plants of a study: the nominal one with other parameters, stiffness, damping, delays, noise or modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from supple.description.mechanism import Mechanism
from supple.diagnostics import InputError, nearest
from supple.formats.document import load_mechanism
from supple.hardware.hardware import Hardware
from supple.reduced.model import ReducedModel
from supple.reduced.scaled import scaled
from supple.reduction.reduce import reduce
from supple.reduction.region import Region
from supple.reduction.sibling import Siblings
from supple.reduction.sibling_family import SiblingFamily, sibling_family

FACTORS = ("stiffness", "damping")
SURROUNDINGS = ("delay", "noise")
MODES = "internal_modes"
_MANY = 40  # plants, from which on a family pays
KNOWN = (*FACTORS, *SURROUNDINGS, MODES)


@dataclass(frozen=True, eq=False)
class PlantMaker:
    """Makes the plant of a setting {quantity: value}; what plants have in common is made once.

    source     : a mechanism file, or a reduced model, which knows the parameters alone that it was reduced over
    parameters : names of those of the file, or of the model, that are varied
    full       : the mechanism itself is the plant, not a reduced model of it
    reduction  : options of `reduce`: internal_modes, tolerance, ...
    """

    source: str | ReducedModel
    parameters: tuple[str, ...] = ()
    full: bool = False
    region: Region = None
    reduction: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, settings: Sequence[Mapping[str, float]]) -> None:
        """Reduce the nominal mechanism once for every number of modes, before processes are told of it."""
        if not (self.full or isinstance(self.source, ReducedModel)):
            for modes in {self._modes(setting) for setting in settings}:
                self._siblings(modes)
                self._families[modes] = self._family(modes, settings)

    def _modes(self, setting: Mapping[str, float]) -> int:
        return int(setting.get(MODES, self.reduction.get(MODES, 0)))

    def plant(self, setting: Mapping[str, float]) -> Mechanism | ReducedModel:
        """With the parameters, factors and modes of a setting."""
        values = {name: setting[name] for name in self.parameters if name in setting}
        if self.full:
            return load_mechanism(str(self.source), parameters=values)
        model = self._model(self._modes(setting), values)
        return scaled(model, stiffness=setting.get("stiffness", 1.0), damping=setting.get("damping", 1.0))

    def _model(self, modes: int, values: Mapping[str, float]) -> ReducedModel:
        if isinstance(self.source, ReducedModel):
            return self.source.at(values) if values else self.source
        if not values:
            return self._siblings(modes).model
        family = self._families.get(modes)
        if family is not None:
            return family.of(values)
        return self._siblings(modes).of(load_mechanism(self.source, parameters=dict(values)))

    def _family(self, modes: int, settings: Sequence[Mapping[str, float]]) -> SiblingFamily | None:
        """Plants between a few, where that is less work than each by itself."""
        if not self.parameters or len(settings) < _MANY:
            return None
        values = {name: [setting[name] for setting in settings] for name in self.parameters}
        ranges = {name: (min(item), max(item)) for name, item in values.items()}
        return sibling_family(
            self._siblings(modes), lambda given: load_mechanism(str(self.source), parameters=dict(given)), ranges
        )

    @cached_property
    def _families(self) -> dict[int, SiblingFamily | None]:
        return {}

    @cached_property
    def _made(self) -> dict[int, Siblings]:
        return {}

    def _siblings(self, modes: int) -> Siblings:
        if modes not in self._made:
            options = {**self.reduction, MODES: modes} if modes else dict(self.reduction)
            model = reduce(load_mechanism(str(self.source)), region=self.region, store=False, progress=False, **options)
            self._made[modes] = Siblings(model)
        return self._made[modes]


def plant_maker(
    plant: Any, spreads: Mapping[str, Any], full: bool, region: Region, reduction: dict[str, Any]
) -> PlantMaker:
    """The maker for a study, its spreads checked against what can be varied."""
    names = tuple(name for name in spreads if name not in KNOWN)
    if isinstance(plant, ReducedModel):
        known = () if plant.family is None else plant.family.names
        settled = [name for name in names if name not in known]
        if settled or MODES in spreads or full:
            what = f'parameter "{settled[0]}"' if settled else "other modes"
            raise InputError(
                f"a reduced model has no {what} any more",
                part="study", hint="give the mechanism file, whose plants are reduced one by one, or a model that was "
                "reduced over it (--vary)",
            )  # fmt: skip
        return PlantMaker(plant, names)
    if isinstance(plant, Mechanism):
        raise InputError(
            "a mechanism has its numbers already, without the parameters that they came from", part="study",
            hint="give its file, or a reduced model of it",
        )  # fmt: skip
    mechanism = load_mechanism(plant)
    for name in names:
        if name not in mechanism.parameters:
            raise InputError(f'"{name}" is no parameter of {plant}', part="study",
                             hint=nearest(name, [*mechanism.parameters, *KNOWN]))  # fmt: skip
    if full and any(name in spreads for name in (*FACTORS, MODES)):
        raise InputError(
            "stiffness and damping of a mechanism are parameters of its file", part="study",
            hint="name those parameters, or study reduced plants",
        )  # fmt: skip
    return PlantMaker(str(Path(plant).resolve()), names, full, region, reduction)


def surroundings(hardware: Hardware, setting: Mapping[str, float]) -> tuple[Hardware, float]:
    """Drives and instruments with noise times a factor and every drive later by a delay, s; without drives the delay
    is left over, and returned, for the computation."""
    late, loud = setting.get("delay", 0.0), setting.get("noise", 1.0)
    if late and any(block.delay + late < 0.0 for block in hardware.drives):
        least = min(block.delay for block in hardware.drives)
        raise InputError(
            f"{late:g} s is sooner than at once: a drive has {least:g} s alone", part='spread of "delay"',
            hint=f"begin it at {-least:g}",
        )  # fmt: skip
    drives = tuple(replace(block, delay=block.delay + late) for block in hardware.drives)
    heard = tuple(replace(item, noise=loud * item.noise, walk=loud * item.walk) for item in hardware.instruments)
    return replace(hardware, drives=drives, instruments=heard), 0.0 if drives else late
