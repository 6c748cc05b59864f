# SPDX-License-Identifier: GPL-3.0-or-later
"""A running `smtune dashboard`, and questions to it.

    with Dashboard(smtune) as dashboard:
        assert dashboard.get("/api/v1/session").json()["role"] == "operator"
"""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import subprocess
import urllib.parse

import pytest

from programs import BUILD, wait_until


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def error(self):
        return self.json()["error"]["kind"]


class Browser:
    """Asks as the page does: with the cookie, below its path."""

    def __init__(self, dashboard, answer):
        self.dashboard = dashboard
        self.cookie, _, rest = answer.headers["Set-Cookie"].partition("; ")
        self.attributes = set(rest.split("; "))
        self.prefix = f"/s/{answer.json()['key']}"

    def ask(self, method, path, body=None, headers=None):
        return self.dashboard.ask(
            method, self.prefix + path, body, role=None,
            headers={"Cookie": self.cookie, **(headers or {})})

    def get(self, path, **how):
        return self.ask("GET", path, **how)

    def post(self, path, body, **how):
        return self.ask("POST", path, body, **how)


class Dashboard:
    """Serves the store of a test's Smtune on a port of its own."""

    def __init__(self, smtune, *words, port=0):
        self.smtune, self.words, self.port = smtune, words, port
        self.process = None

    def __enter__(self):
        self.errors = open(self.smtune.directory / "dashboard.err", "w+")
        listen = [] if "--socket" in self.words else [
            "--port", str(self.port)]
        self.process = subprocess.Popen(
            [BUILD / "smtune", "dashboard", "-o", "json", *listen,
             *map(str, self.words)],
            stdout=subprocess.PIPE, stderr=self.errors, text=True,
            cwd=self.smtune.directory, env=self.smtune.environment())
        text = ""
        for line in self.process.stdout:
            text += line
            if line == "}\n":
                break
        assert text.endswith("}\n"), self.read_errors()
        self.urls = json.loads(text)
        address = urllib.parse.urlsplit(self.urls["viewer"])
        self.host, self.netloc = address.hostname, address.netloc
        self.port = address.port
        self.path = address.path.removesuffix("/login")  # of a base URL
        self.tokens = {role: self.read_token(role)
                       for role in ("viewer", "operator") if self.urls[role]}
        return self

    def about(self):
        """What it leaves for programs, apart from tokens."""
        return json.loads((pathlib.Path(self.urls["tokens"]) / "about.json"
                           ).read_text())

    def read_token(self, role):
        """What a program sends: the only line of a file."""
        line, = (pathlib.Path(self.urls["tokens"]) / role).read_text(
            ).splitlines()
        return line

    def __exit__(self, *_):
        self.end()
        self.errors.close()

    def read_errors(self):
        self.errors.seek(0)
        return self.errors.read()

    def end(self, number=signal.SIGTERM):
        """It ends as it should: at once, without a word, with nothing left."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(30)
        self.process.stdout.close()
        assert self.read_errors() == ""
        assert status == 0

    # ---- browsers ----

    def new_urls(self, action="--login"):
        """What another command prints of it while it runs."""
        path = self.urls["socket"]
        chosen = ["--socket", path] if path else [
            "--port", pathlib.Path(self.urls["tokens"]).name]
        return self.smtune.json("dashboard", action, *chosen)

    def log_in(self, url, **headers):
        """The answer to the page that an address leads to."""
        return self.post("/login", {"code": url.partition("#")[2]}, role=None,
                         headers={"Origin": f"http://{self.netloc}", **headers})

    def browser(self, role):
        """One that was let in."""
        answer = self.log_in(self.new_urls()[role])
        assert answer.status == 200, answer.body
        return Browser(self, answer)

    # ---- questions ----

    @contextlib.contextmanager
    def connection(self, timeout=30):
        connection = http.client.HTTPConnection(self.host, self.port,
                                                timeout=timeout)
        try:
            yield connection
        finally:
            connection.close()

    def ask(self, method, path, body=None, role="operator", headers=None,
            connection=None):
        sent = {"Authorization": f"Bearer {self.tokens[role]}"} if role else {}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        sent = {name: value for name, value in sent.items()
                if value is not None}
        with (contextlib.nullcontext(connection) if connection else
              self.connection()) as connection:
            connection.request(method, self.path + path, body, sent)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())

    def get(self, path, **how):
        return self.ask("GET", path, **how)

    def post(self, path, body, **how):
        return self.ask("POST", path, body, **how)

    # ---- what it takes ----

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def wait_for_descriptors(self, count):
        wait_until(lambda: self.descriptors() <= count,
                   what=f"at most {count} descriptors")


@pytest.fixture
def filled(smtune):
    subprocess.run([BUILD / "tests/e2e/fill_store", smtune.store, "r",
                    "minimize", "5"], check=True)
    return smtune


@pytest.fixture
def dashboard(filled):
    with Dashboard(filled) as dashboard:
        yield dashboard
