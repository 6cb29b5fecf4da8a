"""A reduced model as an FMU: C, the functions of FMI, their description and a compiled library in a zip."""

from __future__ import annotations

import hashlib
import io
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from importlib import metadata, resources
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from supple.diagnostics import InputError, SuppleWarning
from supple.export.fmu.binary import PLATFORMS, compiled, cross_compiler, local_compiler, this_platform
from supple.export.fmu.description import description
from supple.export.fmu.linear import linear_unit
from supple.export.fmu.plant import plant, require_model
from supple.export.fmu.unit import Unit
from supple.export.target import ExportTarget
from supple.results.linear_model import LinearModel

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
    """`<prefix>.fmu`: fmi "2" or "3"; start, step and method as `plant` takes them; platforms : beside this one."""
    model = require_model(rom)
    return {f"{prefix}.fmu": packed(plant(model, prefix, start=start, step=step, method=method), str(fmi), platforms)}


def fmu_laws(
    law: AffineLaw | ComputedTorque, prefix: str, *, fmi: str = "2", platforms: Sequence[str] = ()
) -> dict[str, bytes]:
    """The same of a law of control."""
    from supple.control.laws.affine_law import AffineLaw
    from supple.export.fmu.law_unit import law_unit

    if not isinstance(law, AffineLaw):
        raise InputError("computed torque is no FMU", part="export", hint="export it as C, beside its model")
    return {f"{prefix}.fmu": packed(law_unit(law, prefix), str(fmi), platforms)}


def fmu_linear(linear: LinearModel, prefix: str, *, fmi: str = "2", platforms: Sequence[str] = ()) -> dict[str, bytes]:
    """The same of a linear model."""
    return {f"{prefix}.fmu": packed(linear_unit(linear, prefix), str(fmi), platforms)}


def packed(unit: Unit, version: str, platforms: Sequence[str] = ()) -> bytes:
    """The zip."""
    if version not in VERSIONS:
        raise InputError(f'FMI "{version}" is not known', part="export", hint='give "2" or "3"')
    code = {name: _wrapper(name) for name in ("instance.h", f"fmi{version}.c")} | dict(unit.sources)
    token = _token(unit, version, code)
    code["unit.h"] = unit.header(token)
    sources = sorted(name for name in code if name.endswith(".c"))
    tool = f"supple {metadata.version('supple')}"
    content: dict[str, bytes] = {"modelDescription.xml": description(unit, version, token, sources, tool)}
    content |= {f"sources/{name}": text.encode("utf-8") for name, text in sorted(code.items())}
    if version == "3":
        content["sources/buildDescription.xml"] = _build_description(unit, sources)
    content |= _binaries(unit, version, code, platforms)
    return _zipped(content)


def _wrapper(name: str) -> str:
    return resources.files("supple.export.fmu").joinpath("wrapper", name).read_text("utf-8")


def _token(unit: Unit, version: str, code: Mapping[str, str]) -> str:
    """From all that it is made of: another model is another FMU, the same one the same."""
    numbers = repr((unit.states, unit.inputs, unit.outputs, unit.parameters))
    said = "\0".join([version, numbers, *map(str, code.items())])
    digest = hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()
    return "{" + "-".join([digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]]) + "}"


def _binaries(unit: Unit, version: str, code: Mapping[str, str], platforms: Sequence[str]) -> dict[str, bytes]:
    here, compiler = this_platform(), local_compiler()
    asked = {name: cross_compiler(name) for name in platforms if name != here}
    if here is not None and compiler is not None:
        asked[here] = compiler
    else:
        warnings.warn(
            "the FMU has sources only: no C compiler was found here (cc, gcc, clang or $CC); the program that takes it "
            "must compile them",
            SuppleWarning,
            stacklevel=2,
        )
    found = {}
    for name, command in asked.items():
        place = PLATFORMS[name]
        folder = place.folder2 if version == "2" else place.folder3
        found[f"binaries/{folder}/{unit.identifier}{place.ending}"] = compiled(command, name, code)
    return found


def _build_description(unit: Unit, sources: Sequence[str]) -> bytes:
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    build = ET.SubElement(root, "BuildConfiguration", modelIdentifier=unit.identifier)
    files = ET.SubElement(build, "SourceFileSet", language="C99")
    for name in sources:
        ET.SubElement(files, "SourceFile", name=name)
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _zipped(content: Mapping[str, bytes]) -> bytes:
    """The same content gives the same bytes."""
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
    "a Functional Mock-up Unit, FMI 2.0 or 3.0, for co-simulation and model exchange",
    fmu_files,
    fmu_laws,
    linear=fmu_linear,
    options=("fmi", "start", "step", "method", "platforms"),
    families=True,
)
