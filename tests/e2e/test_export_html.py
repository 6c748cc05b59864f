# SPDX-License-Identifier: GPL-3.0-or-later
"""`smtune export RUN --format html`: the page and its answers in one file."""

import base64
import gzip
import hashlib
import html.parser
import json
import re

import pytest

import files
from dashboards import Dashboard

EVIL = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)>"

EXPERIMENT = files.experiment(f"""
    i=1; while [ $i -le 3 ]; do echo epoch=$i loss=${{{{ lr }}}};
    i=$((i+1)); done; echo '{EVIL}'
    """, name="tune", trials=12, parameters=f"""
    lr: {{type: float, min: 1.0e-4, max: 1.0, scale: log}}
    kind: {{type: categorical, values: [sgd, {json.dumps(EVIL)}]}}
    """)

WORKFLOW = files.workflow("""
    prepare: {command: "true"}
    tune: {needs: prepare, experiment: exp.yaml}
    bad: {needs: tune, command: "false"}
    """, name="night")


class Elements(html.parser.HTMLParser):
    """What a browser sees in the file: (name, attributes, text) of the
    elements that are no mere page."""

    def __init__(self, text):
        super().__init__()
        self.found, self.kept = [], None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style"):
            self.kept = [tag, dict(attrs), ""]
            self.found.append(self.kept)
        elif tag in ("meta", "link", "img", "iframe"):
            self.found.append([tag, dict(attrs), ""])

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag):
        self.kept = None

    def handle_data(self, data):
        if self.kept is not None:
            self.kept[2] += data

    def of(self, tag):
        return [found for found in self.found if found[0] == tag]


class Page:
    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        self.elements = Elements(self.text)
        self.answers = {}
        for _, attributes, text in self.elements.of("script"):
            if "data-archive" in attributes:
                assert attributes["type"] == "application/json"
                self.answers.update(json.loads(text))

    def entry(self, path):
        return self.answers["/api/v1" + path]

    def bytes(self, path):
        return gzip.decompress(base64.b64decode(self.entry(path)["base64gz"]))

    def json(self, path):
        entry = self.entry(path)
        return entry["json"] if "json" in entry else \
            json.loads(self.bytes(path))


@pytest.fixture
def workflow(smtune, write):
    write("exp.yaml", EXPERIMENT)
    assert smtune("run", write("night.yaml", WORKFLOW)).returncode != 0
    return smtune


def export(smtune, run, name="page.html"):
    smtune.ok("export", run, "--format", "html", "-o", name)
    return Page(smtune.directory / name)


@pytest.mark.quick
@pytest.mark.sanitized
def test_the_policy_lets_run_what_is_in_the_file_alone(workflow):
    page = export(workflow, "night")
    metas = [attributes for _, attributes, _ in page.elements.of("meta")]
    (policy,) = [meta["content"] for meta in metas
                 if meta.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules and "unsafe" not in policy

    def hash_of(text):
        digest = hashlib.sha256(text.encode()).digest()
        return f"'sha256-{base64.b64encode(digest).decode()}'"
    programs = [text for _, attributes, text in page.elements.of("script")
                if "data-archive" not in attributes]
    (style,) = [text for _, _, text in page.elements.of("style")]
    assert [hash_of(text) for text in programs] == \
        rules["script-src"].split(" ")
    assert len(programs) > 1  # the parts that a server's page loads later
    assert not any("/login" in text for text in programs)
    assert rules["style-src"] == hash_of(style)
    assert page.text.index("Content-Security-Policy") < \
        min(page.text.index("<style"), page.text.index("<script"))
    for name, attributes, _ in page.elements.found:
        assert "src" not in attributes, (name, attributes)
        assert attributes.get("href", "data:").startswith("data:")


def test_no_text_of_a_run_gets_out_of_its_place(workflow):
    workflow.ok("note", "night", "-m", EVIL)
    page = export(workflow, "night")
    assert "<img" not in page.text
    assert not re.search(r"<script>alert", page.text)
    assert page.elements.of("img") == []
    assert page.json("/runs/2")["space"][1]["values"] == ["sgd", EVIL]
    log = page.bytes("/runs/2/jobs/1/attempts/1/log").decode()
    assert log.endswith(EVIL + "\n")


def test_the_answers_are_those_of_a_server(workflow):
    page = export(workflow, "night")
    with Dashboard(workflow, "--read-only") as dashboard:
        def ask(path):
            answer = dashboard.get("/api/v1" + path, role="viewer")
            assert answer.status == 200, path
            return answer
        for path in ("/session", "/runs", "/runs/1", "/runs/1/graph",
                     "/runs/1/origin", "/runs/2", "/runs/2/importance", "/runs/2/jobs/12",
                     "/runs/2/jobs/12/why", "/runs/1/jobs/3/why"):
            assert page.json(path) == ask(path).json(), path
        columns = ask("/runs/2/columns")
        assert page.bytes("/runs/2/columns") == columns.body
        assert page.entry("/runs/2/columns")["type"] == \
            columns.headers["Content-Type"].split(";")[0]
        for path in page.answers:
            if path.endswith("/log") or path.endswith("/archive"):
                continue
            assert ask(path.removeprefix("/api/v1")).status == 200
    about = page.json("/archive")
    assert about["run"] == 1 and about["left_out"] == []


def test_other_runs_are_not_in_it(workflow, write):
    workflow.ok("run", write("exp2.yaml",
                             EXPERIMENT.replace("name: tune", "name: other")))
    page = export(workflow, "night")
    assert [row["name"] for row in page.json("/runs")["runs"]] == \
        ["night", "night.tune"]
    assert "other" not in {row["name"] for row in page.json("/runs")["runs"]}
    assert not [path for path in page.answers if "/runs/3" in path]


def test_several_runs_are_in_it_once_and_share_its_room(smtune):
    for name in ("a", "b"):
        smtune.ok(smtune.store, name, "minimize", "1000",
                  program="tests/e2e/fill_store")
    smtune.ok("export", "b", "a", "2", "--format", "html", "-o", "both.html")
    page = Page(smtune.directory / "both.html")
    assert page.json("/archive")["runs"] == [2, 1]
    for run in (1, 2):
        jobs = [path for path in page.answers
                if re.fullmatch(rf"/api/v1/runs/{run}/jobs/\d+", path)]
        assert 50 < len(jobs) <= 200
    refused = smtune("export", "a", "b", "-o", "both.csv")
    assert refused.returncode == 2
    assert "use --format html" in refused.stderr


def test_of_a_log_the_end_is_in_it(workflow):
    folder = workflow.store / "runs/night/attempts/1-1"
    (folder / "log").write_bytes(b"x" * 20000 + b"the end")
    page = export(workflow, "night")
    entry = page.entry("/runs/1/jobs/1/attempts/1/log")
    assert entry["size"] == 20007 and entry["from"] == 20007 - 16384
    text = page.bytes("/runs/1/jobs/1/attempts/1/log")
    assert len(text) == 16384 and text.endswith(b"xthe end")


def test_what_is_left_out_is_said(smtune):
    smtune.ok(smtune.store, "big", "minimize", "1000",
              program="tests/e2e/fill_store")
    page = export(smtune, "big")
    jobs = [path for path in page.answers
            if re.fullmatch(r"/api/v1/runs/1/jobs/\d+", path)]
    assert 100 < len(jobs) <= 400
    (left,) = page.json("/archive")["left_out"]
    assert (left["run"], left["what"]) == (1, "jobs")
    assert f"of {len(jobs)} of 1000" in left["text"]


def test_a_terminal_gets_no_page(smtune, workflow):
    status, shown = smtune.on_terminal("export", "night", "--format", "html")
    assert status == 2 and "-o FILE" in shown
    assert "<!doctype html>" in smtune.ok("export", "night", "--format",
                                          "html")
