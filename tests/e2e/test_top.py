# SPDX-License-Identifier: GPL-3.0-or-later
"""The trials of experiments on the page of `smtune top`."""

import re
import signal

import pytest

from programs import wait_until

ROW = r" +(\d) +(running|succeeded) +[\d.]+ m?s +(\d\.5) +([ab])\b"


def pages(text):
    """What was shown between two times that the panel was drawn, less colours
    and movements; the last may not be whole."""
    return [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", page)
            for page in text.split("\033[?25h")]


def rows(page):
    return [match[:3] for match in re.findall(ROW, page)]


@pytest.fixture
def start(smtune, experiment):
    """start(name): the engine of such a run. Each trial says what it has for
    now; the third and the fourth wait to be let go."""
    def make(name):
        engine = smtune.start("run", experiment(f"""
            echo loss=$SMTUNE_JOB.5 step=1 kind is ${{{{ kind }}}}
            while [ $SMTUNE_JOB -gt 2 ] && [ ! -e go-{name} ]; do
              touch waits-{name}
              sleep 0.02
            done
            """, name=name, trials=4, parallel=4, resources={"cpus": 0},
            parameters="{kind: {type: categorical, values: [a, b]}}"))
        wait_until((smtune.directory / f"waits-{name}").exists)
        return engine
    return make


def let_go(smtune, name):
    (smtune.directory / f"go-{name}").touch()


@pytest.mark.sanitized
def test_trials_that_run_come_before_the_best(smtune, start):
    engine = start("one")
    wanted = [("3", "running", "3.5"), ("4", "running", "4.5"),
              ("1", "succeeded", "1.5"), ("2", "succeeded", "2.5")]

    def stop(process, text):
        if any(rows(page) == wanted for page in pages(text)):
            process.send_signal(signal.SIGINT)

    status, _ = smtune.on_terminal("top", during=stop)
    assert status == 130
    let_go(smtune, "one")
    assert engine.wait(30) == 0


def test_what_has_ended_stays_on_the_page(smtune, start):
    engines = {name: start(name) for name in ("one", "two")}

    def end_one_by_one(_, text):
        page = pages(text)[-2] if len(pages(text)) > 1 else ""
        if "two  running" in page:
            let_go(smtune, "one")
        if "one  succeeded" in page:
            let_go(smtune, "two")

    status, text = smtune.on_terminal("top", during=end_one_by_one)
    assert status == 0
    last = pages(text)[-1]
    assert "one  succeeded" in last and "two  succeeded" in last
    assert [engine.wait(30) for engine in engines.values()] == [0, 0]
