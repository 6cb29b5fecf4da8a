"""Coefficients of equations of motion as a table and as arrays, of a local or of a reduced model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.diagnostics import InputError
from supple.results.names import listed
from supple.results.table import Table, matrix_table

_KEPT = ("theta", "M", "christoffel", "K", "damping", "potential", "force", "input_map", "friction_map", "internal_hz")


def coefficient_summary(model: Any) -> str:
    """Names of coordinates, inputs and outputs."""
    return f"in {listed(model.coordinates)}; inputs {listed(model.inputs)}; outputs {listed(model.outputs)}"


def coefficient_table(model: Any) -> Table:
    """[M D K p B] of M η̈ + Γ[η̇, η̇] + D η̇ + K η = p + B u, a row for each coordinate."""
    if model.M.ndim > 2:
        raise InputError(
            f"the coefficients of {len(model.M)} configurations are no table",
            part="save",
            hint="write a .npz or .mat file",
        )
    blocks = {"M": model.coordinates, "D": model.coordinates, "K": model.coordinates, "p": (), "B": model.inputs}
    columns = [f"{block} {name}".strip() for block, names in blocks.items() for name in names or ("",) * (block == "p")]
    values = np.hstack([model.M, model.damping, model.K, model.force[:, None], model.input_map])
    return matrix_table("coordinate", model.coordinates, columns, values)


def coefficient_arrays(model: Any) -> dict[str, NDArray[Any]]:
    """All of them by their names in Python; outputs as values, slopes and shapes, one row each."""
    found = {name: np.asarray(getattr(model, name)) for name in _KEPT}
    outputs = list(model.outputs.values())
    for part in ("value", "rigid", "modes"):
        if outputs:
            found[f"output_{part}"] = np.stack([getattr(output, part) for output in outputs], axis=model.theta.ndim - 1)
    texts = {"coordinates": model.coordinates, "inputs": model.inputs, "outputs": model.outputs}
    return found | {name: np.array(list(names), dtype=str) for name, names in texts.items()}
