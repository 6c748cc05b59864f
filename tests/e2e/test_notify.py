# SPDX-License-Identifier: GPL-3.0-or-later
"""`notify`: messages to receivers, by way of the record."""

import hashlib
import hmac
import http.server
import json
import signal
import socket
import threading
import time

import pytest

from programs import wait_until


class Receiver:
    """A server that answers as told, and remembers what it was sent."""

    def __init__(self):
        self.messages = []
        self.answers = []  # the next answers; then 204
        self.lock = threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                with receiver.lock:
                    receiver.messages.append(
                        (time.monotonic(), dict(self.headers), body,
                         self.path))
                    answer = receiver.answers.pop(0) \
                        if receiver.answers else 204
                self.send_response(answer)
                if 300 <= answer < 400:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0),
                                                      Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook/key"
        threading.Thread(target=self.server.serve_forever).start()

    def events(self):
        return [json.loads(body)["event"] for _, _, body, _ in self.messages]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


def notifications(smtune):
    result = smtune("notify", "exp", "-o", "json")
    return json.loads(result.stdout)


@pytest.mark.sanitized
def test_the_end_is_told_with_the_best_trial(smtune, receiver, experiment):
    result = smtune("run", experiment(trials=3, notify=[{"url": receiver.url}]))
    assert result.returncode == 0, result.stderr
    [(_, headers, body, path)] = receiver.messages
    message = json.loads(body)
    best = smtune.json("best", "exp")
    assert path == "/hook/key"
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Smtune-Event"] == message["event"] == "succeeded"
    assert headers["X-Smtune-Delivery"] == message["delivery"]
    assert "X-Smtune-Signature" not in headers
    assert message["run"] == "exp"
    assert message["best"] == {key: best[key]
                               for key in ("id", "value", "params")}
    assert message["trials"]["succeeded"] == 3
    assert f"best loss={best['value']:.6g}" in message["text"]
    [row] = notifications(smtune)
    assert (row["state"], row["tries"]) == ("delivered", 1)
    assert row["receiver"] == receiver.url.removesuffix("/hook/key")


def test_the_best_setting_has_its_mean(smtune, experiment, receiver):
    """As ls, best and the page have it."""
    smtune.ok("run", experiment(
        "case $SMTUNE_JOB in 1) v=9;; [23]) v=1;; *) v=6;; esac;"
        " echo loss=$v : ${{ x }}", trials=6, parallel=1, repeats=3,
        search="grid", objective="{metric: loss, goal: maximize}",
        parameters="{x: {type: ordinal, values: [1, 2]}}",
        notify=[{"url": receiver.url, "events": ["succeeded"]}]))
    message = json.loads(receiver.messages[0][2])
    assert message["best"] == {"id": 4, "value": 6, "params": {"x": 2}}
    assert "best loss=6 (trial 4)" in message["text"]


def test_each_event_is_told_in_order(smtune, receiver, experiment):
    shell = "test $SMTUNE_JOB != 2 && echo loss=$SMTUNE_JOB"
    smtune("run", experiment(shell, trials=3, parallel=1, notify=[
        {"url": receiver.url,
         "events": ["started", "best", "trial_failed", "succeeded"]}]))
    assert receiver.events() == ["started", "best", "trial_failed", "succeeded"]
    trial = json.loads(receiver.messages[2][2])["trial"]
    assert (trial["id"], trial["state"], trial["cause"]) == \
        (2, "failed", "exit")
    assert set(trial["params"]) == {"x"}


def test_a_message_is_signed(smtune, receiver, experiment):
    path = experiment(
        notify=[{"url": receiver.url, "secret_env": "HOOK_SECRET"}])
    smtune.ok("run", path, env={"HOOK_SECRET": "guess me"})
    [(_, headers, body, _)] = receiver.messages
    digest = hmac.new(b"guess me", body, hashlib.sha256).hexdigest()
    assert headers["X-Smtune-Signature"] == f"sha256={digest}"
    assert b"guess me" not in (smtune.store / "smtune.db").read_bytes()


def test_a_secret_that_is_not_set_is_said_before_anything_runs(
        smtune, receiver, experiment):
    result = smtune("run", experiment(
        notify=[{"url": receiver.url, "secret_env": "HOOK_SECRET"}]))
    assert result.returncode == 2
    assert "'HOOK_SECRET'" in result.stderr
    assert smtune.json("trials", "exp") == []


def test_it_is_sent_again_until_it_is_taken(smtune, receiver, experiment):
    receiver.answers = [503, 429]
    smtune.ok("run", experiment(notify=[{"url": receiver.url}]))
    times = [message[0] for message in receiver.messages]
    assert len(times) == 3
    assert len({message[2] for message in receiver.messages}) == 1
    assert times[1] - times[0] >= 0.9 and times[2] - times[1] >= 3.5
    [row] = notifications(smtune)
    assert (row["state"], row["tries"], row["error"]) == ("delivered", 3, None)


@pytest.mark.parametrize("answer", [302, 404])
def test_what_will_not_pass_is_given_up(smtune, receiver, experiment, answer):
    receiver.answers = [answer]
    smtune.ok("run", experiment(notify=[{"url": receiver.url}]))
    assert [message[3] for message in receiver.messages] == ["/hook/key"]
    result = smtune("notify", "exp", "-o", "json")
    [row] = json.loads(result.stdout)
    assert result.returncode == 6
    assert row["state"] == "given up"
    assert row["error"] == f"HTTP status {answer}"


def test_a_receiver_that_says_nothing_holds_nobody_up(smtune, experiment):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        engine = smtune.start("run", experiment(trials=20, notify=[
            {"url": url, "events": ["started", "best", "succeeded"],
             "timeout": "300s"}]))

        def all_succeeded():
            rows = smtune("trials", "exp", "-o", "jsonl").stdout.splitlines()
            return [json.loads(row).get("state") for row in rows] == \
                ["succeeded"] * 20

        wait_until(all_succeeded)
        wait_until(lambda: smtune.json("status", "exp")["state"] == "succeeded")
        refused = smtune("pause", "exp")
        assert "the run has ended and sends its last notifications" in \
            refused.stderr
        engine.send_signal(signal.SIGINT)
        _, errors = engine.communicate(timeout=30)
        assert engine.returncode == 0, errors
        assert "not delivered yet" in errors
        assert "smtune notify exp" in errors


def test_what_is_left_is_sent_by_the_command(smtune, receiver, experiment):
    receiver.answers = [503] * 3
    engine = smtune.start("run", experiment(notify=[{"url": receiver.url}]))
    wait_until(lambda: len(receiver.messages) >= 1)
    engine.kill()
    engine.wait()
    receiver.answers = []
    before = len(receiver.messages)
    [row] = notifications(smtune)
    assert row["state"] == "delivered"
    assert len(receiver.messages) > before
    deliveries = {headers["X-Smtune-Delivery"]
                  for _, headers, _, _ in receiver.messages}
    assert deliveries == {row["delivery"]}


@pytest.fixture
def another():
    receiver = Receiver()
    yield receiver
    receiver.close()


def interrupted(smtune, receiver, experiment, urls):
    """A run whose messages wait for their receivers."""
    receiver.answers = [503] * 9
    engine = smtune.start("run", experiment(notify=[{"url": url}
                                                    for url in urls]))
    wait_until(lambda: len(receiver.messages) >= 1)
    engine.kill()
    engine.wait()
    receiver.answers = []
    receiver.messages.clear()


def test_waiting_messages_follow_their_receiver(
        smtune, receiver, another, experiment):
    """An edit removes the first receiver. Its message does not go to the one
    that has its place now."""
    interrupted(smtune, receiver, experiment,
                ["http://127.0.0.1:1/", receiver.url])
    experiment(notify=[{"url": receiver.url}, {"url": another.url}])
    smtune.ok("edit", "exp")
    gone, kept = notifications(smtune)
    assert (gone["state"], gone["receiver"]) == ("given up", None)
    assert gone["error"] == "its receiver is not in the edited file"
    assert kept["state"] == "delivered" and another.messages == []
    assert {headers["X-Smtune-Delivery"]
            for _, headers, _, _ in receiver.messages} == {kept["delivery"]}
    smtune.ok("fsck")


def test_a_corrected_address_gets_what_waits(
        smtune, receiver, another, experiment):
    interrupted(smtune, receiver, experiment, [receiver.url])
    experiment(notify=[{"url": another.url}])
    smtune.ok("edit", "exp")
    [row] = notifications(smtune)
    assert row["state"] == "delivered" and row["receiver"] in another.url
    assert receiver.messages == [] and len(another.messages) == 1


def test_a_test_message(smtune, receiver, experiment):
    smtune.ok("run", experiment(notify=[
        {"url": receiver.url, "events": ["failed"]}]))
    assert receiver.events() == []
    smtune.ok("notify", "exp", "--test")
    assert receiver.events() == ["test"]


@pytest.mark.parametrize("url", ["ftp://example.org/", "file:///etc/passwd",
                                 "http://", "https:///x", "http://a b/"])
def test_only_http_addresses(smtune, experiment, url):
    result = smtune("validate", experiment(notify=[{"url": url}]))
    assert result.returncode == 3
    assert "exp.yaml:8:" in result.stderr
    assert f"'{url}' is not an http:// or https:// address" in result.stderr


def test_a_workflow_tells_of_its_jobs_and_steps(smtune, receiver, workflow):
    smtune("run", workflow("""
        prepare: {command: 'true'}
        train:
          needs: prepare
          matrix: {seed: [1, 2]}
          shell: 'test ${{ seed }} = 1'
        stop: {needs: prepare, fail: 'enough of it'}
        late: {needs: train, command: 'true'}
        """, name="night", notify=[
            {"url": receiver.url,
             "events": ["started", "trial_failed", "succeeded", "failed"]}]))
    messages = [json.loads(body) for _, _, body, _ in receiver.messages]
    assert [message["event"] for message in messages] == [
        "started", "trial_failed", "trial_failed", "failed"]
    jobs = {message["job"]["name"]: message for message in messages[1:3]}
    assert jobs["train[1]"]["text"] == (
        "run 'night': job train[1] failed (exit)")
    assert jobs["train[1]"]["job"] == {
        "id": jobs["train[1]"]["job"]["id"], "name": "train[1]",
        "step": "train", "state": "failed", "cause": "exit"}
    assert jobs["stop"]["text"] == (
        "run 'night': job stop failed (enough of it)")
    assert jobs["stop"]["job"]["cause"] is None
    assert messages[3]["steps"] == {"all": 4, "active": 0, "succeeded": 1,
                                    "failed": 2, "skipped": 1,
                                    "cached": 0}
    assert messages[3]["jobs"]["all"] == 4 and "trials" not in messages[3]
    assert [row["state"] for row in json.loads(
        smtune("notify", "night", "-o", "json").stdout)] == ["delivered"] * 4
