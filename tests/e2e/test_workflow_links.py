# SPDX-License-Identifier: GPL-3.0-or-later
"""`continue`: jobs that are longer than their time limit, with real limits."""

import sqlite3

import pytest

from programs import wait_until

# Counts to 50 in five seconds, of which it has two at a time, with its start. It
# keeps its place when it is warned, and not otherwise.
COUNT = r"""
    import os, pathlib, signal, sys, time
    place = pathlib.Path(os.environ["SMTUNE_CHECKPOINT_DIR"], "place")
    count = int(place.read_text()) if place.exists() else 0

    def save(number, frame):
        place.write_text(str(count))
        sys.exit(75)

    signal.signal(signal.SIGUSR2, save)
    while count < 50:
        time.sleep(0.1)
        count += 1
        print(f"count={count}", flush=True)
"""

CHAIN = """
    long:
      command: python3 count.py
      timeout: 5s
      continue: {total: 1h, signal: USR2@3s, max: 20}
      metrics: [count]
    after:
      needs: [long]
      command: echo ${{ long.count }}
    """


@pytest.fixture
def count(write):
    return write("count.py", COUNT)


def attempts(smtune, job):
    found = smtune.json("show", "w", job)["attempts"]
    return [(a["cause"], a["exit_code"]) for a in found]


def checkpoints(smtune):
    """What the record has of each attempt's checkpoints, in order."""
    with sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                         uri=True) as db:
        return [row[0] for row in
                db.execute("SELECT checkpoint FROM attempt ORDER BY id")]


def events(smtune):
    with sqlite3.connect(f"file:{smtune.store}/smtune.db?mode=ro",
                         uri=True) as db:
        return [row[0] for row in
                db.execute("SELECT event FROM event ORDER BY seq")]


@pytest.mark.sanitized
def test_a_job_goes_on_in_links(smtune, workflow, count):
    smtune.ok("run", workflow(CHAIN, name="w"))
    ends = attempts(smtune, "long")
    assert len(ends) >= 3
    assert ends[:-1] == [("exit", 75)] * (len(ends) - 1)
    assert ends[-1] == ("ok", 0)
    hashes = checkpoints(smtune)[:len(ends)]
    assert all(hashes) and len(set(hashes)) == len(ends) - 1
    assert events(smtune).count("linked") == len(ends) - 1
    assert "retry" not in events(smtune)
    log = smtune.ok("logs", "w", "after")
    assert log.strip().endswith("50")


def test_without_progress_it_fails(smtune, workflow):
    """It writes its checkpoint anew each time, with the same in it."""
    result = smtune("run", workflow("""
        idle:
          shell: echo same > $SMTUNE_CHECKPOINT_DIR/place; exec sleep 100
          timeout: 0.3s
          continue: {max: 20}
          retry: [{match: timeout, max: 5}]
        """, name="w"))
    assert result.returncode == 1
    assert attempts(smtune, "idle") == [("timeout", None)] * 3
    assert "two links without progress (the checkpoint did not change)" in \
        smtune.ok("why", "w", "idle")


def test_an_exit_of_0_may_be_a_link(smtune, workflow, write):
    """One before the warning is the end, one after it is not."""
    write("count.py", COUNT.replace("sys.exit(75)", "sys.exit(0)"))
    smtune.ok("run", workflow(
        CHAIN.replace("max: 20", 'max: 20, on: [0, 85]'), name="w"))
    ends = attempts(smtune, "long")
    assert len(ends) >= 3
    assert ends[:-1] == [("exit", 0)] * (len(ends) - 1)
    assert ends[-1] == ("ok", 0)
    assert events(smtune).count("linked") == len(ends) - 1
    assert smtune.ok("logs", "w", "after").strip().endswith("50")
    smtune.ok("replay", "w")
    smtune.ok("fsck")


def test_only_listed_exits_are_links(smtune, workflow, write):
    write("count.py", COUNT.replace("sys.exit(75)", "sys.exit(3)"))
    result = smtune("run", workflow(
        CHAIN.replace("max: 20", "max: 20, on: 85"), name="w"))
    assert result.returncode == 1
    assert attempts(smtune, "long") == [("exit", 3)]
    assert "linked" not in events(smtune)


# Each rank saves its own part, rank 0 slowly.
RANKS = r"""
    import os, pathlib, signal, sys, time
    rank = os.environ["RANK"]
    folder = pathlib.Path(os.environ["SMTUNE_CHECKPOINT_DIR"])
    part = folder / f"shard{rank}"
    count = int(part.read_text()) if part.exists() else 0

    def note(text):
        with open(f"trace{rank}", "a") as file:
            file.write(text + "\n")

    def save(number, frame):
        note("warned")
        time.sleep(SLOW if rank == "0" else 0.05)
        part.write_text(str(count))
        os._exit(85)

    def end(number, frame):
        note("ended")
        os._exit(1)

    signal.signal(signal.SIGUSR2, save)
    signal.signal(signal.SIGTERM, end)
    note(f"from {count}")
    while count < 50:
        time.sleep(0.1)
        count += 1
"""

OF_RANKS = """
    ranks:
      command: python3 ranks.py
      resources: {time: 5s, grace: 1s, tasks: 2}
      continue: {signal: USR2@3s, max: 20}
    """


def trace(smtune, rank):
    return (smtune.directory / f"trace{rank}").read_text().splitlines()


def test_after_the_warning_ranks_end_by_themselves(smtune, workflow, write):
    write("ranks.py", RANKS.replace("SLOW", "1"))
    smtune.ok("run", workflow(OF_RANKS, name="w"))
    ends = attempts(smtune, "ranks")
    assert ends == [("exit", 85)] * (len(ends) - 1) + [("ok", 0)]
    for rank in range(2):
        lines = trace(smtune, rank)
        assert lines.count("warned") == len(ends) - 1
        assert "ended" not in lines
    starts = [[line for line in trace(smtune, rank) if "from" in line]
              for rank in range(2)]
    assert [len(lines) for lines in starts] == [len(ends)] * 2
    assert "rank 1 exited with status 85 after the warning" in \
        smtune.ok("logs", "w", "ranks", "--attempt", 1)


def test_a_torn_checkpoint_is_no_progress(smtune, workflow, write):
    """Rank 0 takes longer to save than its time."""
    write("ranks.py", RANKS.replace("SLOW", "100"))
    result = smtune("run", workflow(OF_RANKS, name="w"))
    assert result.returncode == 1
    assert [cause for cause, _ in attempts(smtune, "ranks")] == \
        ["timeout"] * 2
    assert checkpoints(smtune) == ["torn"] * 2
    why = smtune.ok("why", "w", "ranks")
    assert "two links without progress (the checkpoint is torn)" in why
    texts = [a["text"] for a in smtune.json("show", "w", "ranks")["attempts"]]
    assert ["torn checkpoint: shard0 is missing" in text
            for text in texts] == [True] * 2
    smtune.ok("replay", "w")
    smtune.ok("fsck")


def test_links_are_counted(smtune, workflow, count):
    result = smtune("run", workflow(CHAIN.replace("max: 20", "max: 1"),
                                    name="w"))
    assert result.returncode == 1
    assert len(attempts(smtune, "long")) == 2
    assert "continue.max=1 is reached" in smtune.ok("why", "w", "long")


def test_an_early_end_is_for_the_retry_rules(smtune, workflow):
    """75 before the warning is a retry, as it is without `continue`."""
    smtune.ok("run", workflow("""
        early:
          shell: >
            f=$SMTUNE_CHECKPOINT_DIR/n; echo >> $f;
            if [ $(wc -l < $f) -gt 1 ]; then exit 0; fi; exit 75
          timeout: 10s
          continue: {max: 20, signal: USR2@2s}
          retry: [{match: "exit:75", max: 1, delay: 0}]
        """, name="w"))
    assert attempts(smtune, "early") == [("exit", 75), ("ok", 0)]
    assert "linked" not in events(smtune)
    assert events(smtune).count("retry") == 1


def test_a_chain_outlives_its_engine(smtune, workflow, count):
    """The warning comes while there is none; the next engine goes on."""
    engine = smtune.start("run", workflow(CHAIN, name="w"))
    exits = smtune.store / "runs/w/attempts/1-1/exit"
    wait_until(exits.exists, what="the first link's end")
    wait_until(lambda: events(smtune).count("attempt_running") == 2,
               what="the second link")
    engine.kill()
    engine.wait()
    exits = smtune.store / "runs/w/attempts/1-2/exit"
    wait_until(exits.exists, what="its end")
    smtune.ok("resume", "w")
    ends = attempts(smtune, "long")
    assert ends[:-1] == [("exit", 75)] * (len(ends) - 1)
    assert ends[-1] == ("ok", 0)
    hashes = checkpoints(smtune)[:len(ends)]
    assert len(set(hashes)) == len(ends) - 1
    assert smtune.ok("logs", "w", "after").strip().endswith("50")
    smtune.ok("fsck", "w")
