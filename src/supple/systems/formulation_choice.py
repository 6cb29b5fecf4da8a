"""Which equations an analysis goes through, by name.

`auto` is what the analysis takes by itself: bodies condensed about θ for modes and responses, the full equations of all
nodes in time, the local model for linear models. `erls` is the equivalent rigid link system, whatever is asked.
"""

from __future__ import annotations

from supple.diagnostics import require_known

FORMULATIONS = {
    "auto": "what the analysis takes by itself",
    "erls": "the equivalent rigid link system: joint coordinates, and small displacements of nodes about them",
}


def by_rigid_links(formulation: str) -> bool:
    """Whether it is the equivalent rigid link system; a name that is none is refused."""
    require_known("formulation", formulation, FORMULATIONS, part="formulation")
    return formulation == "erls"
