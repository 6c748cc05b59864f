# SPDX-License-Identifier: GPL-3.0-or-later
"""What the dashboard is told of runs is what the commands say of them."""

import json
import os
import re
import sqlite3

import pytest

import files
from dashboards import Dashboard
from programs import build_gpu_library, wait_until

EXPERIMENT = files.experiment(
    "i=1; while [ $i -le ${{ epochs }} ]; do "
    "echo epochs=$i loss=${{ lr }}; i=$((i+1)); done", name="tune", seed=1,
    trials=12, resource=40,
    schedule="{method: asha, resource: epochs, min: 1, max: 4, eta: 2}",
    parameters="""
        lr: {type: float, min: 1.0e-4, max: 1.0, scale: log}
        kind: {type: categorical, values: [sgd, adam, 3]}
        momentum: {type: float, min: 0, max: 0.99, when: "kind = 'sgd'"}
        width: {type: int, min: 8, max: 64, step: 8}
        nesterov: {type: bool}
        fixed: 7
        """)

WORKFLOW = files.workflow("""
    prepare: {command: 'true'}
    shard:
      needs: prepare
      matrix: {part: [0, 1], seed: [7, 8]}
      command: 'echo rows=${{ part }}'
      metrics: [rows]
    tune: {needs: prepare, experiment: exp.yaml}
    bad: {needs: shard, command: 'false'}
    end: {needs: [tune, bad], when: always, command: 'true'}
    """, name="night")


@pytest.fixture
def told(smtune):
    """told(what, run, number): what the dashboard is told."""
    def ask(*words):
        return json.loads(smtune.ok(".smtune", *words,
                                    program="tests/e2e/ask_source"))
    return ask


@pytest.fixture
def experiment(smtune, write):
    smtune.ok("run", write("exp.yaml", EXPERIMENT))


@pytest.fixture
def workflow(smtune, write):
    write("exp.yaml", EXPERIMENT)
    assert smtune("run", write("night.yaml", WORKFLOW)).returncode != 0


def change(smtune, sql, *values):
    with sqlite3.connect(smtune.store / "smtune.db") as database:
        database.execute(sql, values)
    database.close()


def same(shown, answer, *more):
    """All that was shown is in the answer, which has only this besides."""
    assert {key: answer[key] for key in shown} == shown
    assert set(answer) - set(shown) == set(more)


@pytest.mark.sanitized
def test_a_run_is_what_show_says_and_its_file(smtune, experiment, told):
    answer = told("run", 1)
    shown = smtune.json("show", "tune")
    assert shown.pop("importance") == told("importance", 1)["importance"]
    assert shown.pop("objectives") == {"loss": "minimize"}
    same(shown, answer, "objectives", "space", "budget", "spec", "message",
         "engine_pid", "parent", "repeats")
    assert answer["objectives"] == [{"metric": "loss", "goal": "minimize"}]
    assert answer["schedule"]["resource"] == "epochs"
    assert [rung["resource"] for rung in answer["rungs"]] == [1, 2, 4]
    assert answer["spec"] == EXPERIMENT and answer["parent"] is None
    assert (answer["budget"]["trials"], answer["budget"]["resource"]) == \
        (12, 40)
    assert answer["space"] == [
        {"name": "lr", "kind": "float", "scale": "log", "min": 0.0001,
         "max": 1},
        {"name": "kind", "kind": "categorical", "values": ["sgd", "adam", 3]},
        {"name": "momentum", "kind": "float", "scale": "linear", "min": 0,
         "max": 0.99, "when": "kind = 'sgd'"},
        {"name": "width", "kind": "int", "scale": "linear", "min": 8,
         "max": 64, "step": 8},
        {"name": "nesterov", "kind": "bool"},
        {"name": "fixed", "kind": "const", "values": [7]}]


def test_origin_has_the_file_and_its_settings(smtune, write, told):
    path = write("exp.yaml", EXPERIMENT)
    smtune.ok("run", path, "--set", "budget.trials=3")
    answer = told("origin", 1)
    assert answer["text"] == path.read_text()
    assert answer["set"] == ["budget.trials=3"]
    assert answer["settings"]["budget.trials"] == 3
    assert answer["settings"]["schedule.method"] == "asha"
    assert answer["settings"]["parameters.kind.values"] == ["sgd", "adam", 3]
    assert answer["seed"] == "1" and not answer["is_cut"]
    assert answer["path"] == smtune.json("show", "tune")["file"]


def test_a_trial_and_why_are_what_the_commands_say(smtune, experiment, told):
    for number in (1, 5):
        assert told("job", 1, number) == smtune.json("show", "tune", number)
        assert told("why", 1, number) == smtune.json("why", "tune", number)


def test_a_workflow_is_what_show_says(smtune, workflow, told):
    same(smtune.json("show", "night"), told("run", 1), "objectives", "budget",
         "spec", "message", "engine_pid", "parent", "repeats")
    for number in (1, 2, 6):
        assert told("job", 1, number) == smtune.json("show", "night", number)
        assert told("why", 1, number) == smtune.json("why", "night", number)
    below = told("run", 2)
    tune = smtune.json("show", "night", "tune")["id"]
    assert below["parent"] == {"id": 1, "name": "night", "job": tune}


def test_notes_and_tags_are_told(smtune, experiment, told):
    assert (told("run", 1)["note"], told("run", 1)["tags"]) == (None, [])
    smtune.ok("note", "tune", "-m", "a <b>note</b>")
    smtune.ok("tag", "tune", "2", "--add", "good", "--add", "odd")
    assert told("run", 1)["note"] == "a <b>note</b>"
    job = told("job", 1, 2)
    assert (job["note"], job["tags"]) == (None, ["good", "odd"])
    assert "good, odd" in smtune.ok("show", "tune", "2")
    assert "tags" not in smtune.ok("show", "tune", "3")


def test_a_graph_has_places_for_its_steps(workflow, told):
    graph = told("graph", 1)
    nodes = {node["name"]: node for node in graph["nodes"]}
    names = [node["name"] for node in graph["nodes"]]
    edges = {(names[edge["from"]], names[edge["to"]])
             for edge in graph["edges"]}
    assert edges == {("prepare", "shard"), ("prepare", "tune"),
                     ("shard", "bad"), ("tune", "end"), ("bad", "end")}
    assert nodes["shard"]["jobs"]["succeeded"] == nodes["shard"]["copies"] == 4
    assert nodes["bad"]["state"] == "failed"
    assert nodes["tune"]["kind"] == "experiment"
    assert nodes["end"]["when"] == "always"
    for node in graph["nodes"]:
        assert 0 <= node["x"] <= graph["width"] - node["width"]
        assert 0 <= node["y"] <= graph["height"] - node["height"]
    for edge in graph["edges"]:
        above, below = (graph["nodes"][edge[end]] for end in ("from", "to"))
        assert above["layer"] < below["layer"]
        assert edge["points"][0][1] == above["y"] + above["height"]
        assert edge["points"][-1][1] == below["y"]


def test_what_is_not_there_is_not_found(smtune, workflow, told):
    for words in (("run", 9), ("graph", 9), ("importance", 9), ("job", 1, 99),
                  ("job", 2, 99), ("why", 2, 99), ("why", 9, 1)):
        answer = smtune.ok(".smtune", *words, program="tests/e2e/ask_source")
        assert answer.startswith("error 4: "), words
    assert "error 2: " in smtune.ok(".smtune", "graph", 2,
                                    program="tests/e2e/ask_source")


def test_a_file_that_no_longer_passes_is_said(smtune, workflow, told):
    change(smtune, "UPDATE run SET spec = replace(spec, 'version', 'vers')")
    for run in (1, 2):
        answer = told("run", run)
        assert "vers" in answer["problem"] and "space" not in answer
        assert answer["spec"].startswith("vers: 1")
    graph = told("graph", 1)
    assert "no longer valid" in graph["problem"]
    assert [node["name"] for node in graph["nodes"]] == [
        "prepare", "shard", "tune", "bad", "end"]
    importance = told("importance", 2)
    assert importance["importance"] == [] and "vers" in importance["problem"]
    assert told("job", 2, 1)["id"] == 1


def test_the_machine_is_looked_at(smtune, experiment, told):
    machine = told("machine")
    doctor = smtune.ok("doctor")
    assert f"{machine['cpus']}" in doctor
    assert 0 < machine["memory_available_bytes"] <= machine["memory_bytes"]
    assert 0 < machine["cpu_busy_ms"] <= machine["cpu_all_ms"]
    assert machine["disk"]["path"] == str(smtune.store)
    assert machine["disk"]["available_bytes"] > 0
    assert machine["cpu_slots"] == {"size": machine["cpus"], "taken": 0}
    assert machine["runs"] == []


GPU_USE = [
    {"index": 0, "model": "NVIDIA <b>H100</b> 80GB HBM3", "load": 0.42,
     "memory_used_bytes": 20 << 30, "memory_bytes": 80 << 30},
    {"index": 1, "model": "NVIDIA A100-SXM4-40GB MIG", "load": None,
     "memory_used_bytes": 40 << 30, "memory_bytes": 40 << 30},
]


@pytest.fixture
def gpu_library(smtune, tmp_path):
    """smtune finds tests/nvml.c; the file in which it says what became of it."""
    smtune.env |= build_gpu_library(tmp_path)
    smtune.env["FAKE_NVML_LOG"] = str(tmp_path / "nvml.log")
    return tmp_path / "nvml.log"


def test_the_driver_is_asked_how_much_of_gpus_is_in_use(
        smtune, experiment, told, gpu_library):
    assert told("machine")["gpu_use"] == GPU_USE
    assert gpu_library.read_text() == "is"


@pytest.mark.parametrize("function, key", [
    ("nvmlDeviceGetHandleByIndex_v2", None), ("nvmlDeviceGetName", "model"),
    ("nvmlDeviceGetUtilizationRates", "load"),
    ("nvmlDeviceGetMemoryInfo", "memory_bytes")])
def test_what_a_gpu_does_not_say_is_not_known(
        smtune, experiment, told, gpu_library, function, key):
    smtune.env["FAKE_NVML_FAILS"] = function
    for gpu, usual in zip(told("machine")["gpu_use"], GPU_USE, strict=True):
        assert gpu["index"] == usual["index"]
        unknown = {name for name in gpu if gpu[name] is None}
        assert unknown >= {key} if key else unknown == gpu.keys() - {"index"}


@pytest.mark.parametrize("function", ["nvmlInit_v2", "nvmlDeviceGetCount_v2"])
def test_without_a_driver_there_are_no_gpus(
        smtune, experiment, told, gpu_library, function):
    smtune.env["FAKE_NVML_FAILS"] = function
    assert told("machine")["gpu_use"] == []


def test_without_its_library_nothing_is_said_of_gpus(
        smtune, experiment, told, gpu_library, tmp_path):
    # A file that is no library: so it is on a machine that has NVIDIA's, too.
    (tmp_path / "libnvidia-ml.so.1").write_text("")
    assert told("machine")["gpu_use"] == []
    with Dashboard(smtune) as dashboard:
        assert b"gpu" not in dashboard.get("/metrics").body


def test_prometheus_gets_gpus(smtune, experiment, gpu_library):
    with Dashboard(smtune) as dashboard:
        found = {key: number for key, number in samples(dashboard).items()
                 if "gpu" in key[0]}
    first, second = (f'gpu="{gpu["index"]}",model="{gpu["model"]}"'
                     for gpu in GPU_USE)
    assert found == {
        ("smtune_gpu_load", first): 0.42,
        ("smtune_gpu_memory_used_bytes", first): 20 << 30,
        ("smtune_gpu_memory_used_bytes", second): 40 << 30,
        ("smtune_gpu_memory_bytes", first): 80 << 30,
        ("smtune_gpu_memory_bytes", second): 40 << 30}
    assert gpu_library.read_text() == "is"


def test_slots_in_use_and_by_whom_are_said(smtune, write, told):
    engine = smtune.start("run", write("hold.yaml", files.experiment(
        "while [ ! -e end ]; do sleep 0.1; done; echo loss=1", name="hold",
        trials=1, resources={"cpus": 1})))
    wait_until(lambda: (smtune.store / "smtune.db").exists() and
               smtune("status", "hold", "-o", "json").returncode == 0 and
               told("machine")["runs"])
    machine = told("machine")
    assert machine["runs"] == [{"id": 1, "name": "hold", "attempts": 1}]
    assert machine["cpu_slots"]["taken"] == 1
    (smtune.directory / "end").touch()
    assert engine.wait(timeout=30) == 0
    assert told("machine")["cpu_slots"]["taken"] == 0


# ---- over HTTP ----

LOG = "/api/v1/runs/1/jobs/1/attempts/1/log"


@pytest.fixture
def dashboard(smtune, experiment):
    with Dashboard(smtune) as dashboard:
        yield dashboard


@pytest.fixture
def folder(smtune):
    """The folder of the first trial's attempt."""
    return smtune.store / "runs/tune/attempts/1-1"


def piece(dashboard, query="", role="viewer"):
    """(from, size, bytes) of the log."""
    answer = dashboard.get(LOG + query, role=role)
    assert answer.status == 200, answer.body
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return (int(answer.headers["X-Smtune-From"]),
            int(answer.headers["X-Smtune-Size"]), answer.body)


def test_documents_are_served(smtune, dashboard, told):
    for path, words in (("/runs/1", ("run", 1)),
                        ("/runs/1/origin", ("origin", 1)),
                        ("/runs/1/jobs/2", ("job", 1, 2)),
                        ("/runs/1/jobs/2/why", ("why", 1, 2)),
                        ("/runs/1/importance", ("importance", 1))):
        answer = dashboard.get("/api/v1" + path, role="viewer")
        assert answer.status == 200 and answer.json() == told(*words)
    for path in ("/runs/9", "/runs/1/jobs/99", "/runs/9/graph",
                 "/runs/9/events", "/runs/1/jobs/1/attempts/7/log"):
        answer = dashboard.get("/api/v1" + path)
        assert (answer.status, answer.error()) == (404, "not_found"), path
    assert dashboard.get("/api/v1/runs/1/graph").status == 400


def test_a_log_is_read_by_pieces(dashboard, folder):
    whole = b"epochs=1 \xff\x00\r50%\r100%\n<script>alert(1)</script>\n"
    (folder / "log").write_bytes(whole)
    size = len(whole)
    assert piece(dashboard) == (0, size, whole)
    assert piece(dashboard, "?from=3&length=4") == (3, size, whole[3:7])
    assert piece(dashboard, "?from=-5") == (size - 5, size, whole[-5:])
    assert piece(dashboard, "?from=-999") == (0, size, whole)
    assert piece(dashboard, "?from=999") == (size, size, b"")
    assert piece(dashboard, "?from=-5&length=2") == \
        (size - 5, size, whole[-5:-3])
    (folder / "rank-3.log").write_bytes(b"of rank 3")
    assert piece(dashboard, "?rank=3") == (0, 9, b"of rank 3")
    for query in ("?length=1048577", "?from=x", "?rank=-1", "?path=/etc/passwd",
                  "?from=99999999999999999999"):
        assert dashboard.get(LOG + query).status == 400, query


@pytest.mark.parametrize("count", (1, 2, 3, 4, 6, 9))
def test_a_log_says_how_many_ranks_have_one(dashboard, folder, count):
    for rank in range(1, count):
        (folder / f"rank-{rank}.log").write_bytes(b"another")
    for rank in (0, count - 1, 100):
        answer = dashboard.get(f"{LOG}?rank={rank}")
        assert answer.headers["X-Smtune-Ranks"] == str(count)


def test_a_log_that_is_not_there_is_empty(dashboard, folder):
    (folder / "log").unlink()
    assert piece(dashboard) == (0, 0, b"")
    assert piece(dashboard, "?rank=7&from=-10") == (0, 0, b"")
    for name in folder.iterdir():
        name.unlink()
    folder.rmdir()
    assert piece(dashboard) == (0, 0, b"")


def refused(dashboard):
    answer = dashboard.get(LOG)
    assert (answer.status, answer.error()) == (404, "not_found"), answer.body
    assert b"secret" not in answer.body


def test_a_log_leads_nowhere_else(smtune, dashboard, folder):
    secret = smtune.directory / "secret"
    secret.write_text("secret")
    log = folder / "log"
    log.unlink()
    log.symlink_to(secret)
    refused(dashboard)
    log.unlink()
    os.mkfifo(log)
    refused(dashboard)
    log.unlink()
    log.mkdir()
    refused(dashboard)
    folder.rename(folder.with_name("gone"))
    folder.symlink_to(smtune.directory)
    (smtune.directory / "log").write_text("secret")
    refused(dashboard)


@pytest.mark.parametrize("directory", [
    "../secret", "runs/../../secret", "runs/tune/../../..", "/etc", "runs/",
    "runs/tune//attempts", "runs", "", "runs/./tune", "runs/tune/attempts/.."])
def test_a_record_that_lies_leads_nowhere(smtune, dashboard, directory):
    (smtune.directory / "log").write_text("secret")
    change(smtune, "UPDATE attempt SET directory = ?", directory)
    answer = dashboard.get(LOG)
    assert answer.status == 404 or answer.body == b"", answer.body


def test_events_come_in_pages(smtune, dashboard):
    everything = dashboard.get("/api/v1/runs/1/events?limit=10000").json()
    assert everything["next"] is None
    seqs = [event["seq"] for event in everything["events"]]
    assert len(seqs) > 30 and seqs == sorted(seqs)
    assert everything["events"][0]["event"] == "run_created"
    found, after = [], 0
    while after is not None:
        page = dashboard.get(
            f"/api/v1/runs/1/events?limit=7&after={after}").json()
        assert len(page["events"]) <= 7
        found += page["events"]
        after = page["next"]
    assert found == everything["events"]


def test_machine_and_nodes_are_served(smtune, dashboard):
    smtune.ok("nodes", "--avoid", "n7", "--reason", "<b>hot</b>")
    assert dashboard.get("/api/v1/machine").json()["host"]
    nodes = dashboard.get("/api/v1/nodes").json()
    assert nodes["running"] == []
    (node,) = nodes["nodes"]
    assert (node["name"], node["is_avoided"], node["text"], node["until_ms"]) \
        == ("n7", True, "<b>hot</b>", None)


# ---- for Prometheus ----

SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')


def samples(dashboard):
    """{(name, labels): number}, read as strictly as Prometheus does."""
    answer = dashboard.get("/metrics", role="viewer")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith(
        "text/plain; version=0.0.4")
    found, typed = {}, set()
    for line in answer.body.decode().splitlines():
        if line.startswith("# TYPE "):
            assert line.split()[2] not in typed
            typed.add(line.split()[2])
        if line.startswith("#"):
            continue
        name, labels, number = SAMPLE.fullmatch(line).groups()
        assert name in typed and (name, labels) not in found
        found[name, labels] = float(number)
    return found


def test_prometheus_gets_runs_in_numbers(smtune, experiment):
    with Dashboard(smtune) as dashboard:
        assert dashboard.get("/metrics", role=None).status == 401
        found = samples(dashboard)
        best = smtune.json("show", "tune")["best"]["value"]
    counts = smtune.json("show", "tune")["trials"]
    assert found["smtune_runs", None] == 1
    assert found["smtune_runs_left_out", None] == 0
    assert found["smtune_trials", 'run="tune",state="stopped"'] == \
        counts["stopped"]
    assert found["smtune_trials", 'run="tune",state="succeeded"'] == \
        counts["succeeded"]
    assert found["smtune_best_objective", 'run="tune",metric="loss"'] == best
    attempts = sum(number for (name, _), number in found.items()
                   if name == "smtune_attempts_total")
    assert attempts >= counts["total"]
    assert found["smtune_run_state", 'run="tune",state="succeeded"'] == 1
    assert not [name for name, _ in found if name == "smtune_engine_alive"]


def test_prometheus_gets_names_escaped_and_no_end_of_runs(smtune):
    for number in range(52):
        smtune.ok(smtune.store, f"r{number}", "minimize", "1",
                  program="tests/e2e/fill_store")
    change(smtune, "UPDATE run_objective SET metric = ? WHERE run_id = 52",
           'lo"ss\\\n')
    change(smtune, "UPDATE run SET state = 'succeeded', ended_ms = 1000 * id"
           " WHERE id > 0")
    with Dashboard(smtune) as dashboard:
        found = samples(dashboard)
    assert found["smtune_runs", None] == 52
    assert found["smtune_runs_left_out", None] == 2
    assert ("smtune_run_state", 'run="r0",state="succeeded"') not in found
    assert found["smtune_best_objective",
                 'run="r51",metric="lo\\"ss\\\\\\n"'] == 1
