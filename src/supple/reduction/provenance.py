"""Where a reduced model comes from: enough to judge it, and to make it again."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from supple.approximation.approximation import Approximation
from supple.description.mechanism import Mechanism
from supple.formats.mechanism_text import to_yaml
from supple.reduced.operations import kernel_operations, paper_operations
from supple.reduction.columns import Columns
from supple.reduction.sampling import supple_version


def provenance(
    mechanism: Mechanism,
    columns: Columns,
    approximation: Approximation,
    stated: dict[str, dict[str, Any]],
    options: dict[str, Any],
    seconds: float,
) -> dict[str, Any]:
    """What can be written as JSON, with errors as `stated_errors` gives them. Only `made` differs between two runs of
    the same task."""
    arrays = approximation.piecewise.arrays
    return {
        "description": to_yaml(mechanism),
        "options": options,
        "rigid": [] if columns.layout.size > columns.layout.theta else list(mechanism.elastic_names),
        "versions": {
            "supple": supple_version(),
            "numpy": version("numpy"),
            "numba": version("numba"),
            "python": platform.python_version(),
        },
        "error": stated,
        "jumps": approximation.jumps,
        "samples": approximation.samples,
        "checks": approximation.checks,
        "boxes": approximation.boxes,
        "dropped": approximation.dropped,
        "depth": approximation.depth,
        "memory": int(sum(array.nbytes for array in arrays)),
        "operations": paper_operations(columns.layout, approximation.piecewise),
        "kernel_operations": kernel_operations(columns.layout, approximation.piecewise).total,
        "made": {"at": datetime.now(UTC).isoformat(timespec="seconds"), "seconds": seconds},
    }
