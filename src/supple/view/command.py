"""`supple view`: a page in the browser, an HTML file, a picture or a movie."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from supple.cli.answer import Answer, open_answer
from supple.cli.help_text import MODEL, OUTPUT
from supple.cli.kept import draw, require_folder
from supple.cli.model_argument import is_model, read_model
from supple.cli.options import At, Json, Settings, configuration, read_mechanism

if TYPE_CHECKING:
    from supple.description.mechanism import Mechanism
    from supple.view.page.page_modes import PageModes
    from supple.view.page.played_motion import SavedRun

What = Annotated[
    str,
    typer.Argument(
        metavar="FILE|ROM|RUN|TEST",
        help="Mechanism file, URDF, bundled example, reduced model, simulation run (.npz), or measured test.",
    ),
]
Beside = Annotated[
    list[str] | None,
    typer.Argument(metavar="RUN|TEST", help="Additional items: up to two runs (.npz, .csv) and a measured test."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--file",
        metavar="FILE",
        help="File to write instead of opening a browser: page (.html), picture (.png, .svg, .pdf) or movie "
        "(.gif, .mp4).",
        rich_help_panel=OUTPUT,
    ),
]
Mode = Annotated[
    int | None, typer.Option("--mode", metavar="N", help="Number of the mode in a picture or movie, from 1.", min=1)
]
Speed = Annotated[float | None, typer.Option("--speed", metavar="FACTOR", help="Speed of a movie; 1 is real time.")]
Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="PORT",
        help="TCP port of the page; 0 chooses a free one.",
        rich_help_panel=OUTPUT,
        min=0,
        max=65535,
    ),
]
Preload = Annotated[
    bool | None,
    typer.Option(
        "--preload/--no-preload",
        help="Include or omit the geometric stiffness of loads in the modes. Default: include it, or as in the "
        "reduced model.",
        rich_help_panel=MODEL,
    ),
]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the address without opening a browser.", rich_help_panel=OUTPUT)
]

_PAGES, _PICTURES, _MOVIES = (".html", ".htm"), (".png", ".svg", ".pdf"), (".gif", ".mp4")
_RUNS = (".npz", ".csv")


class ViewedItems:
    """Items to show: a mechanism or a model, with runs and a test."""

    def __init__(self, answer: Answer, what: str, beside: list[str], settings: list[str] | None):
        self.runs: list[SavedRun] = []
        self.test: PageModes | None = None
        self.thing: Any = None
        self.mechanism: Mechanism
        if is_model(what):
            from supple.formats.model_description import restore_mechanism

            self.thing = read_model(answer, what, settings)
            self.mechanism = restore_mechanism(self.thing)
        elif Path(what).suffix.lower() in _RUNS and Path(what).is_file():
            self._add(what)
            self.mechanism = self.thing = self.runs[0].mechanism() if self.runs else self._alone()
        elif _is_test_file(what):
            self._add(what)
            self.mechanism = self.thing = self._alone()
        else:
            self.mechanism = self.thing = read_mechanism(answer, what, settings)
        for name in beside:
            self._add(name)

    def _alone(self) -> Mechanism:
        """Return a mechanism on which a test without a mechanism is drawn."""
        from supple.view.page.page_modes import points_alone

        assert self.test is not None
        found, self.test = points_alone(self.test)
        return found

    def _add(self, name: str) -> None:
        from supple.diagnostics import InputError
        from supple.files.existing import require_file
        from supple.view.page.page_modes import read_measured
        from supple.view.page.played_motion import holds_run, read_run

        require_file(name)
        if Path(name).suffix.lower() in _RUNS and holds_run(name):
            self.runs.append(read_run(name))
        elif self.test is not None:
            raise InputError("only one test can be shown", file=name, hint="give one test at a time")
        else:
            self.test = read_measured(name)


def view(
    file: What,
    beside: Beside = None,
    at: At = None,
    output: Output = None,
    mode: Mode = None,
    speed: Speed = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    preload: Preload = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """View a mechanism, model, run or test in the browser."""
    if output is not None and output.suffix.lower() not in (*_PAGES, *_PICTURES, *_MOVIES):
        raise typer.BadParameter(
            f"unknown ending of {output}; use .html (page), .png, .svg, .pdf (picture), or .gif, .mp4 (movie)",
            param_hint="-o",
        )
    with open_answer(as_json) as answer:
        require_folder(output)
        shown = ViewedItems(answer, file, beside or [], settings)
        place = configuration(shown.mechanism, at)
        if output is not None and output.suffix.lower() not in _PAGES:
            from supple.view.page.encoding import includes_preload

            _draw_picture(shown, place, output, mode, speed, includes_preload(shown.thing, preload))
        else:
            from supple.view.page.single_file import page_html
            from supple.view.page.whole_page import whole_page

            html = page_html(whole_page(shown.thing, at=place, runs=shown.runs, test=shown.test, preload=preload))
            if output is None:
                _serve_page(answer, shown.mechanism.name, html, port, not no_browser)
                return
            from supple.results.file import save_text

            save_text(output, html)
        size = output.stat().st_size
        data = {"name": shown.mechanism.name, "file": str(output), "bytes": size}
        answer.give(data, lambda: print(f"written to {output} ({size / 1e6:.2f} MB)"))


def _serve_page(answer: Answer, name: str, html: str, port: int, browser: bool) -> None:
    """Serve the page until Ctrl-C or SIGTERM."""
    from supple.view.page.single_file import PageServer
    from supple.view.view_page import open_browser

    server = PageServer(html, port=port)
    try:
        with _handle_signals():
            server.start()
            data = {"name": name, "address": server.address, "port": server.port}
            answer.give(data, lambda: print(f"{name}: {server.address}\nPress Ctrl-C to stop"))
            sys.stdout.flush()
            if browser and not open_browser(server.address):
                answer.note("no browser could be opened: open the address in a browser on this computer")
            server.wait()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()


@contextmanager
def _handle_signals() -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C inside the context, even if the shell has disabled Ctrl-C."""

    def end(*_: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _draw_picture(
    shown: ViewedItems, place: Any, output: Path, mode: int | None, speed: float | None, preload: bool
) -> None:
    """Draw a picture of a posture, of the first run or of a mode; or a movie of the runs or of a mode."""
    from supple.view.movie import mode_movie, run_movie

    mechanism = shown.mechanism
    if output.suffix.lower() in _MOVIES:
        if shown.runs and mode is None:
            from supple.view.page.played_motion import playback_motion

            run_movie(output, mechanism, [playback_motion(run, mechanism) for run in shown.runs], speed=speed)
        else:
            mode_movie(output, mechanism, place, mode=mode or 1, preload=preload)
        return
    if mode is not None:
        from supple.modal_analysis.modes import modes

        found = modes(mechanism, place, count=max(mode, 6), preload=preload)
        from supple.view.mode_sketch import mode_sketch

        draw(output, lambda: mode_sketch(found, which=[mode - 1]))
    else:
        from supple.kinematics.closure import assemble
        from supple.view.sketch import sketch

        if shown.runs and place is None:
            from supple.view.page.played_motion import playback_motion, postures

            where = postures(playback_motion(shown.runs[0], mechanism), mechanism)
        else:
            where = assemble(mechanism, place)
        draw(output, lambda: sketch(where))


def _is_test_file(what: str) -> bool:
    from supple.results.responses import UNIVERSAL

    return Path(what).suffix.lower() in (*UNIVERSAL, ".json") and Path(what).is_file()
