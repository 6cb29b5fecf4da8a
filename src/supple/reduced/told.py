"""A reduced model in a notebook: region, names with units, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from supple.results.notebook import facts_html

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def model_html(model: ReducedModel) -> str:
    """What it is, and facts about it."""
    layout, units, arrays = model.layout, model.units, model.fitted.arrays
    lows, highs = arrays.roots_f[:, 0].min(axis=0), arrays.roots_f[:, 1].max(axis=0)
    region = [
        f"{name} {a:.4g} to {b:.4g} {units.coordinates.get(name, '')}".rstrip()
        for name, a, b in zip(layout.coordinates, lows, highs, strict=False)
    ]
    facts = [
        ("region", ", ".join(region)),
        ("parameters", "" if model.family is None else str(model.family)),
        ("deformation", ", ".join(layout.coordinates[layout.theta :]) or "none: it is rigid"),
        ("inputs", ", ".join(f"{name} / {units.inputs.get(name) or 'SI'}" for name in layout.inputs)),
        ("outputs", ", ".join(f"{name} / {units.outputs.get(name) or 'SI'}" for name in layout.outputs)),
        ("boxes", str(len(arrays.leaves_i))),
        ("largest errors", ", ".join(f"{name} {worst:.2g}" for name, worst in model.error.items())),
        ("as asked for", "yes" if model.met else "; ".join(model.provenance.get("missed", ()))),
    ]
    return facts_html("ReducedModel", model.name, facts)
