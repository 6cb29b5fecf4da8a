"""Page with its data as one self-contained HTML file, written or served."""

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
from supple.view.page.encoding import encode_data

PLACEHOLDER = "@SUPPLE-DATA@"  # occurs once in the page, at the position of the data

_FILE = Path(__file__).parent / "bundle" / "page.html"


def bundle_file() -> Path | None:
    """Return the HTML file of the page, built from viewer/; None if supple was installed without it."""
    return _FILE if _FILE.is_file() else None


def bundle() -> str:
    """Return the text of the page's HTML file; raise InputError with instructions if it is missing."""
    if not _FILE.is_file():
        raise InputError(
            "the page has not been built",
            part="page in the browser",
            hint="run `make viewer` in a clone of supple; an install from source builds the page if npm (Node.js) is "
            "available. -o picture.png and -o movie.gif work without it",
        )
    html = _FILE.read_text(encoding="utf-8")
    if html.count(PLACEHOLDER) != 1:
        raise InputError("it has no placeholder for data", part=f"file {_FILE}", hint="rebuild it with `make viewer`")
    return html


def page_html(data: dict[str, Any]) -> str:
    """Return the text of the page with data. The data are base64, which cannot contain HTML or a script."""
    return bundle().replace(PLACEHOLDER, encode_data(data))


def save_page(path: str | Path, data: dict[str, Any]) -> Path:
    """Write the page atomically."""
    return save_text(path, page_html(data))


HOST = "127.0.0.1"
_PATIENCE = 30.0  # timeout of a silent connection, s
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # other limits are in the page itself
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageServer:
    """Server of one page for the browser of this computer, until it is closed.

    The page needs no other requests, and the server answers none. It listens on the loopback interface only. The
    address contains a token created for this run, and requests without it are refused. Requests under another host
    name, or from another page, are always refused.

    html : text of the page
    port : 0 for a free one
    """

    def __init__(self, html: str, *, port: int = 0):
        self.token = secrets.token_urlsafe(24)
        self.html = html.encode("utf-8")
        try:
            self._server = _Server((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"cannot listen on {HOST}:{port} ({reason})", part="--port", hint="omit it to use a free port"
            ) from None
        self._server.page = self
        self.port: int = self._server.server_address[1]
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """Address for the browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def start(self) -> PageServer:
        """Serve in the background until the program ends."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="page")
        self._thread.start()
        return self

    def wait(self) -> None:
        """Wait until the server is closed or interrupted."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(0.2)  # in short intervals, so that signals are handled

    def close(self) -> None:
        """Stop the server and free the port."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    """HTTP server whose requests know their page."""

    daemon_threads = True
    allow_reuse_address = os.name == "posix"  # reuse a recently closed port; elsewhere it could be in use
    page: PageServer

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer would also look up the host name, which may take seconds
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):  # a browser may disconnect at any time
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _Server
    server_version, sys_version = "supple", ""
    protocol_version = "HTTP/1.1"
    timeout = _PATIENCE

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the terminal belongs to the user."""

    def do_GET(self) -> None:
        self._page(body=True)

    def do_HEAD(self) -> None:
        self._page(body=False)

    def _page(self, *, body: bool) -> None:
        page, url = self.server.page, urlsplit(self.path)
        given = parse_qs(url.query).get("token", [""])[0]
        if self._foreign():
            self._send_text(HTTPStatus.FORBIDDEN, "refused: the request comes from another page\n", body=body)
        elif url.path != "/":
            self._send_text(HTTPStatus.NOT_FOUND, "not found\n", body=body)
        elif not _same(given, page.token):
            text = "refused: open the printed address with its token\n"
            self._send_text(HTTPStatus.FORBIDDEN, text, body=body)
        else:
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", page.html, body=body)

    def _foreign(self) -> bool:
        """Return True for a request under another host name (which may point here), or by another page."""
        names = [f"{name}:{self.server.page.port}" for name in (HOST, "localhost")]
        origin = self.headers.get("Origin")
        return self.headers.get("Host") not in names or origin not in (None, *(f"http://{name}" for name in names))

    def _send_text(self, status: HTTPStatus, text: str, *, body: bool = True) -> None:
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
