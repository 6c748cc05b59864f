# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy in front of slurmrestd that does not tell the truth.

What a liar says to a request is a function of (ask, n), n being the number of
the request of its kind, from 1; it returns an Answer. ask() passes the request
on, and returns the true answer; a lie is a function of it. Kinds: submit, jobs,
account, cancel, and others, which are the rest.
"""

import dataclasses
import http.server
import json
import threading
import time
import urllib.error
import urllib.request

TIMED_OUT = {"error": "Socket timed out on send/recv operation",
             "error_code": 5004}
UNREACHABLE = {"error": "Unable to contact slurm controller (connect failure)",
               "error_code": 1800}
FULL = {"error": "Job violates accounting/QOS policy (job submit limit, user's "
                 "size and/or time limits)", "error_code": 2050}


@dataclasses.dataclass
class Answer:
    status: int
    body: bytes
    is_cut: bool = False  # half of it, and the connection is gone


def json_answer(status, body):
    return Answer(status, json.dumps(body).encode())


def failure(error):
    return json_answer(500, {"meta": {}, "errors": [error], "jobs": []})


GATEWAY = Answer(504, b"<html><h1>504 Gateway Time-out</h1></html>")
NOISE = bytes(range(256)) * 12


def kind_of(method, path):
    if method == "DELETE":
        return "cancel"
    if method == "POST":
        return "submit"
    if path.startswith("/slurmdb/") and "/job" in path:
        return "account"
    return "jobs" if path.endswith("/jobs") else "others"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self):
        liar = self.server.liar
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) or None
        kind = kind_of(self.command, self.path)
        lie = liar.lies.get(kind)
        n = liar.count_one(kind)

        def ask():
            return liar.ask(self.command, self.path, self.headers, body)
        answer = lie(ask, n) if lie else ask()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.is_cut:
            self.close_connection = True
            answer.body = answer.body[:len(answer.body) // 2]
        self.wfile.write(answer.body)

    do_GET = do_POST = do_DELETE = respond

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # who is slow is not waited for

    def handle_error(self, *_):
        """Whoever asked has gone meanwhile."""


class Liar:
    """Liar("http://127.0.0.1:1234", {"submit": lie}): at its own `url`."""

    def __init__(self, url, lies):
        self.true_url = url
        self.lies = lies
        self.counts = {}
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.liar = self
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={"poll_interval": 0.05})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def count(self, kind):
        """How often it was asked."""
        return self.counts.get(kind, 0)

    def count_one(self, kind):
        with self.lock:
            self.counts[kind] = self.count(kind) + 1
            return self.counts[kind]

    def ask(self, method, path, headers, body):
        names = ("Content-Type", "Accept", "X-SLURM-USER-NAME",
                 "X-SLURM-USER-TOKEN")
        request = urllib.request.Request(
            self.true_url + path, data=body, method=method,
            headers={name: headers[name] for name in names if headers[name]})
        try:
            with urllib.request.urlopen(request, timeout=100) as answer:
                return Answer(answer.status, answer.read())
        except urllib.error.HTTPError as answer:
            return Answer(answer.code, answer.read())


# -- Lies ---------------------------------------------------------------------

def first(count, lie):
    """The lie for the first requests, the truth for the others."""
    return lambda ask, n: lie(ask) if n <= count else ask()


def always(lie):
    return lambda ask, n: lie(ask)


def accepted(answer):
    """It was done, and this is said."""
    def lie(ask):
        ask()
        return answer
    return lie


def said(answer):
    """Nothing was done."""
    return lambda ask: answer


def slow(seconds, after=0.0):
    def lie(ask):
        time.sleep(seconds)  # that is the lie
        answer = ask()
        time.sleep(after)  # and that
        return answer
    return lie


def cut(ask):
    return dataclasses.replace(ask(), is_cut=True)


def twice(ask):
    ask()
    return ask()


def rows(keep):
    """Of a listing, keep(rows) alone."""
    def lie(ask):
        answer = ask()
        body = json.loads(answer.body)
        body["jobs"] = keep(body.get("jobs") or [])
        return json_answer(answer.status, body)
    return lie


EMPTY = rows(lambda jobs: [])

LIES = {
    "submit is slow": {"submit": always(slow(1, 2))},
    "submit accepts and times out": {
        "submit": first(3, accepted(failure(TIMED_OUT)))},
    "submit times out": {"submit": first(3, said(failure(TIMED_OUT)))},
    "a gateway gives up what is accepted": {
        "submit": first(3, accepted(GATEWAY))},
    "submit accepts without a word": {
        "submit": first(3, accepted(Answer(200, b"")))},
    "submit accepts and says nonsense": {
        "submit": first(3, accepted(Answer(200, NOISE)))},
    "submit accepts and is cut short": {"submit": first(3, cut)},
    "submit does it twice": {"submit": always(twice)},
    "submit is full": {"submit": first(2, said(failure(FULL)))},
    "jobs are slow": {"jobs": always(slow(3))},
    "jobs say nothing": {"jobs": first(5, said(Answer(200, b"")))},
    "jobs are an empty queue": {"jobs": first(3, EMPTY)},
    "jobs are nonsense": {"jobs": first(5, said(Answer(200, NOISE)))},
    "jobs are cut short": {"jobs": first(5, cut)},
    "jobs leave rows out": {"jobs": first(5, rows(lambda jobs: jobs[:1]))},
    "jobs fail": {"jobs": first(5, said(failure(UNREACHABLE)))},
    "the token is too old for a while": {
        "jobs": first(5, said(Answer(401, b"Authentication failure")))},
    "the accounting is nonsense": {
        "account": always(said(Answer(200, NOISE))),
        "jobs": first(6, EMPTY)},
    "the accounting knows nothing": {
        "account": always(EMPTY), "jobs": first(6, EMPTY)},
    "nobody knows anything": {
        kind: first(2, said(failure(UNREACHABLE)))
        for kind in ("submit", "jobs", "account", "cancel", "others")},
}

CANCELS = {
    "cancel does it and fails": {
        "cancel": first(2, accepted(failure(TIMED_OUT)))},
    "cancel does nothing": {
        "cancel": first(2, said(json_answer(200, {"errors": []})))},
    "cancel fails": {"cancel": first(2, said(failure(UNREACHABLE)))},
    "cancel is slow": {"cancel": always(slow(3))},
}

# Those that have found mistakes in one mode or another, of the commands too.
WORST = ("submit accepts and times out", "jobs are an empty queue",
         "the accounting knows nothing", "cancel does nothing")


def whims(seed):
    """Now one lie, now another, by the number of the request."""
    choices = {
        "submit": [None, accepted(failure(TIMED_OUT)),
                   said(failure(TIMED_OUT)), accepted(Answer(200, b"")), twice,
                   cut, slow(1)],
        "jobs": [None, said(Answer(200, b"")), EMPTY, cut,
                 rows(lambda jobs: jobs[:1]), said(failure(UNREACHABLE)),
                 slow(1)],
        "account": [None, said(Answer(200, b"")), EMPTY, cut],
        "cancel": [None, accepted(failure(TIMED_OUT)),
                   said(json_answer(200, {"errors": []})),
                   said(failure(UNREACHABLE))],
    }

    def by_number(lies):
        def lie(ask, n):
            which = lies[(n * 7 + seed + n // 3) % len(lies)]
            return ask() if n > 40 or which is None else which(ask)
        return lie
    return {"others": first(2, said(Answer(200, b""))),
            **{kind: by_number(lies) for kind, lies in choices.items()}}
