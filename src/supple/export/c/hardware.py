"""Drives and instruments of a model as C, beside the model: `<prefix>_hardware.h` and `.c`."""

from __future__ import annotations

from supple.export.c import drives, instruments
from supple.export.c.law_header import filled
from supple.export.c.names import comment
from supple.hardware.hardware import Hardware
from supple.reduced.layout import CoefficientLayout

HEADER = """\
/*
@introduction@
 */

#ifndef @UPPER@_H
#define @UPPER@_H

#ifdef __cplusplus
extern "C" {
#endif

"""
END = """\
#ifdef __cplusplus
}
#endif

#endif /* @UPPER@_H */
"""
SOURCE = """\
/* @name@: generated, see @prefix@.h. No allocation, no writable globals, no recursion: reentrant. */

#include "@prefix@.h"

#include <float.h>
#include <math.h>

"""


def hardware_files(hardware: Hardware, layout: CoefficientLayout, name: str, prefix: str) -> dict[str, str]:
    """Name and text of each file; none where nothing is described."""
    if not hardware:
        return {}
    prefix = f"{prefix}_hardware"
    words = {
        "name": comment(name), "prefix": prefix, "UPPER": prefix.upper(), "outputs": str(len(layout.outputs)),
        "introduction": "\n".join(f" * {line}".rstrip() for line in _introduction(hardware, layout, name)),
    }  # fmt: skip
    header, tables, written, most = filled(HEADER, words), "", "", 1
    if hardware.drives:
        bank = drives.bank_of(hardware, layout.inputs, layout.coordinates[: layout.theta])
        words |= drives.drive_words(bank)
        most = int(words["states"])
        header += filled(drives.DECLARED, words)
        tables += drives.drive_tables(bank, prefix)
        written += filled(drives.WRITTEN, words)
    if hardware.instruments:
        header += filled(instruments.DECLARED, words)
        tables += instruments.instrument_tables(hardware, layout.outputs)
        written += filled(instruments.WRITTEN, words)
    source = filled(SOURCE, words) + tables + drives.taylor(max(2, most)) + written
    return {f"{prefix}.h": header + filled(END, words), f"{prefix}.c": source}


def _introduction(hardware: Hardware, layout: CoefficientLayout, name: str) -> list[str]:
    lines = [f"{comment(name)}: drives and instruments. Units are SI.", ""]
    if hardware.drives:
        lines += ["Inputs, and what their commands are:"]
        for i, actuator in enumerate(layout.inputs):
            block = hardware.drive(actuator)
            said = "a force" if block is None else f"{block.kind}, {block.unit}{', leads' if block.leads else ''}"
            lines.append(f"    {i}  {comment(actuator)}: {comment(said)}")
        lines += ["Coordinates:"]
        lines += [f"    {i}  {comment(item)}" for i, item in enumerate(layout.coordinates[: layout.theta])]
    if hardware.instruments:
        lines += ["Outputs:", *(f"    {i}  {comment(output)}" for i, output in enumerate(layout.outputs))]
    return lines
