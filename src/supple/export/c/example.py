"""A small program that calls the exported model once: a start, and a check that the compiler gets along with it."""

from __future__ import annotations

from supple.export.c.literals import number
from supple.export.c.model import CModel
from supple.export.c.names import comment, string
from supple.export.template import filled, parts

PARTS = parts("supple.export.c", "example.c")


def example(model: CModel) -> str:
    """The text of `example_main.c`."""
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
        "point": ", ".join(map(number, [*center, *[0.0] * model.elastic])),
        "declare": f"    const double inputs[{model.upper}_INPUTS] = {{0.0}};\n" if inputs else "",
        "inputs": "inputs, " if inputs else "",
    }
    return filled(PARTS["template"], replaced)
