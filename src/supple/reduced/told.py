"""A reduced model in a notebook, in the terminal and as data: region, names with units, errors, modes, costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from supple.results.notebook import facts_html
from supple.results.text import Text

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


def model_data(model: ReducedModel, seconds: float | None, file: str | Path | None) -> dict[str, Any]:
    """The keys and values that `supple reduce --json` prints."""
    made = model.provenance
    return {
        "samples": made["samples"],
        "checks": made["checks"],
        "boxes": made["boxes"],
        "dropped": made["dropped"],
        "held": model.held,
        "parameters": {} if model.family is None else model.family.data(),
        "depth": made["depth"],
        "error": model.error,
        "stated": made.get("stated", {}),
        "norms": {
            name: {key: item[key] for key in ("median_norm", "floor", "scale")}
            for name, item in made["error"].items()
            if "scale" in item
        },
        "frequencies": made["error"].get("frequencies", {}).get("each", []),
        "truncation": made.get("truncation", {}),
        "equilibria": made.get("equilibria", {}),
        "exchanges": made.get("exchanges", []),
        "modes": made["options"]["modes"],
        "rigid": model.rigid,
        "stiffening": model.stiffening,
        "operations": made["operations"],
        "kernel_operations": made["kernel_operations"],
        "memory": made["memory"],
        "seconds": seconds,
        "met": model.met,
        "missed": made.get("missed", []),
        "file": None if file is None else str(file),
    }


def model_text(model: ReducedModel, took: str) -> Text:
    """Errors, modes, and what an evaluation costs."""
    made = model.provenance
    out = Text(
        f"{model.name}: {made['samples']} samples and {made['checks']} checks, "
        f"{made['boxes']} {'box' if made['boxes'] == 1 else 'boxes'}{took}"
    )
    rows = []
    for name, worst in model.error.items():
        item = made["error"].get(name, {})
        place = ", ".join(f"{key}={value:.4g}" for key, value in item.get("at", {}).items())
        rows.append((name, f"{worst:.2g}", place, _norm(item)))
    each = made["error"].get("frequencies", {}).get("each", [])
    rows += [(f"  frequency {k + 1}", f"{worst:.2g}", "", "") for k, worst in enumerate(each)]
    out.table(("coefficients", "stated error", "largest at", "relative to at least"), rows)
    if made.get("stated"):
        out.line(_trusted(made["stated"]))
    if "truncation" in made:
        out.line(_left_out(made["truncation"]))
    if "equilibria" in made:
        out.line(equilibrium_error_text(made["equilibria"]))
    if model.layout.internal:
        out.line(_followed(made["options"]["modes"], model.layout.internal))
    if model.stiffening:
        out.line("stiffening: second order in the deformation, with the stiffness of loads and of inertia")
    elif model.layout.size > model.layout.theta and not model.layout.vanishes("force"):
        counted = made["options"].get("modes", {}).get("preload")
        out.line(f"geometric stiffness of the loads at rest is {'in K' if counted else 'not in K (--no-preload)'}")
    if model.family is not None:
        out.line(f"parameters: {model.family}")
    for name, value in model.held.items():
        out.line(f"{name} is held at {value:.6g}: it is no coordinate of the model")
    if made["dropped"]:
        out.line(f"{made['dropped']} boxes were left out: there the mechanism cannot be assembled, or locks")
    out.line(
        f"an evaluation: {made['operations']} operations for M, Γ and p as the paper counts them, "
        f"{made['kernel_operations']} for all coefficients as the kernels do; {made['memory'] / 1024:.3g} kB, "
        f"{made['depth']} levels of boxes"
    )
    return out


def _trusted(stated: dict[str, Any]) -> str:
    """How far the stated errors hold, in words."""
    words = (
        f"stated errors hold but for {100.0 * stated['share']:.2g} % of the region, with "
        f"{100.0 * stated['confidence']:g} % confidence for all of them at once, from {stated['points']} random points"
    )
    if stated["invalid"]:
        words += f"; at {stated['invalid']} more points the mechanism cannot be assembled, or locks"
    return words


def _norm(item: dict[str, Any]) -> str:
    """What an error is measured against where the family is smaller."""
    if "scale" not in item:
        return "its own size"
    return f"{item['scale']:.3g} (floor)" if item["floor"] > item["median_norm"] else f"{item['scale']:.3g} (median)"


def _followed(modes: dict[str, Any], count: int) -> str:
    """How many internal modes there are, and what they are turned to, in words."""
    ways = {
        "subspace": "as a subspace, by its motion",
        "strain": "as a subspace, by its strains",
        "modes": "one by one",
    }
    germ = "the rest" if modes["germ"] is None else "(" + ", ".join(f"{value:.4g}" for value in modes["germ"]) + ")"
    return f"{count} internal mode{'s' if count > 1 else ''}, followed from {germ} {ways[modes['tracking']]}"


def _left_out(lost: dict[str, Any]) -> str:
    """What the modes leave out of the full elastic model, in words."""
    places = ", ".join(f"{name} {error:.2g}" for name, error in lost["compliance"].items())
    above = "" if lost["next_hz"] is None else f"; the next mode left out is at {lost['next_hz']:.4g} Hz"
    return (
        f"the modes leave out {lost['frequencies']:.2g} of the frequencies within their band"
        f"{f', of the static compliance at {places}' if places else ''}{above}"
    )


def equilibrium_error_text(found: dict[str, Any]) -> str:
    """How far the model rests from the full equations, in words."""
    if not found["points"]:
        return f"at rest not compared with the full equations: {found['reason']}"
    words = [f"{error:.2g} of the static deflection at {name}" for name, error in found["deflection"].items()]
    words += [f"{found['force']:.2g} of the forces that hold it"] if found["force"] is not None else []
    where = f"{found['points']} configurations"
    where += f" (at others: {found['reason']})" if found["reason"] else ""
    return f"at rest the full equations differ by {', '.join(words) or 'nothing that sensors show'}, at {where}"
