"""A plain model as the arrays that the Matlab function loads; names in ASCII, indices from 0 as in the JSON."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import numpy as np
from scipy.io import savemat

from supple.export.c.model import Exportable
from supple.export.plain.plain_model import plain_model


def matlab_data(rom: Exportable) -> bytes:
    """The contents of a .mat file (version 5)."""
    data = plain_model(rom)
    boxes, row, seen = data["boxes"], data["row"], data["observation"]
    s, terms = data["theta"], data["degrees"]
    bounds = np.array(boxes["roots"]["bounds"], dtype=float).reshape(-1, 2, s)
    found: dict[str, Any] = {
        "coordinates": _texts(data["coordinates"]),
        "inputs": _texts(data["inputs"]), "outputs": _texts(data["outputs"]),
        "coordinate_count": float(len(data["coordinates"])), "theta": float(s),
        "input_count": float(len(data["inputs"])), "output_count": float(len(data["outputs"])),
        "bent": data["bent"], "curved": data["curved"],
        "friction_forces": _column(data["friction"]["forces"]), "friction_speed": data["friction"]["speed"],
        "root_lower": bounds[:, 0], "root_upper": bounds[:, 1], "root_child": _column(boxes["roots"]["child"]),
        "node_axis": _column(boxes["nodes"]["axis"]), "node_cut": _column(boxes["nodes"]["cut"]),
        "node_children": np.array(boxes["nodes"]["children"], dtype=float).reshape(-1, 2),
        "leaf_first": _column(boxes["leaves"]["first"]), "leaf_terms": _column(boxes["leaves"]["terms"]),
        "leaf_center": np.array(boxes["leaves"]["center"], dtype=float).reshape(-1, s),
        "leaf_scale": np.array(boxes["leaves"]["scale"], dtype=float).reshape(-1, s),
        "degrees": np.array(terms, dtype=float).reshape(-1, s),
        "polynomials": np.array(data["polynomials"], dtype=float),
        "template": _column([np.nan if value is None else value for value in row["template"]]),
        "values_from": _column(row["values"]["from"]), "values_to": _column(row["values"]["to"]),
        "slopes_from": np.array(row["slopes"]["from"], dtype=float).reshape(-1, 3),
        "slopes_to": _column(row["slopes"]["to"]),
        "slopes_factor": np.array(row["slopes"]["factor"], dtype=float).reshape(-1, 3),
        "copies_from": _column(row["copies"]["from"]), "copies_to": _column(row["copies"]["to"]),
        "shape_names": _texts(row["shapes"]), "shape_sizes": _cells(row["shapes"].values()),
        "measure_count": float(len(seen["measures"])), "effort_count": float(len(seen["efforts"])),
        "measure_values": _column(data["measures"]["values"]), "measure_modes": _column(data["measures"]["modes"]),
        "measure_fitted": np.array(data["measures"]["fitted"], dtype=float),
        "products": _products(seen["outputs"]),
    }  # fmt: skip
    stream = BytesIO()
    savemat(stream, found, do_compression=True)
    return stream.getvalue()


def _column(values: Any) -> np.ndarray:
    return np.array(list(values), dtype=float).reshape(-1, 1)


def _texts(names: Any) -> np.ndarray:
    """A cell array of texts that every version of Matlab and Octave reads: letters that are not ASCII as ?."""
    return _cells(name.encode("ascii", "replace").decode("ascii") for name in names)


def _cells(values: Any) -> np.ndarray:
    items = list(values)
    found = np.empty((len(items), 1), dtype=object)
    for i, item in enumerate(items):
        found[i, 0] = item if isinstance(item, str) else np.array(item, dtype=float)
    return found


def _products(outputs: dict[str, Any]) -> np.ndarray:
    """(products, 6): output, weight, then number and order of up to two factors, -1 where there is none."""
    rows = []
    for o, form in enumerate(outputs.values()):
        for weight, *factors in form:
            places = [place for factor in factors for place in factor]
            rows.append([o, weight, *places, *[-1] * (4 - len(places))])
    return np.array(rows, dtype=float).reshape(-1, 6)
