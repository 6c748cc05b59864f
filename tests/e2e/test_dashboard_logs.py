# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines of logs, which the server finds: all of them, in bounded requests."""

import contextlib
import os
import threading
import time
import urllib.parse

import pytest

import files
from dashboards import Dashboard

TRIALS = 5
LIMIT_MS = 300 + 2000  # of a request, on a machine that has much to do


@pytest.fixture
def dashboard(smtune, write):
    write("exp.yaml", files.experiment("echo loss=${{ x }}", trials=TRIALS))
    smtune.ok("run", "exp.yaml")
    with Dashboard(smtune) as dashboard:
        yield dashboard


def log_of(dashboard, job, name="log"):
    return (dashboard.smtune.store / "runs/exp/attempts" / f"{job}-1" / name)


def ask(dashboard, path="", run=1, **query):
    return dashboard.get(f"/api/v1/runs/{run}{path}/log_lines?"
                         + urllib.parse.urlencode(query), role="viewer")


def of_job(job, attempt=1):
    return f"/jobs/{job}/attempts/{attempt}"


def answers(dashboard, path="", **query):
    """All that a search needs, one after the other."""
    after = {}
    while True:
        answer = ask(dashboard, path, **query, **after)
        assert answer.status == 200, answer.body
        yield answer.json()
        after = {"after": answer.json()["next"]}
        if after["after"] is None:
            return


def lines(dashboard, path="", **query):
    return [line for answer in answers(dashboard, path, **query)
            for line in answer["lines"]]


def places(found):
    return [(line["job"], line["rank"], line["line"]) for line in found]


@pytest.mark.sanitized
def test_a_line_has_its_place_and_what_is_around(dashboard):
    log_of(dashboard, 2).write_bytes(
        b"first\nepoch 1 Loss=3 \xe2\x82\xac\t\x1b[31mred\x1b[0m\n"
        b"<script>\x07\xff\n")
    assert lines(dashboard, of_job(2), text="loss") == [{
        "job": 2, "attempt": 1, "rank": 0, "line": 2, "byte": 6,
        "before": "epoch 1 ", "match": "Loss", "after": "=3 \u20ac\tred",
        "is_cut": False}]
    assert lines(dashboard, of_job(2), text="loss", ignore_case=0) == []
    line, = lines(dashboard, of_job(2), text="script")
    assert (line["before"], line["after"]) == ("<", ">\\x07\\xff")
    line, = lines(dashboard, of_job(2), text="l.{2}s=\\d", regex=1)
    assert line["match"] == "Loss=3"
    # What is asked for is taken as it is, %, + and all.
    log_of(dashboard, 2).write_text("100% a+b & c=d #e \u6f22")
    line, = lines(dashboard, of_job(2), text="% a+b & c=d #e \u6f22")
    assert line["before"] == "100"


def test_a_browser_searches_in_its_session(dashboard):
    path = "/api/v1/runs/1%s/log_lines?text=loss"
    browser = dashboard.browser("viewer")
    for place, count in (("", TRIALS), (of_job(1), 1)):
        answer = browser.get(path % place)
        assert answer.status == 200 and answer.json()["count"] == count
        answer = dashboard.get(browser.prefix + path % place)
        assert (answer.status, answer.error()) == (401, "not_logged_in")
        answer = dashboard.get(path % place, role=None)
        assert answer.status == 401


def test_all_logs_of_a_run(dashboard):
    for job in range(1, TRIALS + 1):
        log_of(dashboard, job).write_text(f"x\nneedle {job}\n" * job)
    (log_of(dashboard, 3).parent / "rank-1.log").write_text("needle r\n")
    log_of(dashboard, 4).unlink()
    wanted = [(job, 0, 2 * i + 2) for job in (1, 2, 3) for i in range(job)]
    wanted += [(3, 1, 1)] + [(5, 0, 2 * i + 2) for i in range(5)]
    assert places(lines(dashboard, text="needle")) == wanted
    for limit in (1, 2, 3, 500):
        assert places(lines(dashboard, text="NEEDLE", limit=limit)) == wanted
    whole, = answers(dashboard, text="needle")
    assert whole["count"] == len(wanted) and whole["logs"] == TRIALS
    assert whole["at"]["byte"] == whole["at"]["size_bytes"] == 55
    assert lines(dashboard, text="none such") == []


def test_a_part_of_a_log(dashboard):
    log_of(dashboard, 1).write_text("needle\n" * 10)

    def found(**query):
        return [line["line"]
                for line in lines(dashboard, of_job(1), text="needle", **query)]
    assert found(until=21) == [1, 2, 3]
    assert found(**{"from": 49}) == [8, 9, 10]
    assert found(**{"from": 48}) == [8, 9, 10]
    assert found(last=1, limit=2) == [9, 10]
    assert found(last=1, limit=1, until=35) == [5]
    assert found(until=34) == found(until=40) == [1, 2, 3, 4, 5]
    answer, = answers(dashboard, of_job(1), text="needle", last=1, limit=2)
    assert answer["count"] == 10


@pytest.mark.sanitized
def test_nothing_leads_out_of_the_store(dashboard):
    secret = dashboard.smtune.directory / "secret"
    secret.write_text("needle\n")
    log_of(dashboard, 3).write_text("needle\n")
    for job, make in ((1, lambda log: log.symlink_to(secret)), (2, os.mkfifo)):
        log_of(dashboard, job).unlink()
        make(log_of(dashboard, job))
        answer = ask(dashboard, of_job(job), text="needle")
        assert (answer.status, answer.error()) == (404, "not_found")
    # The other ranks of an attempt are read nevertheless.
    for rank in (1, 2):
        (log_of(dashboard, 1).parent / f"rank-{rank}.log").write_text("needle")
    log_of(dashboard, 1, "rank-1.log").unlink()
    os.symlink(secret, log_of(dashboard, 1, "rank-1.log"))
    answer, = answers(dashboard, text="needle")
    assert places(answer["lines"]) == [(1, 2, 1), (3, 0, 1)]
    assert answer["unreadable"] == 3


def test_what_cannot_be_asked(dashboard):
    def error(status, word, path=of_job(1), **query):
        for place in (path, ""):
            answer = ask(dashboard, place, **query)
            assert answer.status == status, query
            assert word in answer.json()["error"]["text"]
    error(400, "missing query 'text'")
    error(400, "has 0 bytes", text="")
    error(400, "has 1025 bytes", text="x" * 1025)
    error(400, "bad regular expression", text="(", regex=1)
    error(400, "limit", text="x", limit=501)
    for after in ("", "1", "1.0.0.1.0", "1.0.0.1.0.2", "1.0.0.0.0.0",
                  "1.0.5.1.6.0", "-1.0.0.1.0.0", "1.0.0.1.0.0.0",
                  "1.9999999.0.1.0.0", "9" * 17 + ".0.0.1.0.0", "a.0.0.1.0.0"):
        error(400, "query 'after'", text="x", after=after)
    error(404, "7", run=7, text="x")
    assert ask(dashboard, of_job(9), text="x").status == 404
    assert ask(dashboard, of_job(1, 9), text="x").status == 404
    # A place that no answer had is one nevertheless.
    for after in ("999999.0.0.1.0.0", "1.5.0.1.0.0", "1.0.99999999.3.9.1"):
        assert lines(dashboard, text="no such", after=after) == []


def test_a_log_of_100_mb_is_searched_to_its_end(dashboard):
    """In requests that are short, and others' are answered between them."""
    line = b"step %07d of a run that goes on loss=0.123456789 and so on\n"
    block = b"".join(line % i for i in range(20_000))
    blocks = (100 << 20) // len(block) + 1
    with open(log_of(dashboard, 2), "wb") as file:
        for _ in range(blocks):
            file.write(block)
        file.write(b"THE Needle\n" + block[:30])
    wanted = (2, 0, blocks * 20_000 + 1)
    for how in ({"text": "the needle"}, {"text": "the needl[e]", "regex": 1}):
        for path in ("", of_job(2)):
            found, bytes_read, start = [], 0, time.monotonic()
            for answer in answers(dashboard, path, **how):
                took_ms = 1000 * (time.monotonic() - start)
                assert took_ms < LIMIT_MS
                found += answer["lines"]
                bytes_read += answer["bytes"]
                assert dashboard.get("/api/v1/runs/1/columns").status == 200
                start = time.monotonic()
            assert places(found) == [wanted]
            assert bytes_read >= 100 << 20
    # So many lines are found as are asked for, and the last ones.
    first = next(answers(dashboard, of_job(2), text="LOSS", limit=500))
    assert [line["line"] for line in first["lines"]] == list(range(1, 501))
    last, count = [], 0
    for answer in answers(dashboard, of_job(2), text="loss", last=1, limit=3):
        last, count = (last + answer["lines"])[-3:], count + answer["count"]
    assert count == blocks * 20_000
    assert [line["line"] for line in last] == [count - 2, count - 1, count]


def test_a_log_that_is_nearly_all_hole(dashboard):
    with open(log_of(dashboard, 1), "wb") as file:
        file.write(b"begin\n")
        file.seek(1 << 40)
        file.write(b"needle\n")
    start = time.monotonic()
    assert places(lines(dashboard, text="needle")) == [(1, 0, 2)]
    assert time.monotonic() - start < LIMIT_MS / 1000


def test_viewers_that_search_keep_no_operator_waiting(dashboard):
    """Not with searches that take long, and not an operator's search."""
    log_of(dashboard, 1).write_bytes((b"a" * 1023 + b"\n") * 20_000)
    hard = {"text": "(a|aa)+$x|(.*)(.*)(.*)b", "regex": 1}
    is_over = threading.Event()

    def search_on():
        with contextlib.suppress(OSError):
            while not is_over.is_set():
                ask(dashboard, **hard)
    viewers = [threading.Thread(target=search_on) for _ in range(12)]
    for viewer in viewers:
        viewer.start()
    try:
        for _ in range(5):
            for path in ("/columns", "/log_lines?text=b"):
                start = time.monotonic()
                assert dashboard.get(f"/api/v1/runs/1{path}").status == 200
                assert time.monotonic() - start < 2
    finally:
        is_over.set()
        for viewer in viewers:
            viewer.join(60)
    assert next(answers(dashboard, **hard))["undecided"] >= 0
