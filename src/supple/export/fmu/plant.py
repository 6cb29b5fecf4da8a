"""FMU contents of a reduced model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.diagnostics import InputError, require_known
from supple.equations.forces import FRICTION_SPEED
from supple.export.c.source_text import c_number, string
from supple.export.c.stability import StableStep, stable_step
from supple.export.c.target import model_files
from supple.export.fmu.unit import GIVEN, FmuContents, FmuQuantity
from supple.export.target import fixed_values_text
from supple.export.template import Words, fill_template, template_parts
from supple.reduced.model import ReducedModel
from supple.reduced.repertoire import named_theta
from supple.reduced.time.begin import begin_state
from supple.results.units import rate_unit

METHODS = ("auto", "explicit", "implicit")
LONGEST = 1e-3  # s, longest internal step

PARTS = template_parts("supple.export.fmu", "plant.c")


def plant(
    rom: ReducedModel, prefix: str, *, start: object = None, step: float | None = None, method: str = "auto"
) -> FmuContents:
    """Return the FMU contents.

    start  : initial posture, as in `simulate`
    step   : longest internal step of co-simulation, s
    method : integration method of co-simulation
    """
    require_known("method", method, METHODS, part="export")
    if step is not None and not (np.isfinite(step) and step > 0.0):
        raise InputError(f"the step must be positive (got {step:g} s)", part="export", hint="give step > 0, in s")
    layout, units = rom.layout, rom.units
    stable = stable_step(rom)
    chosen = method if method != "auto" else ("implicit" if layout.size > layout.theta else "explicit")
    longest = _longest(stable, chosen) if step is None else float(step)
    eta, v = _start(rom, start)
    states = _states(rom, eta, v)
    unit = FmuContents(
        rom.name, prefix, _description(rom, chosen, stable), states,
        tuple(FmuQuantity(f"{name}.force", units.inputs.get(name, ""), description="input") for name in layout.inputs),
        tuple(FmuQuantity(name, units.outputs.get(name, ""), description="sensor") for name in layout.outputs),
        _parameters(rom, longest), _rates_on(rom), _feeds(rom), {}, step=max(longest, LONGEST),
        region=_region(rom), prepared=rom.family is not None,
    )  # fmt: skip
    files = model_files(rom, prefix)
    sources = {name: files[name] for name in (f"{prefix}.h", f"{prefix}.c")}
    return replace(unit, sources=sources | {"unit.c": _source(rom, unit, chosen)})


def _start(rom: ReducedModel, start: object) -> tuple[np.ndarray, np.ndarray]:
    """Return η and η̇ at the start.

    The default is the configuration `rest` if it is inside the region, else the center of the first box.
    """
    idle = np.zeros(len(rom.layout.inputs))
    if start is None:
        start = rom.fitted.arrays.leaves_f[0, 0]
        if rom.repertoire is not None and "rest" in rom.repertoire.configurations:
            rest = named_theta(rom, "rest")
            start = rest if _inside(rom, rest) else start
    return begin_state(rom, start, None, idle)  # type: ignore[arg-type]


def _inside(rom: ReducedModel, theta: Any) -> bool:
    try:
        rom.evaluate(theta)
    except InputError:
        return False
    return True


def _longest(stable: StableStep, method: str) -> float:
    """Return a stable step, short compared with the fastest motion: 1, 2 or 5 times a power of ten."""
    bound = 0.5 * stable.step if method == "explicit" else 0.5 / max(stable.fastest, 1e-3)
    bound = min(max(bound, 1e-7), LONGEST)
    power = 10.0 ** np.floor(np.log10(bound) + 1e-9)
    return float(f"{max(k for k in (1, 2, 5) if k * power <= bound * (1.0 + 1e-9)) * power:.1g}")


def _description(rom: ReducedModel, method: str, stable: StableStep) -> str:
    text = f"Reduced model of {rom.name}. Co-simulation uses {method} steps with constant inputs between communications"
    text += f"; explicit steps are stable up to {stable.step:.3g} s. Outside the region the FMU returns Discard."
    if rom.hardware.drives:
        text += " Inputs are forces: drives are not included."
    if rom.family is not None:
        ranges = ", ".join(f"{item.name} ({item.range})" for item in rom.family.parameters)
        text += f" Parameters of the mechanism: {ranges}."
    text += f" The model is {fixed_values_text(rom)}." if fixed_values_text(rom) else ""
    if rom.rigid:
        text += f" Treated as rigid: {', '.join(rom.rigid)}."
    return text


def _region(rom: ReducedModel) -> tuple[tuple[float, ...], tuple[float, ...]]:
    roots = rom.fitted.arrays.roots_f
    return tuple(roots[:, 0].min(axis=0).tolist()), tuple(roots[:, 1].max(axis=0).tolist())


def _states(rom: ReducedModel, eta: np.ndarray, v: np.ndarray) -> tuple[FmuQuantity, ...]:
    layout, units = rom.layout, rom.units
    lower, upper = _region(rom)
    found = []
    for i, name in enumerate(layout.coordinates):
        elastic = i >= layout.theta
        description = "elastic coordinate" if elastic else f"coordinate, region {lower[i]:.6g} to {upper[i]:.6g}"
        nominal = 1e-3 if elastic else max(float(upper[i] - lower[i]), 1e-6)
        # A loaded place and its sensor may share a name, such as E.z; the output keeps the name.
        own = f"{name}.state" if name in layout.outputs else name
        found.append(FmuQuantity(own, units.coordinates.get(name, ""), float(eta[i]), description, nominal))
    rates = [
        FmuQuantity(f"{item.name}.rate", rate_unit(item.unit), float(v[i]), f"rate of {item.name}", item.nominal)
        for i, item in enumerate(found)
    ]
    return (*found, *rates)


def _parameters(rom: ReducedModel, longest: float) -> tuple[FmuQuantity, ...]:
    """Return the parameters that can be set at run time; the longest step is the last."""
    layout = rom.layout
    known = []
    if _has_damping(rom):
        known += [FmuQuantity("damping.factor", "", 1.0, "factor on viscous damping")]
    for name, force in layout.dry_forces.items():
        known += [FmuQuantity(f"friction.{name}", "", float(force), f"dry friction of {name}, N or N m")]
    if layout.dry_forces:
        known += [FmuQuantity("friction.slip_rate", "", FRICTION_SPEED, "rate below which dry friction is smoothed")]
    return (
        *known,
        *_own(rom),
        FmuQuantity("solver.longest_step", "s", longest, "longest internal step of co-simulation"),
    )


def _own(rom: ReducedModel) -> tuple[FmuQuantity, ...]:
    """Return the parameters of the family."""
    if rom.family is None:
        return ()
    return tuple(
        FmuQuantity(
            item.name, item.unit, value, f"parameter of the mechanism, {item.range}", range=(item.lower, item.upper)
        )
        for item, value in zip(rom.family.parameters, rom.family.values, strict=True)
    )


def _has_damping(rom: ReducedModel) -> bool:
    layout = rom.layout
    whole = rom.fitted if rom.family is None else rom.family.fitted
    fitted = whole.arrays.coefficients[:, slice(*layout.columns.get("damping", (0, 0)))]
    return bool(np.any(layout.constants.get("damping", 0.0)) or np.any(fitted))


def _rates_on(rom: ReducedModel) -> tuple[tuple[list[int], list[int]], ...]:
    n, inputs = rom.layout.size, list(range(len(rom.layout.inputs)))
    everything = (list(range(2 * n)), inputs)
    return (*(([n + i], []) for i in range(n)), *(everything for _ in range(n)))


def _feeds(rom: ReducedModel) -> tuple[tuple[list[int], list[int]], ...]:
    """Return which states and inputs each output depends on.

    Positions depend on coordinates, rates also on rates, accelerations and internal forces on everything.
    """
    layout, n = rom.layout, rom.layout.size
    inputs = list(range(len(layout.inputs)))
    if layout.observation is None:
        return tuple((list(range(n)), []) for _ in layout.outputs)
    found: list[tuple[list[int], list[int]]] = []
    for form in layout.observation.outputs.values():
        factors = [factor for item in form for factor in item.factors]
        highest = max((order for _, order in factors), default=0)
        instant = highest > 1 or any(number >= len(layout.measures) for number, _ in factors)
        found.append((list(range(2 * n)), inputs) if instant else (list(range(n if highest == 0 else 2 * n)), []))
    return tuple(found)


def _source(rom: ReducedModel, unit: FmuContents, method: str) -> str:
    layout, family, prefix = rom.layout, rom.family, unit.identifier
    inputs = bool(layout.inputs) and ("input_map" in layout.columns or "input_map" in layout.constants)
    damped = int(unit.parameters[0].name == "damping.factor")
    words: Words = {
        "name": unit.name.replace("*/", "* /").encode("ascii", "replace").decode(), "prefix": prefix,
        "UPPER": prefix.upper(), "starts": unit.starts(), "method": method, "given": GIVEN[unit.prepared],
        "inputs": "u, " if inputs else "", "B": ", (double (*)[NU])B" if inputs else "",
        "D": ", (double (*)[NU])D" if inputs else "", "outputs": bool(layout.outputs),
        "y": ", y[NY]" if layout.outputs else "", "damped": damped, "friction": bool(layout.dry_forces),
        "slip_rate": damped + len(layout.dry_forces), "family": family is not None,
        "parameters": "&parameters" if family is None else "made",
    }  # fmt: skip
    if family is not None:
        words["first"] = first = len(unit.parameters) - 1 - len(family.parameters)
        words["refusals"] = "".join(
            fill_template(PARTS["case"], {
                "at": first + i, "lower": c_number(item.lower), "upper": c_number(item.upper),
                "message": string(f"{item.name} must lie in {item.range}"),
            })
            for i, item in enumerate(family.parameters)
        )  # fmt: skip
    return fill_template(PARTS["source"], words)


def require_model(rom: object) -> ReducedModel:
    """Return the reduced model; raise InputError for models without units or coefficients."""
    if not isinstance(rom, ReducedModel):
        raise InputError(f"cannot export a {type(rom).__name__}", part="export", hint="give a reduced model")
    return rom
