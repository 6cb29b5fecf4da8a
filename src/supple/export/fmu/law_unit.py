"""FMU contents of a sampled control law: measured and desired values are inputs, commands are outputs.

At a sample the command follows from the inputs immediately; it is held until the next sample. An importer that sets
the inputs, reads the commands and then makes the step has no additional delay of one sample.
"""

from __future__ import annotations

from dataclasses import replace

from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.affine_matrices import ORDERS
from supple.export.c.law import law_files
from supple.export.fmu.unit import FmuContents, FmuQuantity
from supple.export.template import fill_template, template_parts

PARTS = template_parts("supple.export.fmu", "law_unit.c")
_RATES = ("", ".rate", ".acceleration", ".jerk")


def law_unit(law: AffineLaw, prefix: str) -> FmuContents:
    """Return the FMU contents of a constant or scheduled law; co-simulation only, since it is sampled."""
    ports, name = law.ports, f"{prefix}_law"
    inputs = [FmuQuantity(item, description="measured") for item in ports.measured]
    for preview in ports.previews if ports.coordinates else ():
        later = "" if preview == 0.0 else f".in_{1e3 * preview:g}ms"
        inputs += [FmuQuantity(f"wanted.{item}{rate}{later}") for rate in _RATES[:ORDERS] for item in ports.coordinates]
    inputs += (
        [FmuQuantity(f"fed.{item}", description="feedforward command") for item in ports.actuators] if ports.fed else []
    )
    answers = tuple(FmuQuantity(f"command.{item}" if not ports.answers else item) for item in ports.outputs)
    unit = FmuContents(
        law.name, prefix, f"{law.summary}. Sample time {ports.sample_time:g} s; commands are held between samples.", (),
        tuple(inputs), answers, (), (), tuple(([], list(range(len(inputs)))) for _ in answers), {},
        memory=law.states + len(answers) + 2, exchanged=False, step=ports.sample_time, discrete=True,
    )  # fmt: skip
    measured, wanted = len(ports.measured), len(ports.previews) * ORDERS * len(ports.coordinates)
    arguments = ["u"] if ports.measured else []
    if ports.coordinates:
        arguments += [f"(const double (*)[{ORDERS}][{len(ports.coordinates)}])(u + {measured})"]
    arguments += ["applied", *([f"u + {measured + wanted}"] if ports.fed else [])]
    words = {
        "law": name, "UPPER": name.upper(), "states": str(law.states), "starts": unit.starts(),
        "arguments": ", ".join(arguments),
        "applied": "" if ports.answers else "    memcpy(applied, before, sizeof applied);\n",
    }  # fmt: skip
    return replace(unit, sources=law_files(law, prefix) | {"unit.c": fill_template(PARTS["source"], words)})
