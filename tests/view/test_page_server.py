"""The server of the page: this machine alone, with its token, and nothing but the page."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from supple.diagnostics import InputError
from supple.view.page.single_file import PageServer


@pytest.fixture(scope="module")
def server():
    found = PageServer("<!doctype html><p>page").start()
    yield found
    found.close()


def _asked(server: PageServer, path: str, method: str = "GET", **headers: str):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), dict(answer.getheaders())
    connection.close()
    return found


def _page(server: PageServer) -> str:
    parts = urlsplit(server.address)
    return f"{parts.path}?{parts.query}"


def test_the_address_gives_the_page(server):
    status, text, headers = _asked(server, _page(server))
    assert (status, text) == (200, "<!doctype html><p>page")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert _asked(server, _page(server), Origin=f"http://127.0.0.1:{server.port}")[0] == 200
    assert _asked(server, _page(server), Host=f"localhost:{server.port}")[0] == 200
    assert _asked(server, _page(server), "HEAD")[:2] == (200, "")


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=wrong", "/?token=%C3%A4", "/?token=%FF"])
def test_without_its_token_nothing_is_given(server, path):
    status, text, _ = _asked(server, path)
    assert status == 403
    assert "token" in text


@pytest.mark.parametrize("path", ["/favicon.ico", "/../../etc/passwd", "//etc/passwd", "/answer", "/%2e%2e/x"])
def test_unknown_paths_are_not_there(server, path):
    assert _asked(server, path)[0] == 404
    assert _asked(server, f"{path}?token={server.token}")[0] == 404


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1"}, {"Host": "evil.example"},
    {"Host": "127.0.0.1"}, {"Host": "127.0.0.1:1"}, {"Host": ""},
])  # fmt: skip
def test_whoever_asks_from_elsewhere_is_refused(server, headers):
    status, text, _ = _asked(server, _page(server), **headers)
    assert status == 403
    assert "<p>page" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_there_is_nothing_to_write_to(server, method):
    assert _asked(server, _page(server), method)[0] == 501


def test_it_listens_on_the_loopback_alone(server):
    assert server._server.server_address[0] == "127.0.0.1"
    assert urlsplit(server.address).hostname == "127.0.0.1"


def test_tokens_differ(server):
    other = PageServer("")
    assert other.token != server.token
    assert len(other.token) >= 32
    other.close()


def test_a_port_that_is_taken_is_told(server):
    with pytest.raises(InputError, match=f"cannot listen on .*:{server.port}"):
        PageServer("", port=server.port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_ends_well_and_frees_its_port(bundle, number, tmp_path):
    if os.name != "posix":
        pytest.skip("signals of POSIX")
    file = tmp_path / "pendulum.yaml"
    file.write_text(
        "supple: 1\nname: rod\npoints: {A: [0, 0, 0], B: [1, 0, 0]}\nbodies: {b: {rod: [A, B], mass: 1}}\n"
        "joints: {j: {revolute: [ground, b], at: A, axis: y}}\nactuators: {j: {joint: j, limits: [-1, 1]}}\n"
    )
    started = subprocess.Popen(
        [sys.executable, "-m", "supple", "view", str(file), "--no-browser", "--json"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        told = json.loads(started.stdout.readline())
        answer = http.client.HTTPConnection("127.0.0.1", told["port"], timeout=10)
        answer.request("GET", told["address"].partition(str(told["port"]))[2])
        assert answer.getresponse().status == 200
        answer.close()
        started.send_signal(number)
        out, errors = started.communicate(timeout=20)
    finally:
        started.kill()
    assert (started.returncode, out, errors) == (0, "", "")
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", told["port"]))
        again.listen()
