# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard's API is what its own description says it is."""

import re
import struct
import subprocess

import jsonschema
import pytest

from dashboards import dashboard
from programs import BUILD

pytestmark = pytest.mark.sanitized

# What a path's parts mean in the store that these tests fill.
IDS = {"run": 1, "job": 1, "attempt": 1}


@pytest.fixture
def filled(smtune):
    """A store with an experiment's run and a workflow's."""
    for run, goal in (("tuned", "minimize"), ("flow", "workflow")):
        subprocess.run([BUILD / "tests/e2e/fill_store", smtune.store, run,
                        goal, "20"], check=True)
    return smtune


def description(dashboard):
    return dashboard.get("/api/v1/openapi.json").json()


def operations(described):
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def schema_of(described, content):
    """The one media type of a content, and its schema with what it refers
    to."""
    (media, holder), = content.items()
    schema = {**holder["schema"], "components": described["components"]}
    return media, schema


@pytest.mark.quick
def test_the_description_is_whole(dashboard):
    described = description(dashboard)
    names = set(described["components"]["schemas"])
    referred = set(re.findall(r"#/components/schemas/([A-Za-z]+)",
                              str(described)))
    assert referred - {"Error"} <= names, referred - names
    ids = [operation["operationId"]
           for _, _, operation in operations(described)]
    assert len(ids) == len(set(ids))
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    for method, path, operation in operations(described):
        parts = re.findall(r"\{(\w+)\}", path)
        told = [parameter["name"] for parameter in operation["parameters"]
                if parameter["in"] == "path"]
        assert parts == told, path
        assert operation["summary"].endswith("."), path


def test_every_answer_fits_its_description(dashboard):
    described = description(dashboard)
    asked = 0
    for method, path, operation in operations(described):
        content = operation["responses"].get("200", {}).get("content")
        if method != "GET" or not content or "text/event-stream" in content:
            continue
        media, schema = schema_of(described, content)
        answer = dashboard.get(path.format(**IDS))
        if answer.status == 501:
            continue
        if answer.status != 200:
            media, schema = schema_of(
                described, operation["responses"]["default"]["content"])
        assert answer.headers["Content-Type"].split(";")[0] == media, path
        if media == "application/json":
            jsonschema.validate(answer.json(), schema)
        if answer.body[:4] == b"SMTC":
            check_columns(answer.body)
        asked += 1
    assert asked >= 2


SIZES = {"u8": 1, "u16": 2, "u32": 4, "f64": 8, "i64": 8}


def check_columns(body):
    """The container of columns, as docs/dashboard-api.md has it."""
    import json
    magic, version, length = struct.unpack_from("<4sII", body)
    assert (magic, version) == (b"SMTC", 1)
    header = json.loads(body[12:12 + length])
    at = 12 + length
    assert at % 8 == 0
    for column in header["columns"]:
        at += -(-header["rows"] * SIZES[column["type"]] // 8) * 8
    assert at == len(body)


def test_what_is_not_there_is_an_error_of_json(dashboard):
    described = description(dashboard)
    for method, path, operation in operations(described):
        if method != "GET" or "{run}" not in path:
            continue
        answer = dashboard.get(path.format(run=99, job=1, attempt=1))
        assert answer.status in (404, 501), (path, answer.body)
        _, schema = schema_of(
            described, operation["responses"]["default"]["content"])
        jsonschema.validate(answer.json(), schema)


def test_each_route_keeps_out_who_may_not(dashboard):
    for method, path, operation in operations(description(dashboard)):
        role = operation["x-role"]
        path = path.format(**IDS)
        if role == "anyone":
            continue
        answer = dashboard.ask(method, path, role=None)
        assert (answer.status, answer.error()) == (401, "not_logged_in"), path
        if role == "operator":
            answer = dashboard.ask(method, path, {}, role="viewer")
            assert (answer.status, answer.error()) == (403, "forbidden"), path


def test_queries_are_held_to_their_bounds(dashboard):
    for method, path, operation in operations(description(dashboard)):
        if method != "GET":
            continue
        path = path.format(**IDS)
        assert dashboard.get(path + "?no_such=1").status == 400, path
        for parameter in operation["parameters"]:
            schema = parameter["schema"]
            if parameter["in"] != "query" or schema["type"] != "integer":
                continue
            for bad in (schema["minimum"] - 1, "x", "1e3", "", "0x1", " 1"):
                answer = dashboard.get(
                    f"{path}?{parameter['name']}={bad}".replace(" ", "%20"))
                assert (answer.status, answer.error()) == (
                    400, "bad_request"), (path, bad)
                assert parameter["name"] in answer.json()["error"]["text"]
