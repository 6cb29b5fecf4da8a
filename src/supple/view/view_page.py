"""Methods `view()` of mechanisms, models and runs: inline in a notebook, otherwise in the browser."""

from __future__ import annotations

import html
import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supple.identification.modal_parameters.modal_parameters import ModalParameters
from supple.kinematics.configuration import At
from supple.results.file import save_text
from supple.view.page.page_modes import PageModes, page_modes
from supple.view.page.single_file import PageServer, page_html
from supple.view.page.whole_page import whole_page

_HEIGHT = 640  # height of the page in a notebook, pixels


class ShownPage:
    """Page that is shown: a notebook displays it, `address` opens it while it is served, `save` writes it to a file."""

    def __init__(self, name: str, text: str, server: PageServer | None = None):
        self.name, self.html, self._server = name, text, server

    def __repr__(self) -> str:
        return f'<page of "{self.name}"{f" at {self.address}" if self.address else ""}>'

    def _repr_html_(self) -> str:
        """Return an HTML frame in which only the page's own script may run."""
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" sandbox="allow-scripts allow-downloads" '
            f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
        )

    @property
    def address(self) -> str:
        """Address of the page on this computer; "" if it is not served."""
        return "" if self._server is None else self._server.address

    def save(self, path: str | Path) -> Path:
        """Write the page as one file."""
        return save_text(path, self.html)

    def wait(self) -> None:
        """Serve the page until it is interrupted (Ctrl-C)."""
        if self._server is not None:
            try:
                self._server.wait()
            except KeyboardInterrupt:
                self.close()

    def close(self) -> None:
        """Stop serving the page."""
        if self._server is not None:
            self._server.close()
            self._server = None


def view_page(
    thing: Any,
    *,
    at: At = None,
    runs: Sequence[Any] = (),
    test: ModalParameters | PageModes | None = None,
    preload: bool | None = None,
    browser: bool = True,
    wait: bool | None = None,
) -> ShownPage:
    """Show the page of a mechanism, a reduced model or a run.

    In a notebook the page is displayed below the cell; otherwise it is served to the browser of this computer.

    at      : initial posture
    runs    : up to two simulations to play back
    test    : modes of a measured test, drawn at its points
    preload : modes with or without the geometric stiffness of gravity and all forces at rest; default: as in the
              reduced
              model, and as in `supple.modes` for everything else
    browser : open the page in the browser
    wait    : serve until Ctrl-C; default: True in scripts, False in interactive sessions
    """
    modes = page_modes(test) if isinstance(test, ModalParameters) else test
    data = whole_page(thing, at=at, runs=runs, test=modes, preload=preload)
    text = page_html(data)
    if in_notebook():
        return ShownPage(data["name"], text)
    shown = ShownPage(data["name"], text, PageServer(text).start())
    if browser:
        open_browser(shown.address)
    if wait if wait is not None else not hasattr(sys, "ps1"):
        shown.wait()
    return shown


def in_notebook() -> bool:
    """Return True if results are displayed by a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def open_browser(address: str) -> bool:
    """Open an address in a graphical browser; return False if there is none, as on a machine without a screen."""
    screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not screen and not os.environ.get("BROWSER"):
        return False  # a text browser would take over the terminal and show nothing
    try:
        return webbrowser.open(address)
    except (OSError, webbrowser.Error):
        return False
