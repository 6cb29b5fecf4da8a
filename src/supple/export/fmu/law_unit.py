"""A sampled law of control as what an FMU simulates: inputs it is told, commands it answers with.

At a sample the command follows from the inputs at once; it is held until the next. A program that sets the inputs, gets
the commands and then makes the step loses no sample between the two.
"""

from __future__ import annotations

from dataclasses import replace

from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.affine_matrices import ORDERS
from supple.export.c.law import law_files
from supple.export.fmu.unit import FmuContents, FmuQuantity
from supple.export.template import filled, template_parts

PARTS = template_parts("supple.export.fmu", "law_unit.c")
_RATES = ("", ".rate", ".acceleration", ".jerk")


def law_unit(law: AffineLaw, prefix: str) -> FmuContents:
    """The unit of a constant or scheduled law; co-simulation alone, since it is sampled."""
    ports, name = law.ports, f"{prefix}_law"
    told = [FmuQuantity(item, says="measured") for item in ports.measured]
    for preview in ports.previews if ports.coordinates else ():
        later = "" if preview == 0.0 else f".in_{1e3 * preview:g}ms"
        told += [FmuQuantity(f"wanted.{item}{rate}{later}") for rate in _RATES[:ORDERS] for item in ports.coordinates]
    told += (
        [FmuQuantity(f"fed.{item}", says="command computed beforehand") for item in ports.actuators]
        if ports.fed
        else []
    )
    answers = tuple(FmuQuantity(f"command.{item}" if not ports.answers else item) for item in ports.answered)
    unit = FmuContents(
        law.name, prefix, f"{law.summary}. Sampled every {ports.sample_time:g} s, commands held between samples.", (),
        tuple(told), answers, (), (), tuple(([], list(range(len(told)))) for _ in answers), {},
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
    return replace(unit, sources=law_files(law, prefix) | {"unit.c": filled(PARTS["source"], words)})
