"""The `supple` command: its subcommands, and how it starts and ends."""

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
from supple.cli.kind_option import ListsKinds
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

# A defect of ours: the file that tells of it, for its user to send.


_PACKAGES = ("supple", "numpy", "scipy", "numba", "llvmlite", "h5py", "typer", "pydantic")


def defect(error: Exception, arguments: Sequence[str]) -> Failure:
    """What to say of it. The report is written here or among temporary files; else its traceback goes to standard
    error."""
    said = excerpt(error, LONGEST // 4)
    what = f"this is a defect of supple, not of your input: {type(error).__name__}" + (f": {said}" if said else "")
    text = _report(error, arguments)
    file = _kept(text)
    if file is None:
        print(text, file=sys.stderr)
        return failure(what, DEFECT, hint="no report could be written; please send what stands above")
    return failure(what, DEFECT, hint=f"please send the report {file}", report=str(file))


def _report(error: Exception, arguments: Sequence[str]) -> str:
    """The command, versions, the machine's kind and the traceback; nothing of the files that were read."""
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


def _kept(text: str) -> Path | None:
    name = f"supple-defect-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    for folder in (Path.cwd, lambda: Path(tempfile.gettempdir())):
        try:
            file = folder() / name
            file.write_text(text, "utf-8", errors="replace")
        except OSError:  # nowhere to write, or no folder at all
            continue
        return file
    return None


def _package_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


# A command line that is wrong: told as typer tells it, and with --json by an object as well.


class AnswersUsage(TyperGroup):
    """The group of all commands; whatever typer refuses in its arguments passes through here."""

    as_json = False

    def list_commands(self, ctx: Any) -> list[str]:
        """Supple's own commands, and the analyses that are registered."""
        own = super().list_commands(ctx)
        try:
            return [*own, *self._analyses()]
        except SuppleError as error:  # of a package that cannot be loaded: the help of the others is given all the same
            print(f"warning: {error}", file=sys.stderr)
            return own

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by its name; packages are asked only for names that are not supple's own."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in (added := self._analyses()):
            return own
        from supple.cli.analysis import command_of

        return command_of(added[cmd_name])

    def _analyses(self) -> Mapping[str, Any]:
        """Registered analyses by name; they are imported only where there may be one."""
        if not registrations():
            return {}
        from supple.cli.analysis import ANALYSES

        return ANALYSES

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        self.as_json = "--json" in args
        with self._answering():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        with self._answering():
            return super().invoke(ctx)

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            if hasattr(error, "format_message") and getattr(error, "exit_code", None) == USAGE:
                _wrong(error).give(self.as_json)
            raise


def _wrong(error: Any) -> Any:
    """What typer says of it, the option or argument that it is about, and where help is found."""
    context = getattr(error, "ctx", None)
    hint = f"{context.command_path} --help tells what it takes" if context is not None else None
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


# Shell completion for a shell that the user names, whatever shell started the command.


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
        raise SystemExit(failure("the shell could not be detected", INPUT, hint=hint).tell(False)) from None
    print(f"{shell} completion installed in {path}; restart the terminal to use it")
    raise SystemExit(0)


# Standard output and standard error that may be full, closed, or not there at all.


UNWRITTEN, CLOSED = 1, 141
"""Exit statuses: the answer could not be written; nobody reads it any more (as of a process that SIGPIPE ends)."""


class _Guarded:
    """A stream whose failures to write are somebody's business; all else it leaves to the stream."""

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
def guarded() -> Iterator[None]:
    """Inside, a failing standard output ends the command with one line and a status, and one that its reader has closed
    (`supple ... | head`) with the status alone. What standard error does not take is lost, and the command goes on."""
    before = sys.stdout, sys.stderr
    with ExitStack() as opened:
        out, err = (_there(stream, opened) for stream in before)

        def ended(error: OSError) -> None:
            _swallow(out)
            if error.errno == errno.EPIPE:  # `| head` has read enough: no error of anybody
                raise SystemExit(CLOSED)
            print(f"error: standard output cannot be written ({error.strerror or error})", file=sys.stderr)
            raise SystemExit(UNWRITTEN)

        def lost(error: OSError) -> None:
            _swallow(err)

        sys.stdout, sys.stderr = (cast(TextIO, _Guarded(*pair)) for pair in ((out, ended), (err, lost)))
        try:
            try:
                yield
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
        finally:
            sys.stdout, sys.stderr = before


def _there(stream: TextIO | None, opened: ExitStack) -> TextIO:
    """The stream; where it was closed before we were started, one that takes everything."""
    return stream if stream is not None else opened.enter_context(open(os.devnull, "w", encoding="utf-8"))


def _swallow(stream: TextIO) -> None:
    """Let what is still in its memory, and all that follows, go nowhere: Python would complain of it at the end."""
    with suppress(OSError, ValueError):
        handle = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(handle, stream.fileno())
        finally:
            os.close(handle)
