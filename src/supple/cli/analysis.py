"""Analyses that extensions register: a function of a mechanism that becomes a command, and its result."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from supple.cli.answer import open_answer
from supple.cli.help_text import ANALYSE, OUTPUT
from supple.cli.kept import require_folder, require_table_or_picture, write_result
from supple.cli.kind_option import Command
from supple.cli.map_option import Map, give_map, map_of
from supple.cli.options import At, File, Json, Settings, configuration, read_mechanism
from supple.diagnostics import InputError, SuppleError
from supple.diagnostics.errors import excerpt, quote
from supple.kinds import Registry
from supple.results.text import Text, number_text

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.kinematics.configuration import Configuration
    from supple.results.result import Result

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_TYPES = (bool, int, float, str)  # types of arguments that become options
_ROWS = 60  # largest number of printed rows of a table
_LONGEST = 300  # largest number of printed characters of an exception
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--file",
        metavar="FILE",
        help="Table to write (.csv, .npz, .mat), or picture (.png, .svg, .pdf).",
        rich_help_panel=OUTPUT,
        callback=require_table_or_picture,
    ),
]


@dataclass(frozen=True)
class Analysis:
    """An analysis of a mechanism at a configuration, and its command ``supple NAME FILE``.

    The command has the options ``--at``, ``--map``, ``--set``, ``-o`` and ``--json`` of supple's own commands.
    Keyword-only arguments of `compute` become options too. Calling the record calls `compute`.

    Parameters
    ----------
    name : str
        Name of the command, in lower case: ``"reach"``, ``"joint-loads"``.
    description : str
        What the analysis computes, one line of help.
    compute : callable
        ``compute(mechanism, at, *, option=default, ...)``, where `at` is the assembled `Configuration`. It returns a
        `supple.results.result.Result`, which has a summary and a table. With `map_entries` it can be mapped; with
        `plot`, which returns a matplotlib figure, it can be drawn. Arguments that become options are annotated as
        bool, int, float or str, or with ``Annotated[..., typer.Option(...)]``; others keep their default.

    Examples
    --------
    >>> import supple
    >>> supple.Analysis("loads", "Static loads of all joints.", lambda mechanism, at: supple.modes(mechanism, at)).name
    'loads'
    """

    name: str
    description: str
    compute: Callable[..., Result]

    def __post_init__(self) -> None:
        from supple.cli.main import app

        if not _NAME.fullmatch(self.name):
            hint = "use lower-case letters, digits and single hyphens"
            raise InputError("this is not a valid name of a command", part=self.part, hint=hint)
        if self.name in (command.name for command in app.registered_commands):
            raise InputError("supple already has a command of this name", part=self.part, hint="choose another name")
        taken = [name for name in self.options if name in inspect.signature(_run).parameters]
        if taken:
            hint = "rename the argument"
            raise InputError(f"every command already has an argument {quote(taken[0])}", part=self.part, hint=hint)
        needed = [
            name for name, one in self._keywords().items() if name not in self.options and one.default is one.empty
        ]
        if needed:
            hint = "give it a default, or annotate it as bool, int, float or str"
            raise InputError(f"the argument {quote(needed[0])} cannot become an option", part=self.part, hint=hint)

    @property
    def part(self) -> str:
        """Name of the analysis in messages."""
        return f"analysis {quote(self.name)}"

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """Arguments of `compute` that become options, by name."""
        found = self._keywords().items()
        return {name: one for name, one in found if one.annotation in _TYPES or hasattr(one.annotation, "__metadata__")}

    def _keywords(self) -> dict[str, inspect.Parameter]:
        arguments = inspect.signature(self.compute, eval_str=True).parameters
        return {name: one for name, one in arguments.items() if one.kind is one.KEYWORD_ONLY}

    def __call__(self, mechanism: Mechanism, at: Configuration, **options: Any) -> Result:
        """Compute the result; an exception raised by the analysis itself is reported with its name."""
        from supple.results.result import Result

        with self.faults():
            found: object = self.compute(mechanism, at, **options)
        if not isinstance(found, Result):
            hint = "return a supple.results.result.Result"
            raise SuppleError(f"the result has type {type(found).__name__}", part=self.part, hint=hint)
        return found

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Report exceptions of the analysis' own code with its name."""
        try:
            yield
        except (SuppleError, MemoryError):
            raise
        except Exception as error:
            raise SuppleError(
                f"failed with {type(error).__name__}: {excerpt(error, _LONGEST)}", part=self.part,
                hint="report it to the authors of the analysis; SUPPLE_DEBUG=1 prints the traceback",
            ) from error  # fmt: skip


ANALYSES = Registry("analysis", Analysis)


def command_of(analysis: Analysis) -> Any:
    """Return the command of an analysis."""

    def run(**given: Any) -> None:
        _run(analysis, **given)

    own = inspect.signature(_run, eval_str=True).parameters.values()
    shared = [one.replace(kind=one.KEYWORD_ONLY) for one in own if one.name not in ("analysis", "options")]
    parameters = [*shared, *analysis.options.values()]
    parameters.sort(key=lambda one: one.default is not one.empty)  # arguments without a default come first
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters if one.annotation is not one.empty}
    app = typer.Typer(add_completion=False)
    app.command(analysis.name, cls=Command, help=analysis.description, rich_help_panel=ANALYSE)(run)
    return typer.main.get_command(app)


def _run(
    analysis: Analysis,
    file: File,
    at: At = None,
    grid: Map = None,
    output: Output = None,
    settings: Settings = None,
    as_json: Json = False,
    **options: Any,
) -> None:
    with open_answer(as_json) as answer:
        from supple.cli.assemble import warn_of_limits
        from supple.kinematics.closure import assemble

        require_folder(output)
        mechanism = read_mechanism(answer, file, settings)
        if grid is not None:
            from supple.maps.over import over

            give_map(answer, map_of(answer, mechanism, grid, at, over, question=analysis, **options), grid, output)
            return
        here = assemble(mechanism, configuration(mechanism, at))
        warn_of_limits(answer, here)
        found = analysis(mechanism, here, **options)
        with analysis.faults():  # the result is code of the extension as well
            if output is not None:
                _require_drawn(analysis, found, output)
                write_result(found, output)
            data = found.table().data()
            text = Text("") if as_json else _text(found)
        answer.give(data, lambda: text)


def _require_drawn(analysis: Analysis, found: Result, output: Path) -> None:
    from supple.results.file import SUFFIXES

    if output.suffix.lower() not in SUFFIXES and not hasattr(found, "plot"):
        hint = f"write a table: {', '.join(SUFFIXES)}"
        raise InputError(f"the result has no plot for {quote(output.name)}", part=analysis.part, hint=hint)


def _text(found: Result) -> Text:
    """Return the text of a result, or its summary and the first rows of its table."""
    from supple.results.result import Result

    if type(found).text is not Result.text:
        return found.text()
    table, text = found.table(), Text(found.summary())
    columns, units = table.real(), table.real_units()
    titles = [f"{name} [{units[name]}]" if units.get(name) else name for name in columns]
    text.table(titles, [[_cell(value) for value in row] for row in islice(zip(*columns.values(), strict=True), _ROWS)])
    return text.lines(*[f"{_ROWS} of {len(table)} rows; -o FILE writes all, --json prints all"] * (len(table) > _ROWS))


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, str | bool | np.bool_) else number_text(value)
