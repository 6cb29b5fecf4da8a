"""File of a control law: HDF5, described in docs/law-file.md.

It holds numbers and texts alone; nothing that is read can run code, and everything is checked before it is used.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.control.laws.affine_matrices import Ports, shapes
from supple.control.laws.fitted_row import FittedRow
from supple.diagnostics import InputError
from supple.diagnostics.arguments import require_arguments
from supple.diagnostics.errors import quote
from supple.files.contents import (
    array_of,
    damaged,
    group_of,
    json_of,
    named_error,
    names_of,
    require_room,
    text_of,
)
from supple.files.existing import require_file
from supple.files.seal import LAW, SIZE, require_sealed, seal
from supple.files.whole import write_beside
from supple.reduced.file import read_piecewise, write_piecewise

if TYPE_CHECKING:
    from supple.control.laws.affine_law import AffineLaw

SCHEMA = 1
_FORMAT = "supple control law"
_LISTS = ("measured", "coordinates", "actuators", "answers", "scheduled_by", "commanded_actuators", "undriven")
_LARGEST = 10_000  # states, or names of a kind


def save_law(law: AffineLaw, path: str | Path) -> Path:
    """Write a law to a temporary file, then rename it, so that the target is complete or absent."""
    import h5py

    target, content, ports = Path(path), io.BytesIO(), law.ports
    facts = {
        "name": law.name, "states": law.states, "measured": ports.measured, "coordinates": ports.coordinates,
        "actuators": ports.actuators, "sample_time": ports.sample_time, "previews": ports.previews, "fed": ports.fed,
        "swept": ports.swept, "answers": ports.answers, "scheduled_by": law.scheduled_by, "error": dict(law.error),
        "standing": dict(law.standing), "remark": law.remark, "commanded_actuators": law.commanded_actuators,
        "undriven": law.undriven,
    }  # fmt: skip
    with h5py.File(content, "w", libver=("earliest", "v110"), userblock_size=SIZE) as file:
        file.attrs["format"] = _FORMAT
        file.attrs["schema"] = SCHEMA
        file["law"] = json.dumps(facts, ensure_ascii=False, allow_nan=False)
        _write_row(file.create_group("matrices"), law.matrices)
        if law.equilibrium is not None:
            _write_row(file.create_group("equilibrium"), law.equilibrium)
    with write_beside(target) as beside:
        beside.write_bytes(content.getbuffer())
        seal(beside, LAW)
    return target


def _write_row(group: Any, row: FittedRow) -> None:
    group["template"], group["varying"], group["error"] = row.template, row.varying, np.array([row.error])
    if row.fitted is not None:
        group["factors"] = row.factors
        write_piecewise(group.create_group("fitted"), row.fitted)


def load_law(path: str | Path) -> AffineLaw:
    """Read a control law from a file.

    Parameters
    ----------
    path : str or path-like
        File written by `AffineLaw.save`.

    Returns
    -------
    AffineLaw
        The law, bit for bit as it was saved.

    Raises
    ------
    InputError
        If the file is missing, is not a control law, is damaged, or has a later version.

    See Also
    --------
    AffineLaw.save : Write a law to a file.
    supple.export : Write a law as C.
    """
    require_arguments(load_law, locals())
    import h5py

    target = Path(path)
    require_file(target)
    try:
        require_sealed(target, LAW)
        with h5py.File(target, "r") as file:
            if text_of(file.attrs.get("format")) != _FORMAT:
                raise InputError("this is not a control law of supple", hint=LAW.origin)
            schema = file.attrs.get("schema")
            if not isinstance(schema, int | np.integer) or not 1 <= schema <= SCHEMA:
                raise InputError(
                    f"has version {quote(schema)}, but this supple reads versions up to {SCHEMA}",
                    hint="use a newer supple",
                )
            return _read_law(file)
    except InputError as error:
        raise named_error(error, target, LAW.remedy) from None
    except (OSError, KeyError, ValueError, TypeError, RuntimeError, OverflowError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"cannot be read as a control law ({reason})", part=f"file {target}", hint=LAW.remedy
        ) from None


def _read_law(file: Any) -> AffineLaw:
    from supple.control.laws.affine_law import AffineLaw

    facts = json_of(file, "law", dict)
    lists = {
        key: names_of(facts[key], key)
        for key in (
            "measured",
            "coordinates",
            "actuators",
            "answers",
            "scheduled_by",
            "commanded_actuators",
            "undriven",
        )
    }
    states, previews = facts["states"], facts["previews"]
    if type(states) is not int or not 0 <= states <= _LARGEST or max(map(len, lists.values())) > _LARGEST:
        raise damaged("the sizes of the law are invalid")
    if not isinstance(previews, list) or len(previews) > _LARGEST or not all(type(t) in (int, float) for t in previews):
        raise damaged("the previews of the law are invalid")
    if not all(isinstance(facts[key], bool) for key in ("fed", "swept")):
        raise damaged("the inputs of the law are invalid")
    ports = Ports(
        lists["measured"], lists["coordinates"], lists["actuators"], float(facts["sample_time"]),
        tuple(float(t) for t in previews), facts["fed"], facts["swept"], lists["answers"],
    )  # fmt: skip
    for name in lists["scheduled_by"]:
        ports.place(name)
    if not isinstance(facts["name"], str) or not isinstance(facts["remark"], str):
        raise damaged("the name of the law is invalid")
    s, width = len(lists["scheduled_by"]), sum(int(np.prod(shape)) for shape in shapes(states, ports))
    rest = None
    if "equilibrium" in file:
        rest = _read_row(group_of(file, "equilibrium"), s, states + ports.size + len(ports.outputs))
    return AffineLaw(
        facts["name"], ports, states, _read_row(group_of(file, "matrices"), s, width), lists["scheduled_by"],
        _numbers(facts, "error"), facts["remark"], lists["commanded_actuators"], lists["undriven"],
        _numbers(facts, "standing"), rest,
    )  # fmt: skip


def _numbers(facts: dict[str, Any], key: str) -> dict[str, float]:
    found = facts[key]
    if not isinstance(found, dict) or not all(isinstance(value, int | float) for value in found.values()):
        raise damaged(f"{quote(key)} does not hold numbers")
    return {str(name): float(value) for name, value in found.items()}


def _read_row(group: Any, s: int, width: int) -> FittedRow:
    """Return a row of numbers over s coordinates."""
    require_room(group, ["template", "varying", "error"])
    template, varying = array_of(group, "template"), array_of(group, "varying", integers=True)
    error = array_of(group, "error")
    if template.shape != (width,) or varying.ndim != 1 or error.shape != (1,):
        raise damaged(f"the sizes of {quote(group.name)} are wrong")
    if len(varying) and not ((np.diff(varying) > 0).all() and varying[0] >= 0 and varying[-1] < width):
        raise damaged(f"the positions of {quote(group.name)} are wrong")
    if "fitted" not in group:
        if len(varying):
            raise damaged(f"{quote(group.name)} has no fit")
        return FittedRow(template, error=float(error[0]))
    require_room(group, ["factors"])
    factors = array_of(group, "factors")
    if not s or factors.ndim != 2 or len(factors) != len(varying) or not factors.size:
        raise damaged(f"the factors of {quote(group.name)} have the wrong shape {factors.shape}")
    return FittedRow(
        template, varying, read_piecewise(group_of(group, "fitted"), s, factors.shape[1]), factors, float(error[0])
    )
