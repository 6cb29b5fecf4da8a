"""File of a reduced model: HDF5, described in docs/rom-file.md.

It holds numbers and texts alone; nothing that is read can run code, and everything is checked before it is used.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.approximation.piecewise.packing import term_factors
from supple.approximation.piecewise.piecewise import NOWHERE, Piecewise, PiecewiseArrays
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quote
from supple.equations.observation import Observation, observation_from
from supple.files.contents import (
    array_of,
    damaged,
    group_of,
    json_of,
    named_error,
    names_of,
    read_named,
    require_room,
    scalar_of,
    text_of,
    write_named,
)
from supple.files.existing import require_file
from supple.files.seal import MODEL, SIZE, require_sealed, seal
from supple.files.whole import write_beside
from supple.hardware.hardware import NO_HARDWARE, hardware_from
from supple.reduced.family import Family, FamilyParameter, require_family
from supple.reduced.layout import CoefficientLayout
from supple.reduced.repertoire import repertoire_from
from supple.results.basis import basis_from
from supple.results.units import UNKNOWN, units_from

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel

# Version 1 had neither repertoire nor basis; flexible models before 3 have M(θ) and a fitted Γ(θ); families have 4
SCHEMA, _SINGLE = 4, 3
_FORMAT = "supple reduced model"
_INTEGERS = ("roots_i", "nodes_i", "leaves_i", "indices")


def save_model(model: ReducedModel, path: str | Path) -> Path:
    """Write the model to a temporary file, then rename it, so that the target is complete or absent."""
    import h5py

    target = Path(path)
    content = io.BytesIO()  # so that a full disk is detected in plain writing, not inside HDF5
    layout = model.layout
    facts = {
        "name": model.name,
        "coordinates": list(layout.coordinates),
        "theta": layout.theta,
        "inputs": list(layout.inputs),
        "outputs": list(layout.outputs),
        "columns": {name: list(span) for name, span in layout.columns.items()},
        "christoffel": layout.christoffel,
        "force": layout.force,
        "internal": layout.internal,
    }
    if layout.observation is not None:
        facts["observation"] = layout.observation.data()
    try:
        provenance = json.dumps(model.provenance, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(f"cannot be written ({error})", part="provenance", hint="use JSON data only") from None
    with h5py.File(content, "w", libver=("earliest", "v110"), userblock_size=SIZE) as file:
        file.attrs["format"] = _FORMAT
        file.attrs["schema"] = _SINGLE if model.family is None else SCHEMA
        file["layout"] = json.dumps(facts, ensure_ascii=False)
        file["provenance"] = provenance
        if model.repertoire is not None:
            file["repertoire"] = json.dumps(model.repertoire.data(), ensure_ascii=False, allow_nan=False)
        if model.basis is not None:
            file["basis"] = json.dumps(model.basis.data(), ensure_ascii=False, allow_nan=False)
        if model.hardware is not NO_HARDWARE:
            file["hardware"] = json.dumps(model.hardware.data(), ensure_ascii=False, allow_nan=False)
        file["units"] = json.dumps(model.units.data(), ensure_ascii=False)
        write_named(file.create_group("error"), model.error)
        write_named(file.create_group("constants"), layout.constants)
        write_named(file.create_group("dry_forces"), layout.dry_forces)
        write_named(file.create_group("limits"), layout.limits)
        group = file.create_group("fitted")
        if model.family is not None:
            file["family"] = json.dumps(_family_data(model.family), ensure_ascii=False, allow_nan=False)
        whole = model.fitted if model.family is None else model.family.fitted
        write_piecewise(group, whole)
    with write_beside(target) as beside:
        beside.write_bytes(content.getbuffer())
        seal(beside, MODEL)
    return target


def _family_data(family: Family) -> dict[str, Any]:
    return {"parameters": [item._asdict() for item in family.parameters], "values": list(family.values)}


def load_model(path: str | Path) -> ReducedModel:
    """Read a reduced model from a file.

    Parameters
    ----------
    path : str or path-like
        File written by `ReducedModel.save` or `supple reduce`.

    Returns
    -------
    ReducedModel
        The model, bit for bit as it was saved.

    Raises
    ------
    InputError
        If the file is missing, is not a reduced model, is damaged, or has a later version.

    See Also
    --------
    reduce : Reduce a mechanism to a model.
    ReducedModel.save : Write a model to a file.

    Examples
    --------
    >>> import tempfile, supple
    >>> from pathlib import Path
    >>> rom = supple.reduce(supple.load("four-bar"), region={"crank": (-0.5, 0.5)}, progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = supple.load_model(rom.save(Path(folder) / "four-bar.rom"))
    >>> again
    <ReducedModel "four-bar" in crank (1 of them θ), 1 inputs, 2 outputs, 1 boxes>
    """
    require_arguments(load_model, locals())
    import h5py

    from supple.reduced.model import ReducedModel

    target = Path(path)
    require_file(target)
    try:
        require_sealed(target, MODEL)
        with h5py.File(target, "r") as file:
            if text_of(file.attrs.get("format")) != _FORMAT:
                raise InputError("this is not a reduced model of supple", hint="give a file that `supple reduce` wrote")
            schema = file.attrs.get("schema")
            if not isinstance(schema, int | np.integer) or not 1 <= schema <= SCHEMA:
                raise InputError(
                    f"the file has version {quote(schema)}, but this supple reads versions up to {SCHEMA}",
                    hint="use a newer supple",
                )
            name, layout = _layout(file)
            provenance = json_of(file, "provenance", dict)
            error = {key: float(scalar_of(value)) for key, value in read_named(file, "error").items()}
            names = repertoire_from(json_of(file, "repertoire", dict)) if "repertoire" in file else None
            basis = basis_from(json_of(file, "basis", dict)) if "basis" in file else None
            units = units_from(json_of(file, "units", dict)) if "units" in file else UNKNOWN
            hardware = hardware_from(json_of(file, "hardware", dict)) if "hardware" in file else NO_HARDWARE
            family = _family(file, layout) if "family" in file else None
            fitted = _read_fitted(file, layout, ()) if family is None else family.slice()
            return ReducedModel(name, layout, fitted, error, provenance, names, basis, units, hardware, family)
    except InputError as error:
        raise named_error(error, target, MODEL.remedy) from None
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, OverflowError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"cannot be read as a reduced model ({reason})", file=str(target), hint="reduce again"
        ) from None


def _layout(file: Any) -> tuple[str, CoefficientLayout]:
    facts = json_of(file, "layout", dict)
    columns = facts["columns"]
    if not isinstance(facts["name"], str) or not isinstance(columns, dict) or type(facts["theta"]) is not int:
        raise damaged("the layout is invalid")
    spans = {}
    for name, span in columns.items():
        if not (isinstance(span, list) and len(span) == 2 and all(type(k) is int and 0 <= k < 2**31 for k in span)):
            raise damaged(f"the columns of {quote(name)} are not two numbers")
        spans[name] = (span[0], span[1])
    limits = {}
    for name, pair in read_named(file, "limits").items():
        if pair.shape != (2,):
            raise damaged(f"the limits of {quote(name)} are not two numbers")
        limits[name] = (float(pair[0]), float(pair[1]))
    return facts["name"], CoefficientLayout(
        coordinates=names_of(facts["coordinates"], "coordinates"),
        theta=facts["theta"],
        inputs=names_of(facts["inputs"], "inputs"),
        outputs=names_of(facts["outputs"], "outputs"),
        columns=spans,
        constants=read_named(file, "constants"),
        dry_forces={key: scalar_of(value) for key, value in read_named(file, "dry_forces").items()},
        christoffel=str(facts["christoffel"]),
        force=str(facts["force"]),
        limits=limits,
        internal=_internal(facts),
        observation=_observation(facts),
    )


def _observation(facts: dict[str, Any]) -> Observation | None:
    """Return the composition of the outputs, or None if they are measures."""
    if "observation" not in facts:
        return None
    found = observation_from(facts["observation"])
    if found.names != tuple(facts["outputs"]):
        raise damaged("the outputs and their composition are inconsistent")
    return found


def _internal(facts: dict[str, Any]) -> int:
    """Return the number of internal modes; the file of a rigid model may omit it."""
    found = facts.get("internal", 0)
    if type(found) is not int or not 0 <= found <= len(facts["coordinates"]) - facts["theta"]:
        raise damaged(f"invalid number of internal modes {quote(found)}")
    return found


def _read_fitted(file: Any, layout: CoefficientLayout, parameters: tuple[FamilyParameter, ...]) -> Piecewise:
    """Return the fitted function of θ and parameters."""
    return read_piecewise(group_of(file, "fitted"), layout.theta + len(parameters), layout.fitted)


def read_piecewise(group: Any, s: int, t: int) -> Piecewise:
    """Return the fitted function R^s -> R^t in a group."""
    require_room(group, PiecewiseArrays._fields)
    arrays = PiecewiseArrays(*(array_of(group, name, integers=name in _INTEGERS) for name in PiecewiseArrays._fields))
    require_valid_arrays(arrays, s, t)
    return Piecewise(arrays)


def write_piecewise(group: Any, fitted: Piecewise) -> None:
    """Write a fitted function into a group."""
    for name, array in fitted.arrays._asdict().items():
        group[name] = array


def _family(file: Any, layout: CoefficientLayout) -> Family:
    facts = json_of(file, "family", dict)
    found, values = facts["parameters"], facts["values"]
    if not isinstance(found, list) or not isinstance(values, list) or len(found) != len(values) or len(found) > 100:
        raise damaged("the parameters are invalid")
    parameters = tuple(
        FamilyParameter(
            str(item["name"]), float(item["lower"]), float(item["upper"]), float(item["nominal"]), str(item["unit"])
        )
        for item in found
    )
    family = Family(parameters, tuple(float(value) for value in values), _read_fitted(file, layout, parameters))
    require_family(family, layout.coordinates)
    return family


def require_valid_arrays(arrays: PiecewiseArrays, s: int, t: int) -> None:
    """Require that every index of the kernels lies inside its array, and that every path down the tree ends."""
    roots_f, roots_i, nodes_i, nodes_f, leaves_i, leaves_f, indices, coefficients = arrays
    roots, nodes, leaves = len(np.atleast_1d(roots_i)), len(np.atleast_1d(nodes_f)), len(np.atleast_1d(leaves_i))
    shapes = (
        (roots, 2, s), (roots,), (nodes, 3), (nodes,), (leaves, 3), (leaves, 2, s),
        (len(np.atleast_1d(indices)), s), (len(np.atleast_1d(coefficients)), t),
    )  # fmt: skip
    for name, array, shape in zip(PiecewiseArrays._fields, arrays, shapes, strict=True):
        if array.shape != shape:
            raise damaged(f"{name} has the wrong shape {array.shape} instead of {shape}")
    if not roots or not leaves or not len(indices) or not t:
        raise damaged("the fit is empty")
    if not (roots_f[:, 0] < roots_f[:, 1]).all() or not (leaves_f[:, 1] > 0.0).all():
        raise damaged("a box is empty")
    children = nodes_i[:, 1:]
    # A child comes after its node, so that every path ends.
    if nodes and not (((children > np.arange(nodes)[:, None]) & (children < nodes)) | (children < 0)).all():
        raise damaged("the tree of boxes has a loop")
    ends = np.concatenate([roots_i, children.ravel()])
    if not ((ends >= -1 - leaves) & (ends < nodes)).all() or not ((nodes_i[:, 0] >= 0) & (nodes_i[:, 0] < s)).all():
        raise damaged("the tree of boxes refers to missing nodes")
    assert NOWHERE == -1
    first, terms, degree = leaves_i.T
    if not ((first >= 0) & (terms >= 1) & (terms <= len(indices)) & (first <= len(coefficients) - terms)).all():
        raise damaged("the coefficients of a box are missing")
    highest = np.maximum.accumulate(indices.max(axis=1))
    if indices.min() < 0 or indices.max() > 1000 or not (degree == highest[terms - 1]).all():
        raise damaged("the degrees of the polynomials and their terms are inconsistent")
    if term_factors(indices) is None:
        raise damaged("the terms of the polynomials are out of order")
