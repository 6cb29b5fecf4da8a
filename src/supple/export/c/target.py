"""Export target "c": a reduced model or a control law as C."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.approximation.piecewise.piecewise import sliced_fit
from supple.array_types import Array
from supple.diagnostics import NumericalError, SuppleNote, require_known, user_level
from supple.export.c import drive_code, instruments
from supple.export.c.family_numbers import CFamily
from supple.export.c.generated_model import CModel, Exportable
from supple.export.c.header import header
from supple.export.c.model_source import c_source
from supple.export.c.motion import motion_files
from supple.export.c.source_text import PRECISIONS, c_number, c_table, comment, single_precision, string, with_sections
from supple.export.c.stability import stable_step
from supple.export.target import ExportTarget
from supple.export.template import Words, fill_template, template_parts
from supple.hardware.hardware import Hardware
from supple.reduced.layout import CoefficientLayout
from supple.reduced.model import ReducedModel
from supple.reduced.observed import ObservedMotion, outputs_along

if TYPE_CHECKING:
    from supple.control.controllers.computed_torque import ComputedTorque
    from supple.control.laws.affine_controller import AffineController
    from supple.control.laws.affine_law import AffineLaw


# Test program that compares the compiled code with the model in Python at some states: `<prefix>_test.c`.


POINTS, FAMILY_VALUES = 12, 4
_TRIES = 200
_DEFLECTION = 1e-4
TOLERANCE = {"double": 1e-10, "single": 1e-3}

SELF_TEST_PARTS = template_parts("supple.export.c", "self_test.c")


def self_test(model: CModel, rom: ReducedModel, precision: str) -> str:
    """Return the text of `<prefix>_test.c`; "" if no state is found at which M is positive definite."""
    n, inputs = rom.layout.size, "input_map" in model.coefficients
    found, mu = (reference_states(rom, POINTS), None) if model.family is None else _family_states(model.family, rom)
    if found is None:
        return ""
    states, u, a, asked, needed, y = found
    outputs = y.shape[1] > 0 and ("outputs" in model.coefficients or model.layout.observation is not None)
    tables = c_table("double", "states", states) + c_table("double", "accelerations", a)
    tables += c_table("double", "asked", asked) + c_table("double", "needed", needed)
    tables += c_table("double", "inputs", u) if inputs else ""
    tables += c_table("double", "outputs", y) if outputs else ""
    tables += "" if mu is None else c_table("double", "mu", mu)
    assert states.shape[1] == 2 * n
    return fill_template(SELF_TEST_PARTS["template"], {
        "name": comment(rom.name), "prefix": model.prefix, "UPPER": model.upper, "points": len(states),
        "tables": tables, "inputs": "inputs[point], " if inputs else "", "first": "inputs[0], " if inputs else "",
        "tolerance": repr(TOLERANCE[precision]), "acceleration_scale": _scale(a), "force_scale": _scale(needed),
        "output_scale": _scale(y), "outputs": outputs, "family": mu is not None,
        "own": "0" if mu is None else "&parameters", "before": "" if mu is None else "&parameters, ",
    })  # fmt: skip


class References(NamedTuple):
    """Results of the model in Python at some states (count, 2 n) for given inputs.

    needed holds the generalized forces for the accelerations `asked`.
    """

    states: Array
    inputs: Array
    accelerations: Array
    asked: Array
    needed: Array
    outputs: Array


def _family_states(family: CFamily, rom: ReducedModel) -> tuple[References | None, Array | None]:
    """Return states of a family at both ends of all ranges and at random parameters, with the parameters."""
    rng, lower, upper = np.random.default_rng(3), family.lower, family.upper
    between = rng.uniform(0.02, 0.98, (FAMILY_VALUES - 2, len(lower)))
    values = np.vstack([lower, upper, lower + between * (upper - lower)])
    found, mu = [], []
    for k, at in enumerate(values):
        model = ReducedModel(rom.name, rom.layout, sliced_fit(family.family.fitted, at))
        here = reference_states(model, POINTS // FAMILY_VALUES, seed=k + 1)
        if here is not None:
            found.append(here)
            mu += [at] * len(here.states)
    if not found:
        return None, None
    return References(*(np.vstack(parts) for parts in zip(*found, strict=True))), np.array(mu)


def _scale(values: Array) -> str:
    return repr(float(np.abs(values).max(initial=0.0)) or 1.0)


def reference_states(rom: ReducedModel, count: int, seed: int = 1, tries: int = _TRIES) -> References | None:
    """Return random states with results; None if M is positive definite at hardly any of them.

    The states are drawn inside boxes, so that rounding to single precision does not move them out.
    """
    rng, layout = np.random.default_rng(seed), rom.layout
    n, s = layout.size, layout.theta
    leaves = rom.fitted.arrays.leaves_f
    kept: list[tuple[Array, Array, Array]] = []
    for _ in range(tries):
        center, inverse = leaves[rng.integers(len(leaves))]
        theta = center + 0.98 * rng.uniform(-1.0, 1.0, s) / inverse
        eta = np.concatenate([theta, rng.uniform(-_DEFLECTION, _DEFLECTION, n - s)])
        v, u = rng.uniform(-1.0, 1.0, n), rng.uniform(-1.0, 1.0, len(layout.inputs))
        try:
            kept.append((np.concatenate([eta, v]), u, rom.forward(theta, v, u, delta=eta[s:])))
        except NumericalError:
            continue
        if len(kept) == count:
            break
    if not kept:
        return None
    states, inputs, a = (np.array(part).reshape(len(kept), -1) for part in zip(*kept, strict=True))
    eta, v = states[:, :n], states[:, n:]
    asked = rng.uniform(-10.0, 10.0, a.shape)
    needed = rom.inverse(eta[:, :s], v, asked, delta=eta[:, s:]).reshape(len(kept), n)
    y = rom.observe(eta, v)[0]
    if layout.observation is not None:
        y = outputs_along(rom, ObservedMotion(eta, v, a, inputs, 1e-3))
    return References(states, inputs, a, asked, needed, y)


# Drives and instruments of a model as C: `<prefix>_hardware.h` and `.c`.


HARDWARE_PARTS = template_parts("supple.export.c", "hardware.c")


def hardware_files(hardware: Hardware, layout: CoefficientLayout, name: str, prefix: str) -> dict[str, str]:
    """Return the C files of drives and instruments, {name: text}; empty if there are none."""
    if not hardware:
        return {}
    prefix = f"{prefix}_hardware"
    words = {
        "name": comment(name), "prefix": prefix, "UPPER": prefix.upper(), "outputs": str(len(layout.outputs)),
        "introduction": "\n".join(f" * {line}".rstrip() for line in _introduction(hardware, layout, name)),
    }  # fmt: skip
    header, tables, written, most = fill_template(HARDWARE_PARTS["header"], words), "", "", 1
    if hardware.drives:
        bank = drive_code.bank_of(hardware, layout.inputs, layout.coordinates[: layout.theta])
        words |= drive_code.drive_words(bank)
        most = int(words["states"])
        header += fill_template(drive_code.PARTS["declared"], words)
        tables += drive_code.drive_tables(bank, prefix)
        written += fill_template(drive_code.PARTS["written"], words)
    if hardware.instruments:
        header += fill_template(instruments.PARTS["declared"], words)
        tables += instruments.instrument_tables(hardware, layout.outputs)
        written += fill_template(instruments.PARTS["written"], words)
    source = fill_template(HARDWARE_PARTS["source"], words) + tables + drive_code.PARTS["range"]
    source += drive_code.taylor(max(2, most)) + written
    return {f"{prefix}.h": header + fill_template(HARDWARE_PARTS["end"], words), f"{prefix}.c": source}


def _introduction(hardware: Hardware, layout: CoefficientLayout, name: str) -> list[str]:
    lines = [f"{comment(name)}: drives and instruments. Units are SI. Generated by supple.", ""]
    if hardware.drives:
        lines += ["Inputs, and the commands of their drives:"]
        for i, actuator in enumerate(layout.inputs):
            block = hardware.drive(actuator)
            kind = (
                "force"
                if block is None
                else f"{block.kind}, {block.unit}{', prescribes motion' if block.leads else ''}"
            )
            lines.append(f"    {i}  {comment(actuator)}: {comment(kind)}")
        lines += ["Coordinates:"]
        lines += [f"    {i}  {comment(item)}" for i, item in enumerate(layout.coordinates[: layout.theta])]
    if hardware.instruments:
        lines += ["Outputs:", *(f"    {i}  {comment(output)}" for i, output in enumerate(layout.outputs))]
    return lines


def c_files(rom: Exportable, prefix: str, *, precision: str = "double") -> dict[str, str]:
    """Return the C files of a model, {name: text}."""
    files = model_files(rom, prefix, precision)
    sources = [name for name in files if name.endswith(".c") and name != "example_main.c"]
    test = self_test(CModel(prefix, rom, precision), evaluable_model(rom), precision)
    if test:
        files[f"{prefix}_test.c"] = in_precision(test, precision)
    return files | build_files(prefix, sources, tested=bool(test))


def model_files(rom: Exportable, prefix: str, precision: str = "double") -> dict[str, str]:
    """Return the C files of a model without test and build files."""
    require_known("precision", precision, PRECISIONS, part="export")
    model = CModel(prefix, rom, precision)
    model.require_complete()
    files = {f"{prefix}.h": header(model, stable_step(evaluable_model(rom))), f"{prefix}.c": c_source(model)}
    files["example_main.c"] = example_main(model)
    files |= hardware_files(rom.hardware, rom.layout, rom.name, prefix)
    made = {name: in_precision(text, precision) for name, text in files.items()}
    made[f"{prefix}.c"] = with_sections(made[f"{prefix}.c"], model.upper)
    return made


def in_precision(text: str, precision: str) -> str:
    """Return the code in double precision unchanged, or converted to single precision."""
    return single_precision(text) if precision == "single" else text


def evaluable_model(rom: Exportable) -> ReducedModel:
    """Return a model that can be evaluated, for one that can only be exported."""
    return rom if isinstance(rom, ReducedModel) else ReducedModel(rom.name, rom.layout, rom.fitted)


def c_laws(law: AffineLaw | ComputedTorque, prefix: str, *, precision: str = "double") -> dict[str, str]:
    """Return the C files of a control law; those of computed torque include its model."""
    from supple.control.laws.affine_law import AffineLaw
    from supple.export.c.law import law_files
    from supple.export.c.torque import require_plain, torque_files

    if isinstance(law, AffineLaw):
        if law.cost.advice:
            warnings.warn(SuppleNote(f'law "{law.name}": {law.cost.advice}'), stacklevel=user_level())
        return {name: in_precision(text, precision) for name, text in law_files(law, prefix).items()}
    require_plain(law)
    assert isinstance(law.model, ReducedModel)
    torque = torque_files(law, CModel(prefix, law.model, precision))
    return c_files(law.model, prefix, precision=precision) | {
        name: in_precision(text, precision) for name, text in torque.items()
    }


def c_controllers(
    controller: AffineController,
    prefix: str,
    *,
    precision: str = "double",
    tolerance: float | None = None,
    model: ReducedModel | None = None,
) -> dict[str, str]:
    """Return the C files of a controller with its motion; see `controller_files`."""
    from supple.export.c.controller import controller_files

    return controller_files(controller, prefix, precision=precision, tolerance=tolerance, model=model)


C = ExportTarget(
    "c",
    "a C99 file with header, example program, self-test, drives and instruments",
    c_files,
    c_laws,
    ("precision", "tolerance", "sample_time", "model"),
    motions=motion_files,
    controllers=c_controllers,
    families=True,
)


# Example program that calls the exported model once; it also checks that the code compiles.


PARTS = template_parts("supple.export.c", "example.c")


def example_main(model: CModel) -> str:
    """Return the text of `example_main.c`."""
    fitted = model.fitted if model.family is None else model.rom.fitted
    center = fitted.arrays.leaves_f[0, 0].tolist()
    inputs = "input_map" in model.coefficients
    replaced = {
        "name": comment(model.rom.name),
        "prefix": model.prefix,
        "UPPER": model.upper,
        "state": model.state,
        "own": "" if model.family is None else "0, ",
        "names": ", ".join(map(string, model.layout.coordinates)),
        "point": ", ".join(map(c_number, [*center, *[0.0] * model.elastic])),
        "declare": f"    const double inputs[{model.upper}_INPUTS] = {{0.0}};\n" if inputs else "",
        "inputs": "inputs, " if inputs else "",
    }
    return fill_template(PARTS["template"], replaced)


# Files that build the exported code and run its test with make or CMake.


BUILD_PARTS = template_parts("supple.export.c", "build.txt")


def build_files(prefix: str, sources: list[str], *, tested: bool) -> dict[str, str]:
    """Return `Makefile` and `CMakeLists.txt` for the sources of a model."""
    objects = " ".join(source.replace(".c", ".o") for source in sources)
    words: Words = {"prefix": prefix, "sources": " ".join(sources), "objects": objects, "tested": tested}
    return {
        "Makefile": fill_template(BUILD_PARTS["make"], words),
        "CMakeLists.txt": fill_template(BUILD_PARTS["cmake"], words),
    }
