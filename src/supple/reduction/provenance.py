"""Where a reduced model comes from: enough to judge it, and to make it again."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from supple.approximation.approximation import Approximation
from supple.approximation.piecewise.piecewise import Piecewise
from supple.formats.varied_mechanism import VariedMechanism
from supple.reduced.operations import kernel_operations, paper_operations
from supple.reduction.columns import Columns
from supple.reduction.sampling import supple_version


def provenance(
    mechanism: VariedMechanism,
    columns: Columns,
    approximation: Approximation,
    fitted: Piecewise,
    stated: dict[str, dict[str, Any]],
    options: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    """What can be written as JSON, with errors as `stated_errors` gives them. Only `made` differs between two runs of
    the same task.

    fitted : of the model itself, at the nominal values of parameters that are open
    """
    arrays = approximation.piecewise.arrays
    return {
        "description": mechanism.text,
        "options": options,
        "rigid": [] if columns.layout.size > columns.layout.theta else list(mechanism.nominal.elastic_names),
        "versions": {
            "supple": supple_version(),
            "numpy": version("numpy"),
            "numba": version("numba"),
            "python": platform.python_version(),
        },
        "error": stated,
        "stated": {} if approximation.stated is None else approximation.stated._asdict(),
        "jumps": approximation.jumps,
        "samples": approximation.samples,
        "checks": approximation.checks,
        "held_out": approximation.held_out,
        "boxes": approximation.boxes,
        "dropped": approximation.dropped,
        "depth": approximation.depth,
        "memory": int(sum(array.nbytes for array in arrays)),
        "operations": paper_operations(columns.layout, fitted),
        "kernel_operations": kernel_operations(columns.layout, fitted).total,
        "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": seconds},
    }
