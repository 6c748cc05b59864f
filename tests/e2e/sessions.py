# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients of a search: `smtune suggest` and `smtune serve-search`."""

import json
import os
import select
import socket

from waiting import wait_until

PATIENCE_S = 30
# The head of an experiment; a `search` is to follow.
SPACE = """\
    version: 1
    objective: {metric: loss, goal: minimize}
    parameters:
      x: {type: float, min: 0, max: 1}
      k: {type: categorical, values: [a, b]}
      y: {type: int, min: 1, max: 9, when: "k = 'b'"}
    """


class Client:
    """One that is asked line by line, over two streams of text."""

    def __init__(self, out, back):
        self.out, self.back = out, back
        self.read = b""  # and not received yet

    def send(self, line):
        self.out.write(line + "\n")
        self.out.flush()

    def receive(self):
        """An answer; None at the end."""
        while b"\n" not in self.read:
            ready, _, _ = select.select([self.back], [], [], PATIENCE_S)
            assert ready, f"no answer within {PATIENCE_S} s"
            piece = os.read(self.back.fileno(), 65536)
            if not piece:
                return None
            self.read += piece
        line, self.read = self.read.split(b"\n", 1)
        return json.loads(line)

    def __call__(self, op, **more):
        self.send(json.dumps({"op": op, **more}))
        return self.receive()

    def ask(self, n=1):
        return self("ask", n=n)["trials"]

    def close(self):
        self.out.close()


class Connected(Client):
    """One that is connected to the socket of a server."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(str(path))
        super().__init__(self.socket.makefile("w"), self.socket)

    def close(self):
        self.out.close()
        self.socket.close()


def serve(smtune, *words, path):
    """A process of `smtune serve-search` that clients can connect to."""
    process = smtune.start("serve-search", *words, "--socket", path)

    def listens():
        assert process.poll() is None, process.stderr.read()
        try:
            Connected(path).close()
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True
    wait_until(listens)
    return process
