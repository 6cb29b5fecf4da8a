"""Arrays whose axes have names, as those who study fields hold them: Datasets of xarray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from supple.diagnostics import optional_package

Variable = tuple[tuple[str, ...], ArrayLike, str]
"""Names of its axes, its values, and its unit, "" if it has none."""


def dataset(variables: Mapping[str, Variable], axes: Mapping[str, tuple[ArrayLike, str]]) -> Any:
    """A Dataset (the extra `xarray`): variables over axes, name -> (values, unit); units are in `attrs["units"]`."""
    xarray = optional_package("xarray", "xarray", "'supple[xarray]', or save a .npz file")
    found = {name: xarray.Variable(over, values, _attributes(unit)) for name, (over, values, unit) in variables.items()}
    along = {name: xarray.Variable((name,), values, _attributes(unit)) for name, (values, unit) in axes.items()}
    return xarray.Dataset(found, coords=along)


def _attributes(unit: str) -> dict[str, str]:
    return {"units": unit} if unit else {}
