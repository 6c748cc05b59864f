# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune dashboard`: how it begins, what it serves, how it ends."""

import gzip
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess

import pytest

from dashboards import Dashboard, dashboard, filled
from programs import ROOT, wait_until

DIST = ROOT / "dashboard/web/dist"


@pytest.mark.quick
@pytest.mark.sanitized
def test_it_wants_a_store(smtune):
    result = smtune("dashboard")
    assert (result.returncode, result.stdout) == (4, "")
    assert "no store" in result.stderr


@pytest.mark.parametrize("words, status, text", [
    (["--port", "x"], 2, "'x'"), (["--port", "65536"], 2, "65535"),
    (["--port", "-1"], 2, "'-1'"), (["--port", "1", "--socket", "s"], 2,
                                    "exclude each other"),
    (["--socket", "x" * 200], 2, "at most 107 bytes"),
    (["--socket", "/no/such/folder/s"], 1, "cannot listen"), (["r"], 2, "'r'")])
def test_options_that_make_no_sense(filled, words, status, text):
    result = filled("dashboard", *words)
    assert (result.returncode, result.stdout) == (status, "")
    assert text in result.stderr


def test_a_port_that_is_taken(filled, dashboard):
    result = filled("dashboard", "--port", dashboard.port)
    assert result.returncode == 5
    assert f"port {dashboard.port}" in result.stderr


def test_the_next_port_when_none_was_asked_for(filled, build):
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(("127.0.0.1", 8420))
        taken.listen()
    except OSError:
        pass  # somebody else has it
    process = subprocess.Popen(
        [build / "smtune", "dashboard"], stdout=subprocess.PIPE, text=True,
        cwd=filled.directory, env=filled.environment())
    lines = [process.stdout.readline() for _ in range(5)]
    process.terminate()
    assert process.wait(30) == 0
    process.stdout.close()
    taken.close()
    operator = next(line for line in lines if line.startswith("operator"))
    port = int(operator.split("127.0.0.1:")[1].split("/")[0])
    assert 8420 < port <= 8440
    assert any(line.startswith("viewer") for line in lines)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_clients_in_every_state(filled, number):
    with Dashboard(filled) as dashboard:
        clients = []
        for text in ("", "GET / HT", "GET /api/v1/events?run=1 HTTP/1.1\r\n"
                     "Host: {netloc}\r\nAuthorization: Bearer {token}\r\n\r\n",
                     "POST /api/v1/runs/1/note HTTP/1.1\r\nHost: {netloc}\r\n"
                     "Content-Length: 100\r\n\r\n{{",
                     "GET /api/v1/runs/1/columns HTTP/1.1\r\nHost: {netloc}"
                     "\r\nAuthorization: Bearer {token}\r\n\r\n" * 20):
            client = socket.create_connection((dashboard.host, dashboard.port))
            client.sendall(text.format(
                netloc=dashboard.netloc,
                token=dashboard.tokens["viewer"]).encode())
            clients.append(client)
        clients[2].settimeout(30)
        assert clients[2].recv(100).startswith(b"HTTP/1.1 200")
        dashboard.end(number)
        for client in clients:
            client.close()


def test_the_browser_is_shown_the_page(filled, write):
    """The code is not in the command line, which all can read."""
    seen = filled.directory / "seen"
    write("bin/xdg-open", f"""\
        #!/bin/sh
        cp -p "$1" {seen}.part
        echo "$1" >{seen}.path
        mv {seen}.part {seen}
        """, mode=0o755)
    filled.env["PATH"] = f"{filled.directory}/bin:{filled.env['PATH']}"
    with Dashboard(filled, "--open") as dashboard:
        wait_until(seen.exists, what="the browser")
        assert stat.S_IMODE(os.stat(seen).st_mode) == 0o600
        url = re.search(r"http://[^\"]+", seen.read_text())[0]
        path = pathlib.Path((filled.directory / "seen.path").read_text()[:-1])
        assert url.partition("#")[2] not in str(path)
        # That of the terminal is another, for another browser.
        for one in (url, dashboard.urls["operator"]):
            assert dashboard.log_in(one).json()["role"] == "operator"
    assert not path.exists()


@pytest.mark.parametrize("name", sorted(
    path.stem for path in DIST.glob("*.gz")))
def test_the_pages_files(dashboard, name):
    text = (DIST / name).read_bytes()
    path = "/" if name == "index.html" else f"/{name}"
    plain = dashboard.get(path, role=None)
    packed = dashboard.get(path, role=None,
                           headers={"Accept-Encoding": "br, gzip;q=0.5"})
    assert plain.status == packed.status == 200
    assert plain.body == text
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert packed.body == (DIST / f"{name}.gz").read_bytes()
    assert gzip.decompress(packed.body) == text
    assert plain.headers["ETag"] != packed.headers["ETag"]
    for answer, accept in ((plain, "gzip;q=0"), (packed, "gzip")):
        assert answer.headers["Vary"] == "Accept-Encoding"
        known = dashboard.get(path, role=None, headers={
            "Accept-Encoding": accept,
            "If-None-Match": f'"x", {answer.headers["ETag"]}'})
        assert (known.status, known.body) == (304, b"")
    head = dashboard.ask("HEAD", path, role=None)
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["Content-Length"]) == len(text)


def test_two_dashboards_keep_apart(filled, dashboard):
    with Dashboard(filled) as other:
        assert set(other.tokens.values()).isdisjoint(
            dashboard.tokens.values())
        answer = other.get("/api/v1/session", role=None, headers={
            "Authorization": f"Bearer {dashboard.tokens['operator']}"})
        assert answer.status == 401


def test_the_store_is_told_as_it_is_read(filled, dashboard):
    session = dashboard.get("/api/v1/session", role="viewer").json()
    version = json.loads(filled.ok("version", "-o", "json"))["version"]
    assert session == {"role": "viewer", "version": version,
                       "store": str(filled.store), "read_only": False}
