"""`modelDescription.xml` of a unit, for FMI 2.0 and 3.0."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from xml.etree import ElementTree as ET

from supple.export.fmu.unit import Quantity, Unit
from supple.results.units import rate

# Exponents of SI's base units.
_BASES: dict[str, dict[str, int]] = {
    "m": {"m": 1}, "rad": {"rad": 1}, "s": {"s": 1}, "kg": {"kg": 1}, "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1}, "m/s²": {"m": 1, "s": -2}, "rad/s²": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2}, "N m": {"kg": 1, "m": 2, "s": -2}, "Pa": {"kg": 1, "m": -1, "s": -2},
}  # fmt: skip


class Variable(NamedTuple):
    """A variable of the model: its reference, and of which state it is the derivative."""

    name: str
    reference: int
    quantity: Quantity
    causality: str
    variability: str
    initial: str | None
    derivative: int | None = None


def variables(unit: Unit) -> list[Variable]:
    """All of them by their references: time, states, derivatives, inputs, outputs, parameters."""
    n = len(unit.states)
    rates = [Quantity(f"der({item.name})", _rate(item.unit), says=f"derivative of {item.name}") for item in unit.states]
    changing = "discrete" if unit.discrete else "continuous"
    rows: list[tuple[Quantity, str, str, str | None, int | None]] = [
        (Quantity("time", "s", says="time"), "independent", "continuous", None, None)
    ]
    rows += [(item, "local", "continuous", "exact", None) for item in unit.states]
    rows += [(item, "local", "continuous", "calculated", 1 + i) for i, item in enumerate(rates)]
    rows += [(item, "input", changing, None, None) for item in unit.inputs]
    rows += [(item, "output", changing, "calculated", None) for item in unit.outputs]
    rows += [(item, "parameter", "tunable", "exact", None) for item in unit.parameters]
    names = _unique(row[0].name for row in rows)
    assert len(names) == 1 + 2 * n + len(unit.inputs) + len(unit.outputs) + len(unit.parameters)
    return [Variable(name, at, *row) for at, (name, row) in enumerate(zip(names, rows, strict=True))]


def _rate(unit: str) -> str:
    """m/s of m, and m/s² of m/s."""
    return f"{unit}²" if unit.endswith("/s") else rate(unit)


def _unique(names: Iterable[str]) -> list[str]:
    """Names that XML can hold, on one line, all different."""
    found: list[str] = []
    for name in names:
        plain = _plain(name) or "unnamed"
        candidate, count = plain, 1
        while candidate in found:
            count += 1
            candidate = f"{plain}_{count}"
        found.append(candidate)
    return found


def _plain(text: str) -> str:
    """Without what XML 1.0 forbids, and spaces in the place of line ends and tabs."""
    kept = re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
    return " ".join(kept.split())


def description(unit: Unit, version: str, token: str, sources: list[str], tool: str) -> bytes:
    """The file's content; version : "2" or "3"; token : what an instance must be asked for with."""
    listed = variables(unit)
    root = ET.Element("fmiModelDescription", {
        "fmiVersion": "2.0" if version == "2" else "3.0", "modelName": _plain(unit.name) or "unnamed",
        "guid" if version == "2" else "instantiationToken": token, "description": _plain(unit.says),
        "generationTool": tool, "variableNamingConvention": "flat",
        **({"numberOfEventIndicators": "0"} if version == "2" else {}),
    })  # fmt: skip
    _kinds(root, unit, version, sources)
    _units(root, listed)
    experiment = {"startTime": "0", "stopTime": "1", "stepSize": repr(unit.step)}
    log = ET.Element("LogCategories")
    for name in ("logStatusDiscard", "logStatusError"):
        ET.SubElement(log, "Category", name=name)
    root.append(log)
    ET.SubElement(root, "DefaultExperiment", experiment)
    holder = ET.SubElement(root, "ModelVariables")
    for item in listed:
        (_variable_2 if version == "2" else _variable_3)(holder, item)
    (_structure_2 if version == "2" else _structure_3)(ET.SubElement(root, "ModelStructure"), unit)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _kinds(root: ET.Element, unit: Unit, version: str, sources: list[str]) -> None:
    able = {"canSerializeFMUstate" if version == "2" else "canSerializeFMUState": "true"}
    able["canGetAndSetFMUstate" if version == "2" else "canGetAndSetFMUState"] = "true"
    if unit.exchanged:
        able["providesDirectionalDerivative" if version == "2" else "providesDirectionalDerivatives"] = "true"
    if unit.exchanged and version == "3":
        able["providesAdjointDerivatives"] = "true"
    if version == "2":
        able["canNotUseMemoryManagementFunctions"] = "true"
    stepped = {"canHandleVariableCommunicationStepSize": "true"}
    for name, more in (("ModelExchange", {}), ("CoSimulation", stepped)):
        if name == "ModelExchange" and not unit.exchanged:
            continue
        kind = ET.SubElement(root, name, {"modelIdentifier": unit.identifier, **able, **more})
        if version == "2":
            files = ET.SubElement(kind, "SourceFiles")
            for source in sources:
                ET.SubElement(files, "File", name=source)


def _units(root: ET.Element, listed: list[Variable]) -> None:
    names = sorted({item.quantity.unit for item in listed if item.quantity.unit})
    if names:
        holder = ET.SubElement(root, "UnitDefinitions")
        for name in names:
            unit = ET.SubElement(holder, "Unit", name=name)
            if name in _BASES:
                ET.SubElement(unit, "BaseUnit", {base: str(power) for base, power in _BASES[name].items()})


def _facts(item: Variable) -> dict[str, str]:
    facts = {"name": item.name, "valueReference": str(item.reference)}
    if item.quantity.says:
        facts["description"] = _plain(item.quantity.says)
    return facts | {"causality": item.causality, "variability": item.variability}


def _starts(item: Variable) -> bool:
    return item.initial == "exact" or item.causality == "input"


def _range(item: Variable) -> dict[str, str]:
    return {} if item.quantity.range is None else dict(zip(("min", "max"), map(repr, item.quantity.range), strict=True))


def _variable_2(holder: ET.Element, item: Variable) -> None:
    initial = {"initial": item.initial} if item.initial else {}
    scalar = ET.SubElement(holder, "ScalarVariable", _facts(item) | initial)
    real = {"unit": item.quantity.unit} if item.quantity.unit else {}
    if _starts(item):
        real["start"] = repr(float(item.quantity.start))
    if item.derivative is not None:
        real["derivative"] = str(item.derivative + 1)  # counted from one
    real |= _range(item)
    ET.SubElement(scalar, "Real", real)


def _variable_3(holder: ET.Element, item: Variable) -> None:
    facts = _facts(item)
    if item.initial:
        facts["initial"] = item.initial
    if item.quantity.unit:
        facts["unit"] = item.quantity.unit
    if item.derivative is not None:
        facts["derivative"] = str(item.derivative)
    if _starts(item):
        facts["start"] = repr(float(item.quantity.start))
    ET.SubElement(holder, "Float64", facts | _range(item))


def _references(unit: Unit, on: tuple[list[int], list[int]]) -> list[int]:
    """Of states and inputs that something depends on."""
    first_input = 1 + 2 * len(unit.states)
    return [*(1 + i for i in on[0]), *(first_input + i for i in on[1])]


def _unknowns(unit: Unit) -> tuple[list[tuple[int, list[int]]], list[tuple[int, list[int]]]]:
    """References of derivatives and of outputs, with those they depend on."""
    n, first = len(unit.states), 1 + 2 * len(unit.states) + len(unit.inputs)
    rates = [(1 + n + i, _references(unit, on)) for i, on in enumerate(unit.rates_on)]
    return rates, [(first + i, _references(unit, on)) for i, on in enumerate(unit.feeds)]


def _structure_2(structure: ET.Element, unit: Unit) -> None:
    rates, outputs = _unknowns(unit)
    for name, rows in (("Outputs", outputs), ("Derivatives", rates), ("InitialUnknowns", sorted(rates + outputs))):
        if rows:
            holder = ET.SubElement(structure, name)
            for reference, on in rows:
                depends = " ".join(str(item + 1) for item in on)
                ET.SubElement(holder, "Unknown", index=str(reference + 1), dependencies=depends)


def _structure_3(structure: ET.Element, unit: Unit) -> None:
    rates, outputs = _unknowns(unit)
    named = (("Output", outputs), ("ContinuousStateDerivative", rates), ("InitialUnknown", sorted(rates + outputs)))
    for name, rows in named:
        for reference, on in rows:
            depends = " ".join(map(str, on))
            ET.SubElement(structure, name, valueReference=str(reference), dependencies=depends)
