"""`supple reduce`: reduce a mechanism to a model over a region."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import COST, MODEL, OUTPUT, help_of
from supple.cli.kept import require_folder
from supple.cli.kind_option import make_kind_check
from supple.cli.local import ConstraintModes, Stiffening, name_list, require_elastic_bodies
from supple.cli.options import (
    ClusterOption,
    File,
    Json,
    Preload,
    Rigid,
    Settings,
    configuration,
    read_mechanism,
    relative,
)
from supple.cli.options import boxes as box_counts
from supple.cli.options import region as region_of
from supple.cli.options import vary as vary_of

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.reduced.model import ReducedModel


RegionText = Annotated[
    str | None,
    typer.Option(
        "--region",
        metavar="NAME=LOW:HIGH,...",
        help="Ranges of coordinates over which the model is valid: `crank=-100deg:100deg,x=0:12mm`. NAME=VALUE holds "
        "a coordinate. Coordinates that are not given take the limits of their actuator or joint. `path:MOTION` or "
        "`path:FILE.csv` reduces along a path instead.",
        show_default=False,
    ),
]
VaryText = Annotated[
    str | None,
    typer.Option(
        "--vary",
        metavar="NAME=LOW:HIGH,...",
        help="Parameters of the file that remain variable in the model: `payload=8kg:16kg`. Set them later with"
        " --set, or at run time in C and FMU.",
    ),
]
FitName = Annotated[
    str,
    typer.Option(
        "--fit", metavar="NAME", help="Approximation method.", rich_help_panel=COST, callback=make_kind_check("fit")
    ),
]
Boxes = Annotated[
    str | None,
    typer.Option(
        "--boxes",
        metavar="N,N,...",
        help="Boxes along each coordinate: `8,8,8`, or `8` for all. Replaces --tolerance.",
        rich_help_panel=COST,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="E", help="Largest relative error, such as 1e-3 or 0.1%. Default: 1e-3.", parser=relative
    ),
]
Checks = Annotated[
    int | None,
    typer.Option(
        "--checks", metavar="N", help=help_of("reduce", "checks"), show_default=False, rich_help_panel=COST, min=1
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget", metavar="N", help=help_of("reduce", "budget"), show_default=False, rich_help_panel=COST, min=1
    ),
]
Degree = Annotated[
    int | None,
    typer.Option("--degree", metavar="N", help=help_of("reduce", "degree"), show_default=False, rich_help_panel=COST),
]
Continuous = Annotated[
    bool, typer.Option("--continuous", help=help_of("reduce", "continuous"), show_default=False, rich_help_panel=COST)
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep",
        help="Write the model even if it misses the tolerance. The exit status is still 3.",
        rich_help_panel=OUTPUT,
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Estimate the number of samples and the time, without reducing.")
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--file",
        metavar="X.rom",
        help="Reduced model to write. Default: the name of FILE with .rom.",
        rich_help_panel=OUTPUT,
    ),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="Sample store, from which an interrupted run resumes. Default: X.rom.samples.",
        rich_help_panel=OUTPUT,
    ),
]
StoreLimit = Annotated[
    str | None,
    typer.Option(
        "--store-limit",
        metavar="SIZE",
        help="Largest size of the store; older samples are discarded. Default: 4GB.",
        rich_help_panel=OUTPUT,
    ),
]
NoStore = Annotated[bool, typer.Option("--no-store", help="Do not store samples.", rich_help_panel=OUTPUT)]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Number of processes. Default: 1, which already uses all cores.",
        rich_help_panel=COST,
        min=1,
    ),
]
Tracking = Annotated[
    str | None,
    typer.Option(
        "--tracking",
        metavar="METHOD",
        help="Method that follows internal modes over the region: auto, subspace, strain or modes. Default: auto.",
        show_default=False,
        rich_help_panel=MODEL,
    ),
]
InternalModes = Annotated[
    str | None,
    typer.Option(
        "--internal-modes",
        metavar="N|auto",
        help=help_of("reduce", "internal_modes") + " `auto` keeps the smallest set that holds all frequencies up to "
        "three times the lowest one and exchanges no mode with the others.",
        show_default=False,
    ),
]
ObservableAt = Annotated[
    str | None,
    typer.Option(
        "--observable-at",
        metavar="SENSOR,...",
        help=help_of("reduce", "observable_at"),
        show_default=False,
        rich_help_panel=MODEL,
    ),
]
Germ = Annotated[
    str | None,
    typer.Option("--germ", metavar="WHERE", help=help_of("reduce", "germ"), show_default=False, rich_help_panel=MODEL),
]


def reduce(
    file: File,
    region: RegionText = None,
    vary: VaryText = None,
    fit: FitName = "auto",
    boxes: Boxes = None,
    tolerance: Tolerance = None,
    degree: Degree = None,
    checks: Checks = None,
    budget: Budget = None,
    continuous: Continuous = False,
    dry_run: DryRun = False,
    output: Output = None,
    keep: Keep = False,
    store: Store = None,
    store_limit: StoreLimit = None,
    no_store: NoStore = False,
    workers: Workers = None,
    cluster: ClusterOption = None,
    constraint_modes: ConstraintModes = None,
    internal_modes: InternalModes = None,
    tracking: Tracking = None,
    germ: Germ = None,
    observable_at: ObservableAt = None,
    rigid: Rigid = False,
    stiffening: Stiffening = False,
    preload: Preload = True,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Compute a reduced model that is valid over a region."""
    with open_answer(as_json) as answer:
        if boxes is not None and tolerance is not None:
            raise typer.BadParameter("--tolerance and --boxes exclude each other: omit one", param_hint="--tolerance")
        if boxes is not None and budget is not None:
            raise typer.BadParameter("--budget and --boxes exclude each other: omit one", param_hint="--budget")
        if store is not None and no_store:
            raise typer.BadParameter("--store and --no-store exclude each other: omit one", param_hint="--no-store")
        if workers is not None and cluster is not None:
            raise typer.BadParameter("--workers and --cluster exclude each other: omit one", param_hint="--cluster")
        counts, modes, limit = box_counts(boxes), _count(internal_modes), _store_limit(store_limit)
        varied = vary_of(vary)
        mechanism = read_mechanism(answer, file, settings)
        ranges = region_of(region, mechanism)
        task: dict[str, Any] = {"region": ranges, "vary": varied, "fit": fit, "boxes": counts, "degree": degree}
        task |= {"checks": checks, "budget": budget}
        if tolerance is not None:
            task["tolerance"] = tolerance
        require_elastic_bodies(mechanism, {"--stiffening": stiffening})
        task |= _modes(mechanism, constraint_modes, modes, tracking, germ)
        task |= {"observable_at": name_list(observable_at), "stiffening": stiffening, "preload": preload}
        if dry_run:
            from supple.reduction.reduce import expected_cost

            answer.show(expected_cost(mechanism, **task))
            return
        target = output if output is not None else Path(Path(file).stem + ".rom")
        require_folder(target)
        from supple.diagnostics import ClusterError, NumericalError
        from supple.files.whole import UnwrittenError
        from supple.reduction.reduce import reduce as reduced
        from supple.reduction.store import store_contents
        from supple.results.text import duration_text

        start = time.perf_counter()
        kept = None if no_store else store or Path(f"{target}.samples")
        try:
            model = reduced(
                mechanism, **task, continuous=continuous, store=kept or False, store_limit=limit, workers=workers,
                cluster=cluster, progress=False if as_json else None, rigid=rigid,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            refused = not model.met and boxes is None  # a grid of boxes has no tolerance: the warning is enough
            written = None if refused and not keep else model.save(target)
        except (KeyboardInterrupt, ClusterError, UnwrittenError):
            if not no_store:
                answer.note("the computed samples are stored: run the same command again to resume")
            raise
        contents = None if kept is None else store_contents(kept)

        hints = [] if written is None else [f"written to {written}"]
        hints += [] if contents is None else [f"samples stored in {kept} ({contents}); the file may be deleted"]
        stored: dict[str, Any] = {"store": None if kept is None else str(kept), "store_bytes": 0}
        if contents is not None:
            stored |= {"store_bytes": contents.bytes, "store_samples": contents.samples, "store_sets": contents.sets}
        took = f", {duration_text(seconds)}"
        answer.give(model.data(seconds, written) | stored, lambda: model.text(took).lines(*hints))
        if refused:
            raise answer.cut_short(_unmet(model, target, kept, written), NumericalError.exit_status)


def _count(text: str | None) -> int | Literal["auto"]:
    """Return the number of internal modes, or "auto"."""
    if text is None:
        return 0
    if text.strip() == "auto":
        return "auto"
    if not text.strip().isdecimal():
        raise typer.BadParameter(f'{text!r} is neither an integer >= 0 nor "auto"', param_hint="--internal-modes")
    return int(text)


def _store_limit(text: str | None) -> float | None:
    if text is None:
        return None
    from supple.diagnostics.limits import bytes_of

    size = bytes_of(text)
    if not 0.0 < size < 2.0**62:
        raise typer.BadParameter(f"{text!r} is not a size such as 500MB or 4GB", param_hint="--store-limit")
    return size


def _modes(
    mechanism: Mechanism,
    constraint: str | None,
    internal: int | Literal["auto"],
    tracking: str | None,
    germ: str | None,
) -> dict[str, Any]:
    """Return the options about modes; raise an error where they have no effect."""
    from supple.diagnostics import InputError

    options = {"--constraint-modes": constraint, "--internal-modes": internal, "--tracking": tracking, "--germ": germ}
    require_elastic_bodies(mechanism, options)
    found: dict[str, Any] = {"constraint_modes": name_list(constraint), "internal_modes": internal}
    option = "--tracking" if tracking else "--germ" if germ else None
    if option and not found["internal_modes"]:
        raise InputError(f"{option} requires internal modes, but none are kept", hint="give --internal-modes N as well")
    if tracking:
        if tracking not in ("auto", "subspace", "strain", "modes"):
            raise InputError(f'unknown tracking "{tracking}"', hint="choose auto, subspace, strain or modes")
        found["tracking"] = tracking
    if germ:
        found["germ"] = configuration(mechanism, germ)
    return found


def _unmet(model: ReducedModel, target: Path, samples: Path | None, written: Path | None) -> str:
    """Return the advice for a model that misses its tolerance."""
    again = "" if samples is None else f" (the samples are stored in {samples}, so no sample is computed again)"
    hint = f"{target} is written anyway" if written else f"{target} is not written; use --keep to write it{again}"
    return f"{'; '.join(model.provenance['missed'])}: {hint}"
