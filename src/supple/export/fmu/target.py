"""Export target "fmu": C code with the functions of FMI, their description and compiled libraries in a zip archive."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from supple.diagnostics import InputError, NumericalError, SuppleWarning, require_known
from supple.export.c.source_text import c_table
from supple.export.fmu.plant import plant, require_model
from supple.export.fmu.unit import FmuContents, FmuQuantity
from supple.export.target import ExportTarget
from supple.export.template import fill_template, template_parts
from supple.results.linear_model import LinearModel
from supple.results.units import rate_unit

if TYPE_CHECKING:
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_law import AffineLaw


VERSIONS = ("2", "3")


def fmu_files(
    rom: object,
    prefix: str,
    *,
    fmi: str = "2",
    start: object = None,
    step: float | None = None,
    method: str = "auto",
    platforms: Sequence[str] = (),
) -> dict[str, bytes]:
    """Return `<prefix>.fmu` of a reduced model.

    fmi                 : FMI version, "2" or "3"
    start, step, method : as in `plant`
    platforms           : names of further platforms to compile for
    """
    model = require_model(rom)
    return {
        f"{prefix}.fmu": fmu_archive(plant(model, prefix, start=start, step=step, method=method), str(fmi), platforms)
    }


def fmu_laws(
    law: AffineLaw | ComputedTorque, prefix: str, *, fmi: str = "2", platforms: Sequence[str] = ()
) -> dict[str, bytes]:
    """Return the FMU of a control law."""
    from supple.control.laws.affine_law import AffineLaw
    from supple.export.fmu.law_unit import law_unit

    if not isinstance(law, AffineLaw):
        raise InputError("computed torque cannot be exported as an FMU", part="export", hint='use to="c"')
    return {f"{prefix}.fmu": fmu_archive(law_unit(law, prefix), str(fmi), platforms)}


def fmu_linear(linear: LinearModel, prefix: str, *, fmi: str = "2", platforms: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the FMU of a linear model."""
    return {f"{prefix}.fmu": fmu_archive(linear_unit(linear, prefix), str(fmi), platforms)}


def fmu_archive(unit: FmuContents, version: str, platforms: Sequence[str] = ()) -> bytes:
    """Return the zip archive of an FMU."""
    if version not in VERSIONS:
        raise InputError(f'unknown FMI version "{version}"', part="export", hint='give "2" or "3"')
    code = {name: _wrapper(name) for name in ("instance.h", f"fmi{version}.c")} | dict(unit.sources)
    token = _token(unit, version, code)
    code["unit.h"] = unit.header(token)
    sources = sorted(name for name in code if name.endswith(".c"))
    tool = f"supple {metadata.version('supple')}"
    content: dict[str, bytes] = {"modelDescription.xml": model_description_xml(unit, version, token, sources, tool)}
    content |= {f"sources/{name}": text.encode("utf-8") for name, text in sorted(code.items())}
    if version == "3":
        content["sources/buildDescription.xml"] = _build_description(unit, sources)
    content |= _binaries(unit, version, code, platforms)
    return _zip_content(content)


def _wrapper(name: str) -> str:
    return resources.files("supple.export.fmu").joinpath("wrapper", name).read_text("utf-8")


def _token(unit: FmuContents, version: str, code: Mapping[str, str]) -> str:
    """Return a token from all contents: different models have different tokens, equal ones the same."""
    numbers = repr((unit.states, unit.inputs, unit.outputs, unit.parameters))
    # The token must not change with names in Python: it has the names that it had in the first version.
    numbers = numbers.replace(f"{FmuQuantity.__name__}(", "Quantity(").replace(", description=", ", says=")
    contents = "\0".join([version, numbers, *map(str, code.items())])
    digest = hashlib.sha256(contents.encode("utf-8", "backslashreplace")).hexdigest()
    return "{" + "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]]) + "}"


def _binaries(unit: FmuContents, version: str, code: Mapping[str, str], platforms: Sequence[str]) -> dict[str, bytes]:
    here, compiler = this_platform(), local_compiler()
    compilers = {name: cross_compiler(name) for name in platforms if name != here}
    if here is not None and compiler is not None:
        compilers[here] = compiler
    else:
        warnings.warn(
            "the FMU contains sources only, since no C compiler was found (cc, gcc, clang or $CC); "
            "the importing program must compile them",
            SuppleWarning,
            stacklevel=2,
        )
    found = {}
    for name, command in compilers.items():
        place = PLATFORMS[name]
        folder = place.folder2 if version == "2" else place.folder3
        found[f"binaries/{folder}/{unit.identifier}{place.ending}"] = shared_library(command, name, code)
    return found


def _build_description(unit: FmuContents, sources: Sequence[str]) -> bytes:
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    build = ET.SubElement(root, "BuildConfiguration", modelIdentifier=unit.identifier)
    files = ET.SubElement(build, "SourceFileSet", language="C99")
    for name in sources:
        ET.SubElement(files, "SourceFile", name=name)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _zip_content(content: Mapping[str, bytes]) -> bytes:
    """Return a zip archive; equal contents give equal bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            archive.writestr(entry, data)
        archive.comment = b"Generated by supple"
    return file.getvalue()


FMU = ExportTarget(
    "fmu",
    "Functional Mock-up Unit, FMI 2.0 or 3.0, for co-simulation and model exchange",
    fmu_files,
    fmu_laws,
    linear=fmu_linear,
    options=("fmi", "start", "step", "method", "platforms"),
    families=True,
)


# FMU contents of a linear model: variables are deviations from the operating point.


PARTS = template_parts("supple.export.fmu", "linear.c")


def linear_unit(linear: LinearModel, prefix: str) -> FmuContents:
    """Return the FMU contents of a model in continuous time."""
    if linear.step is not None:
        raise InputError("the linear model is in discrete time", part="export", hint="export the continuous-time model")
    matrices = {"A_": linear.A, "B_": linear.B, "C_": linear.C, "D_": linear.D}
    if not all(np.isfinite(matrix).all() for matrix in matrices.values()):
        raise InputError(
            "its matrices are not finite", part="linear model", hint="linearize at another operating point"
        )
    states = tuple(FmuQuantity(name, _unit(linear, name), description="deviation") for name in _own(linear))
    units = {} if linear.delays else linear.units.inputs  # commands of drives have their own units
    inputs = tuple(FmuQuantity(f"{name}.input", units.get(name, "")) for name in linear.inputs)
    about = ", ".join(f"{name} {value:.6g}" for name, value in linear.at.get("states", {}).items())
    everything = (list(range(len(states))), list(range(len(inputs))))
    feeds = [(np.flatnonzero(c).tolist(), np.flatnonzero(d).tolist()) for c, d in zip(linear.C, linear.D, strict=True)]
    unit = FmuContents(
        prefix, prefix, f"Linear model of {len(states)} states: all variables are deviations from {about}", states,
        inputs, tuple(FmuQuantity(name, linear.units.outputs.get(name, "")) for name in linear.outputs), (),
        tuple(everything for _ in states), tuple(feeds), {},
    )  # fmt: skip
    tables = "".join(c_table("double", name, np.append(matrix.ravel(), 0.0)) for name, matrix in matrices.items())
    fastest = float(np.abs(linear.A).sum(axis=0).max(initial=0.0))  # steps h with |A| h of at most one
    source = fill_template(PARTS["source"], {"tables": tables + unit.starts(), "fastest": repr(fastest)})
    return replace(unit, sources={"unit.c": source})


def _own(linear: LinearModel) -> list[str]:
    return [f"{name}.state" if name in linear.outputs else name for name in linear.states]


def _unit(linear: LinearModel, own: str) -> str:
    name = own.removesuffix(".state")
    known = linear.units.coordinates
    return known.get(name) or rate_unit(known.get(name.removesuffix(".rate"), "")) if name in linear.states else ""


# Compiled libraries of an FMU: for this platform by the local compiler, for others by zig if it is installed.


class Platform(NamedTuple):
    """Platform of a compiled library.

    folder2, folder3 : folder in archives of FMI 2.0 and 3.0
    ending           : file name extension
    target           : zig's name of the platform
    """

    folder2: str
    folder3: str
    ending: str
    target: str


PLATFORMS = {
    "linux": Platform("linux64", "x86_64-linux", ".so", "x86_64-linux-gnu"),
    "linux-arm64": Platform("aarch64-linux", "aarch64-linux", ".so", "aarch64-linux-gnu"),
    "windows": Platform("win64", "x86_64-windows", ".dll", "x86_64-windows-gnu"),
    "macos": Platform("darwin64", "x86_64-darwin", ".dylib", "x86_64-macos"),
    "macos-arm64": Platform("aarch64-darwin", "aarch64-darwin", ".dylib", "aarch64-macos"),
}
_FLAGS = ["-std=c99", "-O3", "-shared", "-fvisibility=hidden"]


def this_platform() -> str | None:
    """Return the platform that supple runs on, None if it is not among the known ones."""
    arm = platform.machine().lower() in ("aarch64", "arm64")
    known = {"linux": "linux", "darwin": "macos", "win32": "windows"}.get(sys.platform)
    name = f"{known}-arm64" if known and arm else known
    return name if name in PLATFORMS else None


def local_compiler() -> list[str] | None:
    """Return the command of the C compiler: $CC, or cc, gcc or clang; None if there is none."""
    command = shlex.split(os.environ.get("CC", ""))
    if command and shutil.which(command[0]):
        return command
    found = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    return None if found is None else [found]


def cross_compiler(name: str) -> list[str]:
    """Return the command of zig's C compiler, from the package ziglang."""
    require_known("platform", name, tuple(PLATFORMS), part="export")
    if importlib.util.find_spec("ziglang") is None:
        raise InputError(
            f'platform "{name}" needs a cross compiler', part="export", hint="install zig: pip install ziglang"
        )
    return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[name].target]


def shared_library(command: list[str], name: str, sources: Mapping[str, str]) -> bytes:
    """Return the shared library compiled from C sources."""
    with tempfile.TemporaryDirectory(prefix="supple-fmu-") as made:
        folder = Path(made)
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        library = folder / f"unit{PLATFORMS[name].ending}"
        files = [file for file in sources if file.endswith(".c")]
        position = [] if name == "windows" else ["-fPIC"]
        mathematics = ["-lm"] if name.startswith("linux") else []
        try:
            done = subprocess.run(
                [*command, *_FLAGS, *position, *files, *mathematics, "-o", library.name],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError as error:
            raise InputError(
                f"cannot run {command[0]}: {error.strerror or error}", part="export", hint="set CC to a C compiler"
            ) from None
        if done.returncode or not library.is_file():
            text = (done.stderr.strip() or "no message").splitlines()[-1][:300]
            raise NumericalError(
                f"the compiler {command[0]} failed: {text}", part="export", hint="set CC to another C compiler"
            )
        return library.read_bytes()


# File `modelDescription.xml`, for FMI 2.0 and 3.0.


# Exponents of SI base units.
_BASES: dict[str, dict[str, int]] = {
    "m": {"m": 1}, "rad": {"rad": 1}, "s": {"s": 1}, "kg": {"kg": 1}, "m/s": {"m": 1, "s": -1},
    "rad/s": {"rad": 1, "s": -1}, "m/s²": {"m": 1, "s": -2}, "rad/s²": {"rad": 1, "s": -2},
    "N": {"kg": 1, "m": 1, "s": -2}, "N m": {"kg": 1, "m": 2, "s": -2}, "Pa": {"kg": 1, "m": -1, "s": -2},
}  # fmt: skip


class Variable(NamedTuple):
    """Variable of the FMU: its value reference, and the state of which it is the derivative."""

    name: str
    reference: int
    quantity: FmuQuantity
    causality: str
    variability: str
    initial: str | None
    derivative: int | None = None


def fmu_variables(unit: FmuContents) -> list[Variable]:
    """Return all variables in the order of their references: time, states, derivatives, inputs, outputs, parameters."""
    n = len(unit.states)
    rates = [
        FmuQuantity(f"der({item.name})", _rate(item.unit), description=f"derivative of {item.name}")
        for item in unit.states
    ]
    changing = "discrete" if unit.discrete else "continuous"
    rows: list[tuple[FmuQuantity, str, str, str | None, int | None]] = [
        (FmuQuantity("time", "s", description="time"), "independent", "continuous", None, None)
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
    """Return the unit of a rate: m/s for m, and m/s² for m/s."""
    return f"{unit}²" if unit.endswith("/s") else rate_unit(unit)


def _unique(names: Iterable[str]) -> list[str]:
    """Return names that are valid in XML, on one line, and unique."""
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
    """Return text without characters that XML 1.0 forbids; line ends and tabs become spaces."""
    kept = re.sub("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)
    return " ".join(kept.split())


def model_description_xml(unit: FmuContents, version: str, token: str, sources: list[str], tool: str) -> bytes:
    """Return the content of the file; version : "2" or "3"; token : instantiation token."""
    listed = fmu_variables(unit)
    root = ET.Element("fmiModelDescription", {
        "fmiVersion": "2.0" if version == "2" else "3.0", "modelName": _plain(unit.name) or "unnamed",
        "guid" if version == "2" else "instantiationToken": token, "description": _plain(unit.description),
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


def _kinds(root: ET.Element, unit: FmuContents, version: str, sources: list[str]) -> None:
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
    if item.quantity.description:
        facts["description"] = _plain(item.quantity.description)
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
        real["derivative"] = str(item.derivative + 1)  # numbered from one
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


def _references(unit: FmuContents, on: tuple[list[int], list[int]]) -> list[int]:
    """Return the value references of states and inputs that something depends on."""
    first_input = 1 + 2 * len(unit.states)
    return [*(1 + i for i in on[0]), *(first_input + i for i in on[1])]


def _unknowns(unit: FmuContents) -> tuple[list[tuple[int, list[int]]], list[tuple[int, list[int]]]]:
    """Return the value references of derivatives and of outputs, with those they depend on."""
    n, first = len(unit.states), 1 + 2 * len(unit.states) + len(unit.inputs)
    rates = [(1 + n + i, _references(unit, on)) for i, on in enumerate(unit.rates_on)]
    return rates, [(first + i, _references(unit, on)) for i, on in enumerate(unit.feeds)]


def _structure_2(structure: ET.Element, unit: FmuContents) -> None:
    rates, outputs = _unknowns(unit)
    for name, rows in (("Outputs", outputs), ("Derivatives", rates), ("InitialUnknowns", sorted(rates + outputs))):
        if rows:
            holder = ET.SubElement(structure, name)
            for reference, on in rows:
                depends = " ".join(str(item + 1) for item in on)
                ET.SubElement(holder, "Unknown", index=str(reference + 1), dependencies=depends)


def _structure_3(structure: ET.Element, unit: FmuContents) -> None:
    rates, outputs = _unknowns(unit)
    named = (("Output", outputs), ("ContinuousStateDerivative", rates), ("InitialUnknown", sorted(rates + outputs)))
    for name, rows in named:
        for reference, on in rows:
            depends = " ".join(map(str, on))
            ET.SubElement(structure, name, valueReference=str(reference), dependencies=depends)
