"""What `supple reduce` says of the model it made: as data, and as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from supple.reduced.model import ReducedModel


def unmet_request_hint(model: ReducedModel, target: Path, samples: Path | None, written: Path | None) -> str:
    """What to do about a model that is not what was asked for."""
    again = "" if samples is None else f" (its samples are kept in {samples}, so that takes no longer)"
    hint = f"{target} is written all the same" if written else f"{target} is not written; --keep writes it{again}"
    return f"{'; '.join(model.provenance['missed'])}: {hint}"


def data_of(model: ReducedModel, target: Path | None, seconds: float) -> dict[str, Any]:
    """For `--json`."""
    made = model.provenance
    return {
        "samples": made["samples"],
        "checks": made["checks"],
        "boxes": made["boxes"],
        "dropped": made["dropped"],
        "held": model.held,
        "parameters": family_data(model),
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
        "file": None if target is None else str(target),
    }


def family_data(model: ReducedModel) -> dict[str, dict[str, Any]]:
    """{parameter: its value in the model, its range, the file's value and its unit}; empty if none was varied."""
    if model.family is None:
        return {}
    values = zip(model.family.parameters, model.family.values, strict=True)
    return {
        item.name: {"value": value, "range": [item.lower, item.upper], "nominal": item.nominal, "unit": item.unit}
        for item, value in values
    }


def show_model(model: ReducedModel, target: Path | None, seconds: float) -> None:
    """Print errors, modes, what an evaluation costs, and where the model is."""
    from supple.cli.tables import Tables

    made, out = model.provenance, Tables()
    out.line(
        f"{model.name}: {made['samples']} samples and {made['checks']} checks, "
        f"{made['boxes']} {'box' if made['boxes'] == 1 else 'boxes'}, {duration(seconds)}"
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
        out.line(trusted(made["stated"]))
    if "truncation" in made:
        out.line(_left_out(made["truncation"]))
    if "equilibria" in made:
        from supple.reduction.equilibrium_error import equilibrium_error_text

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
    if target is not None:
        out.line(f"written to {target}")


def trusted(stated: dict[str, Any]) -> str:
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


def duration(seconds: float) -> str:
    """In seconds, minutes or hours."""
    if seconds < 100.0:
        return f"{seconds:.2g} s"
    return f"{seconds / 60.0:.3g} min" if seconds < 6000.0 else f"{seconds / 3600.0:.3g} h"
