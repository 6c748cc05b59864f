# SPDX-License-Identifier: GPL-3.0-or-later
"""No output has a secret of a run's file, and the run has all of them."""

import base64
import gzip
import json
import os
import re
import socket
import stat

import pytest

from dashboards import Dashboard
from programs import wait_until

# By the place in the file; none of them was ever valid.
SECRETS = {
    "env": "plain-value-0001",
    "token": "env-token-value-2",
    "url": "in-a-url-00003",
    "address": "in-the-address-4",
    "setup": "in-the-setup-5",
    "script": "in-the-script-6",
    "option": "in-an-option-7",
    "comment": "in-a-comment-8",
    "word": "hf_abcdefghij0123456789",
    "set": "set-on-command-line-9",
}
# Those whose place alone makes them secret: best --command has them.
BY_PLACE = {"env", "set"}

EXPERIMENT = """
version: 1
name: exp
objective: loss
parameters: {{x: {{type: float, min: 0, max: 1}}}}
search: {{method: random, seed: 1}}
budget: {{trials: 2, parallel: 1}}
# API_KEY={comment}
notify: [{{url: "http://127.0.0.1:9/hook/{address}", events: [trial_failed]}}]
trial:
  setup: [export SETUP_TOKEN={setup}]
  shell: |
    export SCRIPT_KEY={script}
    : upload --password {option} {word}
    echo "$PLAIN $HF_TOKEN $SET $SETUP_TOKEN $SCRIPT_KEY" >seen
    while test -e wait; do sleep 0.1; done
    echo loss=${{{{ x }}}}
  env:
    PLAIN: {env}
    HF_TOKEN: "{token}"
    DB_URL: postgres://me:{url}@db.example.org/x
"""
SET = ["--set", "trial.env.SET={set}".format(**SECRETS)]


@pytest.fixture
def file(write):
    return write("exp.yaml", EXPERIMENT.format(**SECRETS))


def found(output, but=()):
    """The secrets in it, by name."""
    if isinstance(output, bytes):
        output = output.decode(errors="replace")
    return [name for name, secret in SECRETS.items()
            if secret in output and name not in but]


def page_of(html):
    """With all that is packed in it."""
    packed = re.findall(r'"base64gz": "([^"]+)"', html)
    assert packed
    parts = [gzip.decompress(base64.b64decode(text)) for text in packed]
    return html + b"".join(parts).decode(errors="replace")


@pytest.mark.sanitized
def test_no_command_shows_them(smtune, file):
    result = smtune("run", file, *SET, "--log", "log", "--log-level", "debug")
    assert result.returncode == 0, result.stderr
    assert (smtune.directory / "seen").read_text().split() == [
        SECRETS[name] for name in ("env", "token", "set", "setup", "script")]
    smtune.ok("export", "exp", "--format", "html", "-o", "page.html")
    outputs = {"run": result.stdout + result.stderr,
               "log": (smtune.directory / "log").read_text(),
               "page": page_of((smtune.directory / "page.html").read_text())}
    for words in (["plan", file, *SET], ["show", "exp"], ["show", "exp", "1"],
                  ["show", "exp", "--efficiency"], ["export", "exp"],
                  ["export", "exp", "--format", "jsonl"],
                  ["export", "exp", "--curves"], ["status", "exp"], ["ls"],
                  ["trials", "exp"], ["best", "exp"], ["why", "exp", "1"],
                  ["notify", "exp"], ["validate", file], ["fsck"],
                  ["doctor"]):
        for form in ([], ["-o", "json"]):
            if words[0] == "export" and form:
                continue
            result = smtune(*words, *form)
            outputs[" ".join(map(str, words + form))] = (
                result.stdout + result.stderr)
    assert {name: found(text) for name, text in outputs.items()
            if found(text)} == {}
    command = smtune("best", "exp", "--command")
    assert found(command.stdout, BY_PLACE) == []
    assert "--with-secrets" in command.stderr
    assert "trial.env.SET" in outputs["show exp"]
    assert "***" in outputs["show exp"]
    assert "PLAIN" in outputs["page"]


def test_their_owner_sees_them(smtune, file):
    smtune.ok("run", file, *SET)
    assert found(smtune.ok("show", "exp", "--with-secrets")) == ["set"]
    shown = smtune.ok("plan", file, "--with-secrets")
    assert {"script", "option", "word"} <= set(found(shown))
    command = smtune("best", "exp", "--command", "--with-secrets")
    assert {"env", "token", "url", "set"} <= set(found(command.stdout))
    assert command.stderr == ""
    assert smtune("best", "exp", "--with-secrets").returncode == 2


@pytest.mark.sanitized
def test_nor_does_the_dashboard(smtune, file):
    smtune.ok("run", file, *SET)
    with Dashboard(smtune) as dashboard:
        for path in ("", "/1", "/1/events", "/1/jobs/1", "/1/jobs/1/why",
                     "/1/origin", "/1/attempts", "/1/importance"):
            answer = dashboard.get("/api/v1/runs" + path, role="viewer")
            assert answer.status == 200, path
            assert found(answer.body) == [], path
        spec = dashboard.get("/api/v1/runs/1").json()["spec"]
        events = dashboard.get("/api/v1/runs/1/events").json()["events"]
    assert 'PLAIN: "***"' in spec and "echo loss=${{ x }}" in spec
    assert spec.count("\n") == file.read_text().count("\n")
    assert events[0]["detail"]["spec"] == spec
    assert json.loads(events[0]["detail"]["overrides"]) == [
        'trial.env.SET="***"']


def test_nor_does_the_socket(smtune, file):
    (smtune.directory / "wait").touch()
    engine = smtune.start("run", file, *SET)
    wait_until((smtune.directory / "seen").exists)
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(30)
        folder = os.open(smtune.store / "runs/exp", os.O_PATH)
        peer.connect(f"/proc/self/fd/{folder}/control.sock")
        os.close(folder)
        peer.sendall(b'{"op": "subscribe"}\n')
        lines = peer.makefile()
        said = lines.readline()
        (smtune.directory / "wait").unlink()
        said += lines.read()
    assert "suggested" in said and found(said) == []
    assert engine.wait(30) == 0


@pytest.mark.sanitized
def test_a_workflow_has_them_too(smtune, write):
    path = write("flow.yaml", """
        version: 1
        name: flow
        params: {api_key: key-of-params-1, epochs: 3}
        defaults: {env: {ALL: "default-value-2"}}
        steps:
          a: {command: "echo --key ${{ api_key }} ${{ epochs }}"}
          b: {needs: a, command: "echo --secret in-the-command-3",
              env: {ONE: step-value-4}}
        """)
    secrets = ("key-of-params-1", "default-value-2", "in-the-command-3",
               "step-value-4")
    smtune.ok("run", path)
    with Dashboard(smtune) as dashboard:
        shown = [dashboard.get("/api/v1/runs/1" + part).body.decode()
                 for part in ("", "/events", "/graph", "/jobs/1", "/jobs/2")]
    for words in (["plan", path], ["plan", path, "-o", "json"],
                  ["show", "flow"], ["show", "flow", "a"],
                  ["show", "flow", "b", "-o", "json"]):
        shown.append(smtune.ok(*words))
    for text in shown:
        assert [secret for secret in secrets if secret in text] == []
    assert "key-of-params-1" in smtune.ok("show", "flow", "a",
                                          "--with-secrets")
    assert "--key key-of-params-1 3" in smtune.ok("logs", "flow", "a")


def test_a_failed_line_of_setup(smtune, experiment):
    """The record has the line, without its secret."""
    path = experiment("echo loss=1", trials=1,
                      setup=["export A_TOKEN=in-a-failed-line; false"])
    assert smtune("run", path).returncode != 0
    (text,), = smtune.query("SELECT text FROM attempt")
    assert "line 1 of setup failed" in text and "A_TOKEN=***" in text
    for words in (["show", "exp", "1"], ["trials", "exp", "-o", "json"]):
        assert "in-a-failed-line" not in smtune.ok(*words)


def test_a_program_that_cannot_start(smtune, experiment):
    """The message has the command's path, which has the token."""
    path = experiment(command=["/no/in-the-path-of-it/prog"], trials=1,
                      env={"A_TOKEN": "in-the-path-of-it"})
    assert smtune("run", path).returncode != 0
    (text,), = smtune.query("SELECT text FROM attempt")
    assert "/no/<env.A_TOKEN>/prog" in text
    assert "in-the-path-of-it" not in smtune.ok("show", "exp", "1")


# ---- backups ----

def restore(smtune, backup):
    folder = smtune.directory / f"store-of-{backup}"
    folder.mkdir()
    (smtune.directory / backup).rename(folder / "smtune.db")
    return ["--store", folder]


def sound(smtune, store):
    """As far as it can be without the folders of the runs."""
    for finding in json.loads(smtune(*store, "fsck", "-o", "json").stdout):
        assert finding["severity"] == "note" or finding["text"].startswith(
            "missing folders of attempts")


def restore_here(smtune, backup):
    for file in smtune.store.glob("smtune.db*"):
        file.unlink()
    (smtune.directory / backup).rename(smtune.store / "smtune.db")


@pytest.mark.sanitized
def test_a_backup_has_none(smtune, file):
    smtune.ok("run", file, *SET)
    smtune.ok("run", file, "--name", "removed")
    smtune.ok("rm", "removed")
    result = smtune("backup", "copy.db")
    assert "secrets are masked" in result.stderr
    bytes = (smtune.directory / "copy.db").read_bytes()
    assert found(bytes) == []
    assert (smtune.directory / "copy.db").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in smtune.directory.glob("copy.db*")) == [
        "copy.db"]
    store = restore(smtune, "copy.db")
    assert smtune.json(*store, "trials", "exp") == smtune.json("trials", "exp")
    smtune.ok(*store, "replay", "exp")
    sound(smtune, store)
    seen = smtune.directory / "seen"
    seen.unlink()
    result = smtune(*store, "resume", "exp", "--trials", "3")
    assert result.returncode == 2 and "smtune edit" in result.stderr
    result = smtune(*store, "run", file, *SET, "--resume")
    assert result.returncode in (0, 2)
    assert len(smtune.json(*store, "ls")) == 1
    # Values of --set are masked, too, and have to be given again.
    result = smtune(*store, "edit", "exp", file)
    assert result.returncode == 2
    assert "add --set trial.env.SET=VALUE" in result.stderr
    result = smtune(*store, "edit", "exp", file, *SET)
    assert result.returncode == 0, result.stderr
    assert "0 keys changed, secrets are no longer masked" in result.stderr
    assert not seen.exists()
    smtune.ok(*store, "resume", "exp", "--trials", "3")
    assert len(smtune.json(*store, "trials", "exp")) == 3
    assert seen.read_text().split() == [
        SECRETS[name] for name in ("env", "token", "set", "setup", "script")]


def test_a_backup_with_secrets_is_gone_on_with(smtune, file):
    smtune.ok("run", file, *SET)
    result = smtune("backup", "copy.db", "--with-secrets")
    assert "masked" not in result.stderr
    assert set(found((smtune.directory / "copy.db").read_bytes())) == set(
        SECRETS)
    smtune.ok(*restore(smtune, "copy.db"), "resume", "exp", "--trials", "3")


def test_a_workflow_from_a_backup_keeps_its_results(smtune, write):
    path = write("flow.yaml", """
        version: 1
        name: flow
        params: {api_key: key-of-params-1}
        steps:
          a: {shell: "echo $ONE >>ran", env: {ONE: step-value-1}}
          b: {needs: a, shell: "test -e go && echo $ONE >>ran",
              env: {ONE: step-value-2}}
        """)
    assert smtune("run", path).returncode == 1
    assert "secrets are masked" in smtune("backup", "copy.db").stderr
    (smtune.directory / "go").touch()
    store = restore(smtune, "copy.db")
    result = smtune(*store, "retry", "flow", "--failed")
    assert result.returncode == 2 and "smtune edit" in result.stderr
    result = smtune(*store, "edit", "flow", path)
    assert result.returncode == 0, result.stderr
    assert "0 keys changed" in result.stderr and "again" not in (
        result.stderr.partition("(continue")[0])
    smtune.ok(*store, "resume", "flow")
    assert (smtune.directory / "ran").read_text().split() == [
        "step-value-1", "step-value-2"]
    smtune.ok(*store, "replay", "flow")
    sound(smtune, store)


def test_each_takes_its_secrets_from_the_command(smtune, write):
    """Called again, it goes on with its run of the backup."""
    write("lines", "a\nb\n")
    words = ["each", "lines", "--", "sh", "-c",
             "echo $2 $1 >>ran; test -e go", "sh", "{}", "--token",
             "in-the-words-1"]
    assert smtune(*words).returncode == 1
    smtune.ok("backup", "copy.db")
    assert b"in-the-words-1" not in (smtune.directory / "copy.db").read_bytes()
    (smtune.directory / "go").touch()
    restore_here(smtune, "copy.db")
    result = smtune(*words)
    assert result.returncode == 0, result.stderr
    assert len(smtune.json("ls")) == 1


def test_a_backup_without_secrets_is_the_record(smtune, experiment):
    smtune.ok("run", experiment(trials=1))
    assert "masked" not in smtune("backup", "copy.db").stderr
    tables = smtune.query("SELECT * FROM run"), smtune.query(
        "SELECT seq, event, detail FROM event ORDER BY seq")
    restore_here(smtune, "copy.db")
    assert tables == (smtune.query("SELECT * FROM run"), smtune.query(
        "SELECT seq, event, detail FROM event ORDER BY seq"))
    smtune.ok("resume", "exp", "--trials", "2")


def test_three_asterisks_are_no_value(smtune, experiment):
    """What the page shows, in a file."""
    path = experiment("echo loss=1", trials=1, env={"A": "***"})
    result = smtune("run", path)
    assert result.returncode == 2
    assert "the value of 'A' in env is '***'" in result.stderr


# ---- values that are in no file of the run ----

SOURCES = """
    version: 1
    name: exp
    objective: loss
    parameters: {x: {type: float, min: 0, max: 1}}
    budget: {trials: 1}
    trial:
      env_from: [FIRST, BOTH]
      env_file: secrets/run.env
      env: {LAST: from-env}
      shell: |
        echo "$FIRST|$BOTH|$QUOTED|$LAST" >>seen
        echo loss=${{ x }}
"""


@pytest.mark.sanitized
def test_values_from_elsewhere(smtune, write):
    path = write("exp.yaml", SOURCES)
    write("secrets/run.env", """
        # a comment

        BOTH=from-file
          export QUOTED="two words in-a-file"
        LAST=from-file
        """, mode=0o600)
    env = {"FIRST": "from-the-environment", "BOTH": "not-from-file"}
    result = smtune("run", path)
    assert result.returncode == 2
    assert "missing environment variable 'FIRST'" in result.stderr
    assert not (smtune.store / "runs/exp/attempts").exists()
    result = smtune("run", path, "--log", "log", "--log-level", "debug",
                    env=env)
    assert result.returncode == 0 and "warning" not in result.stderr
    assert (smtune.directory / "seen").read_text() == (
        "from-the-environment|not-from-file|two words in-a-file|from-env\n")
    for secret in (b"from-the-environment", b"not-from-file", b"in-a-file"):
        for place in (smtune.store / "smtune.db", smtune.directory / "log"):
            assert secret not in place.read_bytes(), place
    # The file is read anew by each session.
    write("secrets/run.env", "QUOTED='other'\n", mode=0o600)
    smtune.ok("resume", "exp", "--trials", "2", env=env)
    assert (smtune.directory / "seen").read_text().endswith(
        "from-the-environment|not-from-file|other|from-env\n")
    assert smtune("resume", "exp", "--trials", "3").returncode == 2
    again = smtune.ok("best", "exp", "--command")
    assert f". {smtune.directory}/secrets/run.env" in again
    assert "other" not in again and "from-the-environment" not in again


@pytest.mark.parametrize("text, said", [
    ("A=1\nB\n", "line 2: expected NAME=VALUE"),
    ("1A=top-secret\n", "line 1: expected NAME=VALUE"),
    ("SMTUNE_RUN=a\n", "line 1: smtune sets"),
    (None, "env_file: "),
])
def test_a_wrong_env_file(smtune, write, text, said):
    path = write("exp.yaml", SOURCES.replace("env_from: [FIRST, BOTH]", ""))
    if text is not None:
        write("secrets/run.env", text, mode=0o600)
    result = smtune("run", path)
    assert result.returncode == 2
    assert said in result.stderr and "top-secret" not in result.stderr


def test_an_env_file_that_others_read(smtune, write):
    path = write("exp.yaml", SOURCES.replace("env_from: [FIRST, BOTH]", ""))
    file = write("secrets/run.env", "A=1\n", mode=0o644)
    assert f"env_file '{file}' has mode 0644" in smtune("run", path).stderr
    said = smtune("validate", path).stderr
    assert "has mode 0644" in said and f"chmod 600 {file}" in said
    file.unlink()
    assert "cannot read env_file" in smtune("validate", path).stderr


def test_mistakes_in_names(smtune, write):
    path = write("exp.yaml", SOURCES.replace("[FIRST, BOTH]",
                                             "[FIR-ST, SMTUNE_RUN]"))
    said = smtune("validate", path).stderr
    assert "'FIR-ST' is not a valid name for an environment variable" in said
    assert "'SMTUNE_RUN' is reserved" in said


def test_validate_warns_of_secrets(smtune, write):
    path = write("exp.yaml", """
        version: 1
        objective: loss
        parameters: {x: {type: float, min: 0, max: 1}}
        budget: {trials: 1}
        trial:
          command: ./train --to hf_abcdefghij0123456789 ${{ x }}
          env:
            WANDB_API_KEY: 0123456789abcdef0123456789abcdef01234567
            COMMIT: 0123456789abcdef0123456789abcdef01234567
            THREADS: 4
        """)
    result = smtune("validate", path)
    assert result.returncode == 0
    assert result.stderr.count("looks like a secret") == 2
    assert "the value of 'command'" in result.stderr
    assert "write env_from: [WANDB_API_KEY]" in result.stderr
    assert "hf_abc" not in result.stderr
    assert "WANDB_API_KEY: ***" in result.stderr


# ---- the files of the record ----

@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_files_of_the_record_are_their_users(smtune, file, mask):
    """Also in a folder that others may use."""
    (smtune.directory / "wait").touch()
    smtune.store.mkdir()
    smtune.store.chmod(0o777)
    engine = smtune.start("run", file, umask=mask)
    wait_until((smtune.directory / "seen").exists)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode)
             for path in smtune.store.glob("smtune.db*")}
    assert modes == {f"smtune.db{ending}": 0o600
                     for ending in ("", "-wal", "-shm")}
    (smtune.directory / "wait").unlink()
    assert engine.wait(30) == 0


def test_open_files_are_named(smtune, experiment):
    smtune.ok("run", experiment(trials=1))
    database = smtune.store / "smtune.db"
    assert smtune.json("fsck") == []
    database.chmod(0o644)
    rows = {row["check"]: row for row in smtune.json("doctor")}
    assert rows["store"]["state"] == "warn"
    assert f"others may use {database} (mode 0644)" in rows["store"]["found"]
    assert f"chmod 600 {database}" in rows["store"]["fix"]
    findings = {row["what"]: row for row in smtune.json("fsck")}
    assert {row["severity"] for row in findings.values()} == {"note"}
    assert f"chmod 600 {database}" in findings[str(database)]["text"]
    smtune.ok("run", experiment(trials=1, name="next"))
    assert stat.S_IMODE(database.stat().st_mode) == 0o644
    for file in smtune.store.glob("smtune.db*"):
        file.chmod(0o600)
    assert smtune.json("fsck") == []
