"""A small program that calls the exported model once: a start, and a check that the compiler gets along with it."""

from __future__ import annotations

from supple.export.c.literals import number
from supple.export.c.model import CModel
from supple.export.c.names import comment, string

TEMPLATE = """\
/* @name@ at the middle of its first box: the forces that hold it still, and how it starts to move without any. */

#include <stdio.h>

#include "@prefix@.h"

int main(void)
{
    static const char *const names[@UPPER@_COORDINATES] = {@names@};
    const double @state@[@UPPER@_COORDINATES] = {@point@};
    const double rates[@UPPER@_COORDINATES] = {0.0};
    double accelerations[@UPPER@_COORDINATES] = {0.0}, forces[@UPPER@_COORDINATES];
@declare@    int i, flag;

    flag = @prefix@_inverse(@state@, rates, accelerations, forces);
    if (!flag) flag = @prefix@_forward(@state@, rates, @inputs@accelerations);
    if (flag) {
        printf("no result: flag %d\\n", flag);
        return 1;
    }
    for (i = 0; i < @UPPER@_COORDINATES; ++i)
        printf("%s: at %g, held by %g, starts with %g\\n", names[i], @state@[i], forces[i], accelerations[i]);
    return 0;
}
"""


def example(model: CModel) -> str:
    """The text of `example_main.c`."""
    center = model.fitted.arrays.leaves_f[0, 0].tolist()
    inputs = "input_map" in model.coefficients
    replaced = {
        "name": comment(model.rom.name),
        "prefix": model.prefix,
        "UPPER": model.upper,
        "state": model.state,
        "names": ", ".join(map(string, model.layout.coordinates)),
        "point": ", ".join(map(number, [*center, *[0.0] * model.elastic])),
        "declare": f"    const double inputs[{model.upper}_INPUTS] = {{0.0}};\n" if inputs else "",
        "inputs": "inputs, " if inputs else "",
    }
    text = TEMPLATE
    parts = text.split("@")  # one pass: a name that holds @prefix@ stays as it is
    return "".join(replaced[part] if i % 2 else part for i, part in enumerate(parts))
