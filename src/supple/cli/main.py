"""The `supple` command: its subcommands, start and end."""

from __future__ import annotations

import errno
import io
import os
import platform
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, TextIO, cast

import typer
from typer.core import TyperGroup

from supple.checking import command as check
from supple.cli import assemble, convert, doctor, evaluate, examples, local, new, schema, sweep, warmup
from supple.cli.answer import (
    DEFECT,
    INPUT,
    INTERRUPTED,
    LONGEST,
    USAGE,
    Failure,
    failure,
    failure_of,
    memory_ran_out,
    refused_name,
)
from supple.cli.help_text import ANALYSE
from supple.cli.kind_option import Command, without_plain_types
from supple.comparison import command as compare
from supple.compilation.patience import patiently
from supple.diagnostics import SuppleError
from supple.diagnostics.errors import excerpt
from supple.export import command as export
from supple.frequency_response import command as frf
from supple.identification.modal_parameters import command as modal
from supple.identification.testing import command as measured
from supple.identification.testing import command as virtual_test
from supple.identification.updating import command as identify
from supple.identification.updating import command as plan_test
from supple.inverse_dynamics import command as inverse
from supple.kinds.registry import registrations
from supple.linearization import command as linearize
from supple.modal_analysis import command as modes
from supple.reduction import command as reduce
from supple.simulation import command as simulate
from supple.statics import command as buckling
from supple.statics import command as compliance
from supple.view import command as view
from supple.view.report import command as report

# Defects of supple: a report that the user can send.


_PACKAGES = ("supple", "numpy", "scipy", "numba", "llvmlite", "h5py", "typer", "pydantic")


def defect(error: Exception, arguments: Sequence[str]) -> Failure:
    """Return the failure of an unexpected exception, and write a report of it.

    The report goes to the working folder or the folder of temporary files; otherwise it is printed on standard error.
    """
    reason = excerpt(error, LONGEST // 4)
    what = ": ".join(
        item for item in ("this is a defect of supple, not of your input", type(error).__name__, reason) if item
    )
    text = _report(error, arguments)
    file = _write_report(text)
    if file is None:
        print(text, file=sys.stderr)
        return failure(what, DEFECT, hint="no report could be written; please send the text above")
    return failure(what, DEFECT, hint=f"please send the report {file}", report=str(file))


def _report(error: Exception, arguments: Sequence[str]) -> str:
    """Return the command, versions, platform and traceback, without any content of input files."""
    lines = [
        "A defect of supple.",
        f"command   supple {shlex.join(arguments)}",
        f"when      {time.strftime('%Y-%m-%d %H:%M:%S %z')}",
        f"python    {sys.version}",
        f"platform  {platform.platform()}, {os.cpu_count()} cores",
        f"packages  {', '.join(f'{name} {_package_version(name)}' for name in _PACKAGES)}",
        f"settings  {', '.join(f'{k}={v}' for k, v in os.environ.items() if k.startswith('SUPPLE_')) or 'none'}",
        "",
        "".join(traceback.format_exception(error)),
    ]
    return "\n".join(lines)


def _write_report(text: str) -> Path | None:
    name = f"supple-defect-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    for folder in (Path.cwd, lambda: Path(tempfile.gettempdir())):
        try:
            file = folder() / name
            file.write_text(text, "utf-8", errors="replace")
        except OSError:  # the folder is missing or not writable
            continue
        return file
    return None


def _package_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


# Wrong command lines: reported as typer does, and with --json by an object as well.


class Commands(TyperGroup):
    """The group of all commands; it reports arguments that typer refuses."""

    as_json = False

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all parameters, without the types of flags."""
        return without_plain_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return supple's own commands and the registered analyses."""
        own = super().list_commands(ctx)
        try:
            return [*own, *self._analyses()]
        except SuppleError as error:  # an extension cannot be loaded: show the help of the other commands
            print(f"warning: {error}", file=sys.stderr)
            return own

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name; extensions are loaded only for names that are not supple's own."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in (added := self._analyses()):
            return own
        from supple.cli.analysis import command_of

        return command_of(added[cmd_name])

    def _analyses(self) -> Mapping[str, Any]:
        """Return the registered analyses by name; they are imported only if there may be one."""
        if not registrations():
            return {}
        from supple.cli.analysis import ANALYSES

        return ANALYSES

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Create the context, and report wrong arguments."""
        self.as_json = "--json" in args
        with self._report_usage_errors():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and report wrong arguments."""
        with self._report_usage_errors():
            return super().invoke(ctx)

    @contextmanager
    def _report_usage_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if hasattr(error, "format_message") and getattr(error, "exit_code", None) == USAGE:
                _name_value(error)
                _wrong(error).give(self.as_json)
            raise


def _name_value(error: Any) -> None:
    """Replace pydantic's message about the value of an option by one that has the value and the limit."""
    if not hasattr(error.__cause__, "errors"):
        return
    first = error.__cause__.errors()[0]
    kind, limits, value = first["type"], first.get("ctx", {}), excerpt(str(first["input"]))
    if kind in _TYPES:
        error.message = f"{value!r} is not {_TYPES[kind]}"
    elif kind in _LIMITS:
        error.message = f"must be {_LIMITS[kind]} {next(iter(limits.values()))} (got {value})"
    else:
        error.message = str(error.message).removeprefix("Value error, ")


_TYPES = {"int_parsing": "an integer", "int_from_float": "an integer", "float_parsing": "a number"}
_LIMITS = {
    "greater_than_equal": "at least", "less_than_equal": "at most", "greater_than": "greater than",
    "less_than": "less than",
}  # fmt: skip


def _wrong(error: Any) -> Any:
    """Return typer's message, the option or argument that it concerns, and how to get help."""
    context = getattr(error, "ctx", None)
    hint = f"see {context.command_path} --help" if context is not None else None
    found = failure(str(error.format_message()) or "no command is given", USAGE, hint=hint)
    return found._replace(part=_about(error))


def _about(error: Any) -> str | None:
    named = getattr(error, "param_hint", None) or getattr(error, "option_name", None)
    param = getattr(error, "param", None)
    if named is None and param is not None:
        named = param.opts if param.param_type_name == "option" else (param.metavar or param.name)
    return " / ".join(named) if isinstance(named, list | tuple) else named


app = typer.Typer(
    name="supple",
    cls=Commands,
    help="Reduced-order models of flexible, closed-loop mechanisms.",
    epilog="FILE is a mechanism file, a URDF or the name of a bundled example. Start with: supple check four-bar",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DESCRIBE, REDUCE, CONTROL = "Describe", "Reduce", "Control"
TEST, EXPORT, LOOK, MANAGE = "Test", "Export", "Look", "Manage"
"""Panels of `supple --help`, in this order."""

_COMMANDS: dict[str, dict[str, Callable[..., None]]] = {
    DESCRIBE: {"new": new.new, "check": check.check, "convert": convert.convert, "examples": examples.examples},
    ANALYSE: {
        "assemble": assemble.assemble, "modes": modes.modes, "frf": frf.frf, "simulate": simulate.simulate,
        "deflection": compliance.sag, "compliance": compliance.compliance, "buckling": buckling.buckling,
        "local": local.local,
    },
    REDUCE: {"reduce": reduce.reduce, "evaluate": evaluate.evaluate, "compare": compare.compare},
    CONTROL: {"linearize": linearize.linearize, "inverse": inverse.inverse},
    TEST: {
        "virtual-test": virtual_test.virtual_test, "plan-test": plan_test.plan_test,
        "check-measurement": measured.check_responses, "modal": modal.modal, "identify": identify.identify,
    },
    EXPORT: {"export": export.export},
    LOOK: {"view": view.view, "report": report.report},
    MANAGE: {"schema": schema.schema, "warmup": warmup.warmup, "doctor": doctor.doctor},
}  # fmt: skip
for _panel, _functions in _COMMANDS.items():
    for _name, _function in _functions.items():
        app.command(_name, cls=Command, rich_help_panel=_panel)(_function)


def _version(requested: bool) -> None:
    if requested:
        import supple

        print(f"supple {supple.__version__}")
        raise typer.Exit


@app.callback()
def _supple(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=VALUE",
            help="Override a limit, e.g. memory=16GB; see `supple doctor`.",
        ),
    ] = None,
) -> None:
    if debug:
        os.environ["SUPPLE_DEBUG"] = "1"
    if limit:
        from supple.diagnostics import InputError
        from supple.diagnostics.limits import most, set_limits

        most("steps")  # refuses a wrong environment variable under its own name
        try:
            set_limits(",".join(limit))
        except InputError as error:
            raise InputError(error.message, part="--limit", hint=error.hint) from None


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command line; the console script calls this function. It ends with SystemExit and the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without θ or × shows ? instead of stopping the command
            stream.reconfigure(errors="replace")
    given = list(sys.argv[1:] if arguments is None else arguments)
    patiently()
    with guard_streams(), _reporting_errors(given):
        complete_named_shell(given)
        status = sweep.sweep_status(given, _run_command)
        if status is not None:
            raise SystemExit(status)
        _run_command(given)


def _run_command(arguments: list[str]) -> None:
    """Run one command; it ends with SystemExit."""
    with _reporting_errors(arguments):
        app(args=arguments, prog_name="supple")


@contextmanager
def _reporting_errors(arguments: list[str]) -> Iterator[None]:
    """Report errors that no command handles; unexpected ones become reports of a defect, never a bare traceback."""
    as_json = "--json" in arguments
    try:
        yield
    except SuppleError as error:  # outside a subcommand, as the two below; subcommands report their own errors
        raise SystemExit(failure_of(error).emit(as_json)) from None
    except MemoryError as error:
        raise SystemExit(memory_ran_out(error).emit(as_json)) from None
    except KeyboardInterrupt:
        raise SystemExit(failure("interrupted", INTERRUPTED).emit(as_json)) from None
    except Exception as error:  # noqa: BLE001 - any unexpected exception
        if (refused := refused_name(error)) is not None:
            raise SystemExit(refused.emit(as_json)) from None
        raise SystemExit(defect(error, arguments).emit(as_json)) from None


# Shell completion for a shell that the user names, independent of the shell that runs the command.


SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")
_INSTALL, _SHOW = "--install-completion", "--show-completion"


def complete_named_shell(arguments: Sequence[str]) -> None:
    """Perform ``--install-completion SHELL`` and ``--show-completion SHELL``, and end the command.

    typer's own options detect the shell among the parent processes and take no name. Without a name this function asks
    for one where nothing is detected (cron, an IDE, a container); other command lines are left alone.

    Parameters
    ----------
    arguments : sequence of str
        The command line without the name of the program.
    """
    if not arguments or arguments[0] not in (_INSTALL, _SHOW) or arguments[1:] not in ([], *([s] for s in SHELLS)):
        return
    from typer.completion import get_completion_script, install

    option, shell = arguments[0], (arguments[1] if len(arguments) == 2 else None)
    if option == _SHOW:
        if shell is not None:
            print(get_completion_script(prog_name="supple", complete_var="_SUPPLE_COMPLETE", shell=shell))
            raise SystemExit(0)
        return
    try:
        with redirect_stdout(io.StringIO()):
            shell, path = install(shell, prog_name="supple")
    except typer.Exit:
        hint = f"name it: supple {_INSTALL} {'|'.join(SHELLS)}"
        raise SystemExit(failure("the shell could not be detected", INPUT, hint=hint).emit(False)) from None
    print(f"{shell} completion installed in {path}; restart the terminal to use it")
    raise SystemExit(0)


# Standard output and standard error, which may be full, closed or missing.


UNWRITTEN, CLOSED = 1, 141
"""Exit statuses: standard output cannot be written; its reader has closed it (as for a process ended by SIGPIPE)."""


class _Guarded:
    """A stream that calls a function when writing fails; everything else is left to the stream."""

    def __init__(self, stream: TextIO, failed: Callable[[OSError], None]):
        self._stream, self._failed = stream, failed

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._failed(error)
            return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._failed(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guard_streams() -> Iterator[None]:
    """Handle failures of the standard streams.

    A failing standard output ends the command with one line and a status. If its reader has closed it
    (`supple ... | head`), the command ends with the status alone. Failures of standard error are ignored.
    """
    before = sys.stdout, sys.stderr
    with ExitStack() as opened:
        out, err = (_open_stream(stream, opened) for stream in before)

        def end(error: OSError) -> None:
            _discard(out)
            if error.errno == errno.EPIPE:  # `| head` has read enough, which is not an error
                raise SystemExit(CLOSED)
            print(f"error: standard output cannot be written ({error.strerror or error})", file=sys.stderr)
            raise SystemExit(UNWRITTEN)

        def ignore(error: OSError) -> None:
            _discard(err)

        sys.stdout, sys.stderr = (cast(TextIO, _Guarded(*pair)) for pair in ((out, end), (err, ignore)))
        try:
            try:
                yield
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
        finally:
            sys.stdout, sys.stderr = before


def _open_stream(stream: TextIO | None, opened: ExitStack) -> TextIO:
    """Return the stream, or the null device if it was closed before the command started."""
    return stream if stream is not None else opened.enter_context(open(os.devnull, "w", encoding="utf-8"))


def _discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, since Python would report its unwritten buffer at exit."""
    with suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(handle, stream.fileno())
        finally:
            os.close(handle)
