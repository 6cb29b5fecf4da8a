"""Modes in universal files: a set 55 for each shape, points as 2411.

A set has translations of nodes along x, y, z. Directions of a node that were not measured are zero; a direction that is
zero in every mode counts as not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from supple.array_types import Array, Complex
from supple.diagnostics import InputError
from supple.diagnostics.errors import excerpt
from supple.formats.measurements.universal_channels import Nodes
from supple.formats.measurements.universal_file import Shape, UniversalFile, read_universal
from supple.results.channel import Channel


class Modes(NamedTuple):
    """Modes at channels.

    frequencies_hz : (R,) |s|/2π, increasing
    damping        : (R,) damping ratios
    shapes         : (R, No) complex
    """

    frequencies_hz: Array
    damping: Array
    shapes: Complex
    channels: tuple[Channel, ...]


def universal_modes(channels: Sequence[Channel], poles: Complex, shapes: Complex, title: str) -> UniversalFile:
    """Return sets 55 of modes with poles (R,) and shapes (R, No) at channels along axes of the drawing."""
    nodes = Nodes(channels)
    values = np.zeros((len(poles), len(nodes.numbers), 3), dtype=complex)
    for o, one in enumerate(channels):
        if one.vector is None or one.turns:
            raise InputError(
                "its direction is not supported by a set 55 (translations along x, y, z)", part=f'channel "{one.name}"',
                hint="remove it, or save as .npz",
            )  # fmt: skip
        axis = int(np.abs(one.vector).argmax())
        if abs(one.vector[axis]) < 1.0 - 1e-9:
            raise InputError(
                "its direction is not an axis, but a set 55 has only x, y and z",
                part=f'channel "{one.name}"',
                hint="save as .npz",
            )
        values[:, nodes.numbers[one.point] - 1, axis] = np.sign(one.vector[axis]) * shapes[:, o]
    found = tuple(
        Shape(
            tuple(nodes.numbers.values()), shape, complex(pole), float(-pole.real / abs(pole)), r + 1, True, text=title
        )
        for r, (pole, shape) in enumerate(zip(poles, values, strict=True))
    )
    return UniversalFile(shapes=found, points=nodes.points, length=1.0, force=1.0, title=title, program="supple")


def read_modes(path: str | Path) -> Modes | None:
    """Return the modes of a universal file; None if it has no modes, or if it also has responses."""
    file = read_universal(path)
    if file.functions or not file.shapes:
        return None
    shapes = sorted(
        (shape for shape in file.shapes if abs(shape.eigenvalue) > 0.0), key=lambda one: abs(one.eigenvalue)
    )
    name = excerpt(path, 500)
    if not shapes:
        raise InputError("the mode shapes have no frequencies", file=name, hint="export modes, not operating shapes")
    if any(shape.nodes != shapes[0].nodes for shape in shapes):
        raise InputError("the mode shapes have different nodes", file=name, hint="export them together")
    values = np.stack([shape.values[:, :3] for shape in shapes])  # (R, nodes, 3)
    measured = np.argwhere(np.abs(values).max(axis=0) > 0.0)
    channels = []
    for n, axis in measured:
        node = shapes[0].nodes[n]
        channels.append(Channel(str(node), "xyz"[axis], "displacement", file.place(node)))
    found = values[:, measured[:, 0], measured[:, 1]]
    largest = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)
    hertz = np.array([abs(shape.eigenvalue) for shape in shapes]) / (2.0 * np.pi)
    poles = np.array([shape.eigenvalue for shape in shapes])
    ratios = np.maximum(-poles.real / np.abs(poles), 0.0)
    return Modes(hertz, ratios, found / largest, tuple(channels))
