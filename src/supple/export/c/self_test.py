"""A program that compares the compiled code with the model in Python at some states: `<prefix>_test.c`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.approximation.piecewise.slice import sliced
from supple.array_types import Array
from supple.diagnostics import NumericalError
from supple.export.c.family import CFamily
from supple.export.c.literals import table
from supple.export.c.model import CModel
from supple.export.c.names import comment
from supple.export.template import filled, parts
from supple.reduced.model import ReducedModel
from supple.reduced.observed import Moving, outputs_along

POINTS, FAMILY_VALUES = 12, 4
_TRIES = 200
_DEFLECTION = 1e-4
TOLERANCE = {"double": 1e-10, "single": 1e-3}

PARTS = parts("supple.export.c", "self_test.c")


def self_test(model: CModel, rom: ReducedModel, precision: str) -> str:
    """The text of `<prefix>_test.c`; "" where no state could be found at which M is positive definite."""
    n, inputs = rom.layout.size, "input_map" in model.coefficients
    found, mu = (reference_states(rom, POINTS), None) if model.family is None else _family_states(model.family, rom)
    if found is None:
        return ""
    states, u, a, asked, needed, y = found
    outputs = y.shape[1] > 0 and ("outputs" in model.coefficients or model.layout.observation is not None)
    tables = table("double", "states", states) + table("double", "accelerations", a)
    tables += table("double", "asked", asked) + table("double", "needed", needed)
    tables += table("double", "inputs", u) if inputs else ""
    tables += table("double", "outputs", y) if outputs else ""
    tables += "" if mu is None else table("double", "mu", mu)
    assert states.shape[1] == 2 * n
    words = {
        "name": comment(rom.name), "prefix": model.prefix, "UPPER": model.upper, "points": str(len(states)),
        "tables": tables, "inputs": "inputs[point], " if inputs else "", "first": "inputs[0], " if inputs else "",
        "tolerance": repr(TOLERANCE[precision]), "acceleration_scale": _scale(a), "force_scale": _scale(needed),
        "output_scale": _scale(y),
        "declare": f"    double y[{model.upper}_OUTPUTS], seen = 0.0;\n" if outputs else "",
        "say": '    failed += said("outputs", seen);\n' if outputs else "",
    }  # fmt: skip
    words |= {"own": "0", "before": "", "set": "", "defaults": "", "refuse": ""}
    if mu is not None:
        words |= {"own": "&parameters", "before": "&parameters, ", "set": filled(PARTS["set"], words)}
        words["defaults"] = f"    {model.prefix}_defaults(&parameters);\n"
        words["refuse"] = filled(PARTS["refuse"], words)
        words["declare"] += f"    static {model.prefix}_parameters parameters;\n"
        words["declare"] += f"    double nowhere[{model.upper}_PARAMETERS];\n"
    words["measure"] = filled(PARTS["measure"], words) if outputs else ""
    return filled(PARTS["template"], words)


class References(NamedTuple):
    """What Python says at some states (count, 2 n) under inputs: accelerations, the generalized forces that other
    accelerations, asked for, would need, and outputs."""

    states: Array
    inputs: Array
    accelerations: Array
    asked: Array
    needed: Array
    outputs: Array


def _family_states(family: CFamily, rom: ReducedModel) -> tuple[References | None, Array | None]:
    """Of a family: some states each at both ends of all ranges and at random parameters between, and these."""
    rng, lower, upper = np.random.default_rng(3), family.lower, family.upper
    between = rng.uniform(0.02, 0.98, (FAMILY_VALUES - 2, len(lower)))
    values = np.vstack([lower, upper, lower + between * (upper - lower)])
    found, mu = [], []
    for k, at in enumerate(values):
        model = ReducedModel(rom.name, rom.layout, sliced(family.family.fitted, at))
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
    """Random states, None where M is hardly anywhere positive definite. Drawn inside boxes, so that rounding to single
    precision leaves none of them."""
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
        y = outputs_along(rom, Moving(eta, v, a, inputs, 1e-3))
    return References(states, inputs, a, asked, needed, y)
