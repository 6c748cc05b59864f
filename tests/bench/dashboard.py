#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How quick the dashboard's server is, and how little it takes, with many
trials and many who watch.

    tests/bench/dashboard.py [--trials N] [--clients N] [--seconds S] PROGRAMS
"""

import argparse
import base64
import contextlib
import json
import os
import pathlib
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/e2e"))
from waiting import wait_until  # noqa: E402

PER_SECOND = 20
BARS = {"rss_mib": 100, "cpu_percent": 2, "arrival_ms": 500}
TICKS = os.sysconf("SC_CLK_TCK")


def percentile(values, share):
    values = sorted(values)
    return values[min(int(share * len(values)), len(values) - 1)]


class Server:
    def __init__(self, programs, store):
        self.process = subprocess.Popen(
            [programs / "smtune", "--store", store, "dashboard", "--port", "0",
             "-o", "json"], stdout=subprocess.PIPE, text=True)
        text = ""
        for line in self.process.stdout:
            text += line
            if line == "}\n":
                break
        printed = json.loads(text)
        self.viewer = printed["viewer"]
        url = urllib.parse.urlsplit(self.viewer)
        self.host, self.port = url.hostname, url.port
        tokens = pathlib.Path(printed["tokens"])
        self.token = (tokens / "viewer").read_text().strip()

    def request(self, path):
        return (f"GET /api/v1{path} HTTP/1.1\r\nHost: {self.host}:{self.port}"
                f"\r\nAuthorization: Bearer {self.token}\r\n\r\n").encode()

    def get(self, path):
        request = urllib.request.Request(
            f"http://{self.host}:{self.port}/api/v1{path}",
            headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()

    def cpu_seconds(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = text.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mib(self, what):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition(what + ":")[2].split()[0]) / 1024

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def numbers_of(block):
    """The numbers of trials in a block, whose first column they are."""
    length, = struct.unpack_from("<I", block, 8)
    rows = json.loads(block[12:12 + length])["rows"]
    return struct.unpack_from(f"<{rows}I", block, 12 + length)


class Watchers(threading.Thread):
    """Clients that are told what happens. `arrived[number]` is when the last
    one heard of a trial, in ns; each event is looked into once a client.
    `answered` has the clients to which anything was sent."""

    def __init__(self, server, run, count):
        super().__init__(daemon=True)
        self.selector = selectors.DefaultSelector()
        self.count, self.is_over = count, False
        self.answered = set()
        self.arrived = {}
        self.known = {}
        for _ in range(count):
            client = socket.create_connection((server.host, server.port))
            client.sendall(server.request(f"/events?run={run}"))
            self.selector.register(client, selectors.EVENT_READ, bytearray())

    def take(self, event, now_ns):
        if event not in self.known:
            self.known[event] = ()
            data = event.partition(b"data: ")[2]
            if event.startswith(b"event: rows") and b'"columns"' in data:
                self.known[event] = numbers_of(base64.b64decode(
                    json.loads(data)["columns"]))
        for number in self.known[event]:
            self.arrived.setdefault(number, []).append(now_ns)

    def run(self):
        while not self.is_over:
            for key, _ in self.selector.select(0.2):
                bytes_ = key.fileobj.recv(1 << 20)
                now_ns = time.time_ns()
                if not bytes_:
                    raise SystemExit("the server cut a client off")
                self.answered.add(key.fd)
                key.data.extend(bytes_.replace(b"\r\n", b"\n"))
                *events, rest = bytes(key.data).split(b"\n\n")
                key.data[:] = rest
                for event in events:
                    at = event.find(b"event: ")
                    if at >= 0:
                        self.take(event[at:], now_ns)


def fill(programs, store, trials):
    start = time.monotonic()
    subprocess.run([programs / "fill_many", store, str(trials), "0"],
                   check=True)
    print(f"filled {trials} trials of 10 parameters in "
          f"{time.monotonic() - start:.0f} s")


def measure_start(server):
    before, start = server.cpu_seconds(), time.monotonic()
    size = len(server.get("/runs/1/columns"))
    first = time.monotonic() - start
    print(f"first columns: {first:.2f} s, of which CPU "
          f"{server.cpu_seconds() - before:.2f} s; {size / 1e6:.1f} MB")
    start = time.monotonic()
    server.get("/runs/1/columns")
    print(f"columns again: {time.monotonic() - start:.2f} s; memory "
          f"{server.memory_mib('VmRSS'):.0f} MiB")


def measure_live(programs, server, store, clients, seconds):
    watchers = Watchers(server, 1, clients)
    watchers.start()
    wait_until(lambda: len(watchers.answered) == clients, 60, "answers")
    filler = subprocess.Popen(
        [programs / "fill_many", store, str(PER_SECOND * seconds),
         str(PER_SECOND)], stdout=subprocess.PIPE, text=True)
    committed, before, start = {}, server.cpu_seconds(), time.monotonic()
    for line in filler.stdout:
        number, now_ns = map(int, line.split())
        committed[number] = now_ns
    used = server.cpu_seconds() - before
    took = time.monotonic() - start
    with contextlib.suppress(AssertionError):  # what has not come is missing
        wait_until(lambda: all(len(watchers.arrived.get(number, [])) >= clients
                               for number in committed), 5)
    watchers.is_over = True
    watchers.join()
    waits = [(now - committed[number]) / 1e6
             for number, times in watchers.arrived.items()
             if number in committed for now in times[:clients]]
    missing = sum(len(watchers.arrived.get(number, [])) < clients
                  for number in committed)
    return {"rate": len(committed) / took, "missing": missing,
            "arrival_ms": percentile(waits, 1), "waits": waits,
            "cpu_percent": 100 * used / took,
            "rss_mib": server.memory_mib("VmHWM")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("programs", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="smtune-bench-") as store:
        fill(options.programs, store, options.trials)
        server = Server(options.programs, store)
        try:
            measure_start(server)
            live = measure_live(options.programs, server, store,
                                options.clients, options.seconds)
        finally:
            server.end()
    waits = live.pop("waits")
    print(f"{options.clients} clients, {live['rate']:.0f} trials/s: "
          f"CPU {live['cpu_percent']:.1f} %, largest memory "
          f"{live['rss_mib']:.0f} MiB")
    print(f"commit to arrival: {percentile(waits, 0.5):.0f} ms (median), "
          f"{percentile(waits, 0.95):.0f} ms (95 %), {max(waits):.0f} ms "
          f"(largest); {live['missing']} trials did not reach all")
    missed = [f"{name} {live[name]:.1f} is over {bar}"
              for name, bar in BARS.items()
              if live[name] > bar and options.trials <= 100_000]
    print("\n".join(missed) or "all bars are met")
    return 1 if missed or live["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
