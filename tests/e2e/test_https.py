# SPDX-License-Identifier: GPL-3.0-or-later
"""https, with a certificate that no authority of this machine has signed."""

import http.server
import json
import pathlib
import ssl
import subprocess
import threading

import pytest

from programs import wait_until

BUNDLE = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


class Handler(http.server.BaseHTTPRequestHandler):
    """Takes every message."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.events.append(json.loads(body)["event"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *words):
        pass


@pytest.fixture
def certificate(tmp_path):
    """Of 127.0.0.1, signed by itself; its key is beside it."""
    path = tmp_path / "own.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30", "-subj",
         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", tmp_path / "own.key", "-out", path],
        check=True, capture_output=True)
    return path


@pytest.fixture
def server(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    # A client that breaks off is this client's affair.
    server.handle_error = lambda *words: None
    server.socket = context.wrap_socket(server.socket, server_side=True,
                                        do_handshake_on_connect=False)
    server.events = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.sanitized
def test_https__a_variable_names_the_certificates(smtune, experiment, server,
                                                  certificate):
    url = f"https://127.0.0.1:{server.server_port}/hook"
    path = experiment(notify=[{"url": url}])
    engine = smtune.start("run", path)
    wait_until(lambda: "certificate" in
               smtune("notify", "exp", "-o", "json").stdout)
    engine.kill()
    engine.wait()
    assert server.events == []
    smtune.ok("notify", "exp", env={"SSL_CERT_FILE": str(certificate)})
    assert server.events == ["succeeded"]
    smtune.ok("notify", "exp", "--test",
              env={"CURL_CA_BUNDLE": str(certificate)})
    assert server.events == ["succeeded", "test"]


def row(smtune, **env):
    [found] = [row for row in smtune.json("doctor", env=env)
               if row["check"] == "https"]
    return found


def test_https__doctor_prints_which_are_used(smtune, certificate, tmp_path):
    found = row(smtune, CURL_CA_BUNDLE=str(certificate))
    assert found["state"] == "ok" and found["found"].startswith("libcurl ")
    assert found["found"].endswith(f", {certificate} (CURL_CA_BUNDLE)")
    found = row(smtune, SSL_CERT_FILE=str(certificate),
                SSL_CERT_DIR=str(tmp_path))
    assert found["found"].endswith(
        f", {certificate} (SSL_CERT_FILE), {tmp_path} (SSL_CERT_DIR)")
    found = row(smtune, SSL_CERT_FILE="/no/such.pem")
    assert found["found"].endswith(
        ", /no/such.pem (SSL_CERT_FILE): no such file")
    assert (found["state"], found["fix"]) == ("warn",
                                              "correct or unset the variable")


@pytest.mark.skipif(not BUNDLE.exists(), reason="no CA certificates here")
def test_https__those_of_the_machine(smtune):
    found = row(smtune)
    assert found["state"] == "ok"
    assert f", {BUNDLE} (" in found["found"]
