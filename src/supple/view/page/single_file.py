"""The page with its data: one html file that needs nothing else, written or served."""

from __future__ import annotations

import hmac
import os
import secrets
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from supple.diagnostics import InputError
from supple.results.file import save_text
from supple.view.page.encoding import encoded

PLACEHOLDER = "@SUPPLE-DATA@"  # stands once in it, where a mechanism's data go

_FILE = Path(__file__).parent / "bundle" / "page.html"


def bundle_file() -> Path | None:
    """The html of the page, built from viewer/ and packed with supple; None where supple was installed without it."""
    return _FILE if _FILE.is_file() else None


def bundle() -> str:
    """The text of the page's html; an InputError says how to get it where it is missing."""
    if not _FILE.is_file():
        raise InputError(
            "it is not built",
            part="page in the browser",
            hint="in a clone of supple run `make viewer`, an install from source builds it if there is npm (Node.js); "
            "-o picture.png and -o movie.gif need no page",
        )
    html = _FILE.read_text(encoding="utf-8")
    if html.count(PLACEHOLDER) != 1:
        raise InputError("it has no place for data", part=f"file {_FILE}", hint="build it anew: `make viewer`")
    return html


def page_html(data: dict[str, Any]) -> str:
    """The text of the page. The data are base64, in which nothing can be taken for html or a script."""
    return bundle().replace(PLACEHOLDER, encoded(data))


def save_page(path: str | Path, data: dict[str, Any]) -> Path:
    """Write it beside its target, then rename."""
    return save_text(path, page_html(data))


HOST = "127.0.0.1"
_PATIENCE = 30.0  # seconds that a connection may stay silent
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the page itself says what it may load: nothing
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer:
    """Serves one page to this machine's own browser until it is closed.

    The page needs nothing more, and there is nothing else to ask for. The server listens on the loopback alone. The
    address holds a token made for this run, without which nothing is given; a request under another name than ours,
    or from a page of somebody else, is refused whatever it holds.

    html : of the page; port : a free one if 0
    """

    def __init__(self, html: str, *, port: int = 0):
        self.token = secrets.token_urlsafe(24)
        self.html = html.encode("utf-8")
        try:
            self._server = _Server((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"{HOST}:{port} cannot be listened on ({reason})", part="--port", hint="leave it out to get a free one"
            ) from None
        self._server.page = self
        self.port: int = self._server.server_address[1]
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """What to open in the browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def start(self) -> PageServer:
        """Serve beside whatever else goes on, and until the program ends."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="page")
        self._thread.start()
        return self

    def wait(self) -> None:
        """Until somebody closes it or interrupts."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.2)  # in pieces: signals are heard in between

    def close(self) -> None:
        """Stop, and free the port."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """Its requests know whose page they are for."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # a port that was just left; elsewhere it would take one that is in use
    page: PageServer

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's asks for the name of the machine besides, which may take seconds
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):  # a browser may go away at any time
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _Server
    server_version, sys_version = "supple", ""
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal is for the user."""

    def do_GET(self) -> None:
        self._page(body=True)

    def do_HEAD(self) -> None:
        self._page(body=False)

    def _page(self, *, body: bool) -> None:
        page, asked = self.server.page, urlsplit(self.path)
        given = parse_qs(asked.query).get("token", [""])[0]
        if self._foreign():
            self._tell(HTTPStatus.FORBIDDEN, "refused: it does not come from this page\n", body=body)
        elif asked.path != "/":
            self._tell(HTTPStatus.NOT_FOUND, "there is nothing here\n", body=body)
        elif not _same(given, page.token):
            text = "refused: open the address that was printed, with its token\n"
            self._tell(HTTPStatus.FORBIDDEN, text, body=body)
        else:
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", page.html, body=body)

    def _foreign(self) -> bool:
        """Asked for under a name that is not ours (another may point here), or by a page that is not ours."""
        names = [f"{name}:{self.server.page.port}" for name in (HOST, "localhost")]
        origin = self.headers.get("Origin")
        return self.headers.get("Host") not in names or origin not in (None, *(f"http://{name}" for name in names))

    def _tell(self, status: HTTPStatus, text: str, *, body: bool = True) -> None:
        self._send(status, "text/plain; charset=utf-8", text.encode("utf-8"), body=body)

    def _send(self, status: HTTPStatus, kind: str, content: bytes, *, body: bool = True) -> None:
        self.send_response(status)
        for name, value in (_HEADERS | {"Content-Type": kind, "Content-Length": str(len(content))}).items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)


def _same(given: str | None, token: str) -> bool:
    return hmac.compare_digest((given or "").encode("utf-8", "replace"), token.encode("utf-8"))
