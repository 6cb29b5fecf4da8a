"""C code of drives: commands, exact integration of the states, motions and forces (docs/theory/hardware.md)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.export.c.source_text import c_table
from supple.export.template import fill_template, template_parts
from supple.hardware.drive_bank import DriveBank
from supple.hardware.drive_block import settled_drive
from supple.hardware.drive_kernels import STRIDE, TERMS, TOGETHER
from supple.hardware.hardware import Hardware

PARTS = template_parts("supple.export.c", "drive_code.c")
_STRIDES = 1e6  # largest number of steps of the Taylor series in a call, which bounds its loops


def bank_of(hardware: Hardware, inputs: tuple[str, ...], coordinates: tuple[str, ...]) -> DriveBank:
    """Return the drives of the inputs as a bank."""
    return DriveBank(hardware, inputs, coordinates, hardware.actuator_coordinates)


def drive_words(bank: DriveBank) -> dict[str, str]:
    """Return the words of the templates for drives."""
    sizes = {"inputs": len(bank.inputs), "coordinates": len(bank.coordinates), "led": len(bank.led)}
    sizes |= {"states": _states(bank), "leaders": max(1, len(bank.led))}
    return {name: str(size) for name, size in sizes.items()} | {
        "together": repr(TOGETHER), "strides": repr(_STRIDES * STRIDE),
    }  # fmt: skip


def taylor(most: int) -> str:
    """Return the C function that integrates a block of at most `most` states exactly."""
    return fill_template(PARTS["taylor"], {"stride": repr(STRIDE), "terms": str(TERMS), "most": str(most)})


def drive_tables(bank: DriveBank, prefix: str) -> str:
    """Return the constant tables of the drives."""
    places, blocks, facts = bank.arrays
    size, count = _states(bank), len(bank.inputs)
    if not blocks.shape[1]:
        blocks = np.zeros((count, 1, 4))
    sizes = {"INPUTS": count, "COORDINATES": len(bank.coordinates), "STATES": size}
    text = "enum { " + ", ".join(f"{name} = {value}" for name, value in sizes.items()) + " };\n" + PARTS["slots"]
    text += c_table("int", "place", places) + c_table("double", "blocks", blocks)
    text += c_table("double", "facts", np.clip(facts, -np.finfo(float).max, np.finfo(float).max))
    text += c_table("int", "acts_on", np.array(bank.places)) + c_table("double", "settled", _settle_drives(bank, size))
    shown = c_table("double", f"{prefix}_stiffness", bank.stiffness) + c_table(
        "double", f"{prefix}_damping", bank.damping
    )
    shown += c_table("int", f"{prefix}_led", np.array(bank.led or (-1,)))
    return text + shown.replace("static const", "const")


def _states(bank: DriveBank) -> int:
    return max(1, bank.arrays.blocks.shape[1])


def _settle_drives(bank: DriveBank, size: int) -> NDArray[np.float64]:
    """Return states and command in equilibrium for unit θ and unit θ̇, (inputs, states + 1, 2).

    Both are linear in θ and θ̇.
    """
    found = np.zeros((len(bank.inputs), size + 1, 2))
    for i, block in enumerate(bank.blocks):
        for column, (theta, rate) in enumerate(((1.0, 0.0), (0.0, 1.0))):
            x, command = settled_drive(block, theta, rate)
            found[i, : block.order, column], found[i, size, column] = x, command
    return found
