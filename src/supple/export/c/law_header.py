"""The header of a law of control: what it is told, in which order, and what it answers."""

from __future__ import annotations

from supple.control.laws.affine_law import AffineLaw
from supple.control.laws.ports import ORDERS
from supple.export.c.literals import number
from supple.export.c.names import comment, identifiers

TEMPLATE = """\
/*
@introduction@
 */

#ifndef @UPPER@_H
#define @UPPER@_H

#ifdef __cplusplus
extern "C" {
#endif

@sizes@

/* What functions return. */
enum { @UPPER@_ANSWERED = 0, @UPPER@_OUTSIDE = 1, @UPPER@_CLAMPED = 2 };

@indices@
/* What the law remembers from sample to sample. */
typedef struct {
    double x[@states@];
} @prefix@_state;

/* Before the first sample; applied: the command in force. */
int @prefix@_start(@prefix@_state *state, @arguments@);

/* At every sample; applied: the command of the sample before, as drives applied it; answer: until the next one. */
int @prefix@_step(@prefix@_state *state, @arguments@, double answer[@UPPER@_ANSWERS]);

#ifdef __cplusplus
}
#endif

#endif /* @UPPER@_H */
"""


def law_header(law: AffineLaw, prefix: str) -> str:
    """The text of `<prefix>.h`."""
    replaced = {
        "introduction": "\n".join(f" * {line}".rstrip() for line in _introduction(law)), "UPPER": prefix.upper(),
        "prefix": prefix, "sizes": _sizes(law, prefix.upper()), "indices": _indices(law, prefix.upper()),
        "states": str(max(1, law.states)), "arguments": arguments(law, prefix.upper()),
    }  # fmt: skip
    return filled(TEMPLATE, replaced)


def filled(template: str, replaced: dict[str, str]) -> str:
    """One pass: a name that holds @prefix@ stays as it is."""
    return "".join(replaced[part] if i % 2 else part for i, part in enumerate(template.split("@")))


def arguments(law: AffineLaw, U: str) -> str:
    """What start and step are told."""
    ports = law.ports
    told = [f"const double measured[{U}_MEASURED]"] if ports.measured else []
    told += [f"const double wanted[{U}_PREVIEWS][{ORDERS}][{U}_COORDINATES]"] if ports.coordinates else []
    told += [f"const double applied[{U}_ACTUATORS]"]
    told += [f"const double fed[{U}_ACTUATORS]"] if ports.fed else []
    return ", ".join(told)


def _introduction(law: AffineLaw) -> list[str]:
    ports = law.ports
    lines = [f"{comment(law.name)}: a law of control, at every {ports.sample_time:g} s", ""]
    lines += ["    x(k+1) = A x + B z + b,    answer = C x + D z + d", ""]
    lines += ["Units are SI. Measured:", *(f"    {i}  {comment(name)}" for i, name in enumerate(ports.measured))]
    if ports.coordinates:
        lines += ["Wanted, each with its first, second and third rate:"]
        lines += [f"    {i}  {comment(name)}" for i, name in enumerate(ports.coordinates)]
        if ports.previews != (0.0,):
            lines += [
                f"    at {', '.join(f'{1e3 * t:g}' for t in ports.previews)} ms from the sample on, one after another"
            ]
    if ports.answers:
        lines += ["Answers:", *(f"    {i}  {comment(name)}" for i, name in enumerate(ports.answers))]
    lines += ["Commands applied:" if ports.answers else "Answers, the commands, and those applied:"]
    lines += [f"    {i}  {comment(name)}" for i, name in enumerate(ports.actuators)]
    lines += ["fed: commands computed beforehand, in the same order."] if ports.fed else []
    if law.fitted is not None and law.bounds is not None:
        lines += ["The matrices change with, clamped between:"]
        for name, low, high in zip(law.scheduled_by, *law.bounds.tolist(), strict=True):
            lines += [f"    {comment(name)}  {number(low)} ... {number(high)}"]
        lines += ["Error of their fit, |f - fit| / max(|f|, median |f|):"]
        lines += [f"    {name}: {value:.3g}" for name, value in law.error.items()]
    return lines


def _sizes(law: AffineLaw, U: str) -> str:
    ports = law.ports
    sizes = {
        "STATES": law.states, "MEASURED": len(ports.measured), "COORDINATES": len(ports.coordinates),
        "PREVIEWS": len(ports.previews), "ACTUATORS": len(ports.actuators), "ANSWERS": len(ports.answered),
        "KNOWN": ports.size,
    }  # fmt: skip
    lines = [f"#define {U}_{name} {value}" for name, value in sizes.items()]
    return "\n".join([*lines, f"#define {U}_SAMPLE_TIME {number(ports.sample_time)} /* s */"])


def _indices(law: AffineLaw, U: str) -> str:
    groups = (("MEASURED", law.measured), ("COORDINATE", law.coordinates), ("ACTUATOR", law.actuators),
              ("ANSWER", law.ports.answers))  # fmt: skip
    lines = []
    for kind, names in groups:
        rows = [f"{U}_{kind}_{i}_{name} = {i}" for i, name in enumerate(identifiers(names))]
        lines += [f"enum {{ {', '.join(rows)} }};"] if rows else []
    return "\n".join([*lines, ""])
