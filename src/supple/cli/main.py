"""The `supple` command: its subcommands, and how it starts and ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from supple.checking import command as check
from supple.cli import assemble, convert, doctor, evaluate, examples, local, new, schema, sweep, warmup
from supple.cli.completion import complete_named_shell
from supple.cli.defect import defect
from supple.cli.failure import INTERRUPTED, failure, failure_of, memory_ran_out, refused_name
from supple.cli.kind_option import ListsKinds
from supple.cli.streams import guarded
from supple.cli.usage import AnswersUsage
from supple.comparison import command as compare
from supple.compilation.patience import patiently
from supple.diagnostics import SuppleError
from supple.export import command as export
from supple.frequency_response import command as frf
from supple.identification.modal_parameters import command as modal
from supple.identification.testing import command as measured
from supple.identification.testing import command as virtual_test
from supple.identification.updating import command as identify
from supple.identification.updating import command as plan_test
from supple.inverse_dynamics import command as inverse
from supple.linearization import command as linearize
from supple.modal_analysis import command as modes
from supple.reduction import command as reduce
from supple.simulation import command as simulate
from supple.statics import command as buckling
from supple.statics import command as compliance
from supple.view import command as view
from supple.view.report import command as report

app = typer.Typer(
    name="supple",
    cls=AnswersUsage,
    help="Small, explicit models of multibody mechanisms.",
    epilog="FILE is a mechanism file, a URDF or the name of a bundled example: supple check four-bar",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("new")(new.new)
app.command("check")(check.check)
app.command("convert")(convert.convert)
app.command("assemble")(assemble.assemble)
app.command("local")(local.local)
app.command("modes")(modes.modes)
app.command("frf")(frf.frf)
app.command("modal")(modal.modal)
app.command("virtual-test")(virtual_test.virtual_test)
app.command("measured")(measured.measured)
app.command("sag")(compliance.sag)
app.command("compliance")(compliance.compliance)
app.command("buckling")(buckling.buckling)
app.command("simulate")(simulate.simulate)
app.command("inverse")(inverse.inverse)
app.command("linearize")(linearize.linearize)
app.command("reduce", cls=ListsKinds)(reduce.reduce)
app.command("identify")(identify.identify)
app.command("plan-test")(plan_test.plan_test)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("report")(report.report)
app.command("export", cls=ListsKinds)(export.export)
app.command("view")(view.view)
app.command("examples")(examples.examples)
app.command("schema")(schema.schema)
app.command("warmup")(warmup.warmup)
app.command("doctor")(doctor.doctor)


def _version(wanted: bool) -> None:
    if wanted:
        import supple

        print(f"supple {supple.__version__}")
        raise typer.Exit


@app.callback()
def _supple(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Print the traceback of an error (also: SUPPLE_DEBUG=1).")
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=VALUE",
            show_default=False,
            help="Another limit: steps=1e9, memory=16GB (also: SUPPLE_LIMITS); `supple doctor` lists them.",
        ),
    ] = None,
) -> None:
    if debug:
        os.environ["SUPPLE_DEBUG"] = "1"
    if limit:
        from supple.diagnostics.limits import set_limits

        set_limits(",".join(limit))


def run(arguments: Sequence[str] | None = None) -> None:
    """What the console script calls; ends with SystemExit, its code the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without θ or × shows ?, it does not stop us
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    patiently()
    with guarded(), _telling(given):
        complete_named_shell(given)
        status = sweep.swept(given, _performed)
        if status is not None:
            raise SystemExit(status)
        _performed(given)


def _performed(arguments: list[str]) -> None:
    """One command; ends with SystemExit."""
    with _telling(arguments):
        app(args=arguments, prog_name="supple")


@contextmanager
def _telling(arguments: list[str]) -> Iterator[None]:
    """What no part of a command knows how to tell is a defect of ours; a user never meets a bare traceback."""
    as_json = "--json" in arguments
    try:
        yield
    except SuppleError as error:  # outside a subcommand, as the two below; inside, the answer takes care
        raise SystemExit(failure_of(error).tell(as_json)) from None
    except MemoryError as error:
        raise SystemExit(memory_ran_out(error).tell(as_json)) from None
    except KeyboardInterrupt:
        raise SystemExit(failure("interrupted", INTERRUPTED).tell(as_json)) from None
    except Exception as error:  # noqa: BLE001 - whatever it is
        if (told := refused_name(error)) is not None:
            raise SystemExit(told.tell(as_json)) from None
        raise SystemExit(defect(error, arguments).tell(as_json)) from None
