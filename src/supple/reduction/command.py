"""`supple reduce`: the reduced model of a mechanism over a region."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from supple.cli.answer import answering
from supple.cli.kept import require_folder
from supple.cli.kind_option import known
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
        "--region", metavar="NAME=LOWER:UPPER,...|path:MOTION",
        help="Where the model shall hold; limits of actuators and joints where not given. NAME=VALUE holds a "
        "coordinate: the model is one of the others. `path:MOTION` or `path:FILE.csv` is the way of a motion: the "
        "model's one coordinate is then its arclength.",
    ),
]  # fmt: skip
VaryText = Annotated[
    str | None,
    typer.Option(
        "--vary", metavar="NAME=LOWER:UPPER,...",
        help="Parameters of the file that shall stay open, as coordinates of the region that are constant in time: "
        "`payload=8kg:16kg`. Commands then take `--set payload=12kg` of the model, and C and FMU set it at run time.",
    ),
]  # fmt: skip
FitName = Annotated[str, typer.Option("--fit", metavar="NAME", callback=known("fit"), help="What is fitted, and how.")]
Boxes = Annotated[
    str | None,
    typer.Option("--boxes", metavar="N,N,...", help="A grid of equal boxes, instead of --tolerance."),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="E", parser=relative,
        help="Largest relative error, such as 1e-3 or 0.1%. Default: 1e-3.",
    ),
]  # fmt: skip
Checks = Annotated[
    int | None,
    typer.Option(
        "--checks", metavar="N", min=1,
        help="Fresh random points on which the error is stated. Default: about 5000, so that at most 0.1 % of the "
        "region exceeds it with 95 % confidence; fewer where they would take longer than 30 s.",
    ),
]  # fmt: skip
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget", metavar="N", min=1,
        help="Largest number of samples that refinement may take; --checks come on top. Default: 20000.",
    ),
]  # fmt: skip
Degree = Annotated[
    int | None,
    typer.Option("--degree", metavar="N", help="Of the polynomials, where the fit leaves it open."),
]
Continuous = Annotated[bool, typer.Option("--continuous", help="No jumps between boxes.")]
Keep = Annotated[
    bool, typer.Option("--keep", help="Write the model even if it misses the tolerance; the status is 3 all the same.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only estimate the samples and the time it would take.")]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--file", metavar="X.rom", help="The model; FILE with .rom if left out."),
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="PATH",
        help="Where samples are kept, so that an interrupted run goes on; X.rom.samples if left out. May be removed.",
    ),
]  # fmt: skip
StoreLimit = Annotated[
    str | None,
    typer.Option(
        "--store-limit", metavar="SIZE",
        help="How large the store may grow; 4GB if left out. The oldest sets of other mechanisms then make room.",
    ),
]  # fmt: skip
NoStore = Annotated[bool, typer.Option("--no-store", help="Keep no samples.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1,
        help="Processes. Left out, one, which already uses all cores.",
    ),
]  # fmt: skip
Tracking = Annotated[
    str | None,
    typer.Option(
        "--tracking",
        metavar="subspace|strain|modes",
        help="How internal modes are followed: their subspace by motions or by strains, whichever suits the region "
        "better if left out, or one by one.",
    ),
]
InternalModes = Annotated[
    str | None,
    typer.Option(
        "--internal-modes", metavar="N|auto",
        help="How many internal modes to keep (elastic bodies); auto: as few as hold together over the region.",
    ),
]  # fmt: skip
ModesSeenAt = Annotated[
    str | None,
    typer.Option(
        "--modes-seen-at", metavar="SENSOR,...",
        help="Sensors. Internal modes above the last one with 1 % of the static compliance at one are left out.",
    ),
]  # fmt: skip
Germ = Annotated[
    str | None,
    typer.Option("--germ", metavar="WHERE", help="Reference of internal modes (elastic bodies)."),
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
    keep: Keep = False,
    dry_run: DryRun = False,
    output: Output = None,
    store: Store = None,
    store_limit: StoreLimit = None,
    no_store: NoStore = False,
    workers: Workers = None,
    cluster: ClusterOption = None,
    constraint_modes: ConstraintModes = None,
    internal_modes: InternalModes = None,
    tracking: Tracking = None,
    germ: Germ = None,
    modes_seen_at: ModesSeenAt = None,
    rigid: Rigid = False,
    stiffening: Stiffening = False,
    preload: Preload = True,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Make a small model that holds over a whole region."""
    with answering(as_json) as answer:
        if boxes is not None and tolerance is not None:
            raise typer.BadParameter("a grid of boxes has the error it has: leave one out", param_hint="--tolerance")
        if boxes is not None and budget is not None:
            raise typer.BadParameter("the samples of a grid are known: leave one out", param_hint="--budget")
        if store is not None and no_store:
            raise typer.BadParameter("either keep samples or do not", param_hint="--no-store")
        if workers is not None and cluster is not None:
            raise typer.BadParameter("both say where samples are computed: leave one out", param_hint="--cluster")
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
        task |= {"modes_seen_at": name_list(modes_seen_at), "stiffening": stiffening, "preload": preload}
        if dry_run:
            from supple.reduction.reduce import expected_cost

            answer.show(expected_cost(mechanism, **task))
            return
        target = output if output is not None else Path(Path(file).stem + ".rom")
        require_folder(target)
        from supple.diagnostics import ClusterError, NumericalError
        from supple.files.whole import UnwrittenError
        from supple.reduction.reduce import reduce as reduced
        from supple.reduction.store import held_in
        from supple.results.text import duration_text

        start = time.perf_counter()
        kept = None if no_store else store or Path(f"{target}.samples")
        try:
            model = reduced(
                mechanism, **task, continuous=continuous, store=kept or False, store_limit=limit, workers=workers,
                cluster=cluster, progress=False if as_json else None, rigid=rigid,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            refused = not model.met and boxes is None  # a grid has the error it has: the warning must do
            written = None if refused and not keep else model.save(target)
        except (KeyboardInterrupt, ClusterError, UnwrittenError):
            if not no_store:
                answer.note("what was computed is kept: the same command goes on from there")
            raise
        held = None if kept is None else held_in(kept)

        hints = [] if written is None else [f"written to {written}"]
        hints += [] if held is None else [f"samples kept in {kept} ({held}); it may be removed"]
        stored: dict[str, Any] = {"store": None if kept is None else str(kept), "store_bytes": 0}
        if held is not None:
            stored |= {"store_bytes": held.bytes, "store_samples": held.samples, "store_sets": held.sets}
        took = f", {duration_text(seconds)}"
        answer.give(model.data(seconds, written) | stored, lambda: model.text(took).lines(*hints))
        if refused:
            raise answer.cut_short(_unmet(model, target, kept, written), NumericalError.exit_status)


def _count(text: str | None) -> int | Literal["auto"]:
    """How many internal modes: a number, or "auto"."""
    if text is None:
        return 0
    if text.strip() == "auto":
        return "auto"
    if not text.strip().isdecimal():
        raise typer.BadParameter(f"{text!r} is neither a number from 0 on nor auto", param_hint="--internal-modes")
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
    """Options about modes, refused where they mean nothing."""
    from supple.diagnostics import InputError

    asked_of = {"--constraint-modes": constraint, "--internal-modes": internal, "--tracking": tracking, "--germ": germ}
    require_elastic_bodies(mechanism, asked_of)
    found: dict[str, Any] = {"constraint_modes": name_list(constraint), "internal_modes": internal}
    asked = "--tracking" if tracking else "--germ" if germ else None
    if asked and not found["internal_modes"]:
        raise InputError(f"{asked} is about internal modes, and none are kept", hint="give --internal-modes N as well")
    if tracking:
        if tracking not in ("subspace", "strain", "modes"):
            raise InputError(f'there is no tracking "{tracking}"', hint="choose subspace, strain or modes")
        found["tracking"] = tracking
    if germ:
        found["germ"] = configuration(mechanism, germ)
    return found


def _unmet(model: ReducedModel, target: Path, samples: Path | None, written: Path | None) -> str:
    """What to do about a model that is not what was asked for."""
    again = "" if samples is None else f" (its samples are kept in {samples}, so that takes no longer)"
    hint = f"{target} is written all the same" if written else f"{target} is not written; --keep writes it{again}"
    return f"{'; '.join(model.provenance['missed'])}: {hint}"
