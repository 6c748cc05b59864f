# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/database.md: its queries run, and it leaves nothing out."""

import json
import re
import sqlite3

import pytest

from programs import ROOT

PAGE = (ROOT / "docs/database.md").read_text()
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def database(smtune):
    for name, goal in (("fashion-mlp", "minimize"), ("other", "maximize"),
                       ("nightly", "workflow")):
        smtune.ok(".smtune", name, goal, 40, program="tests/e2e/fill_store")
    connection = sqlite3.connect(
        f"file:{smtune.store}/smtune.db?mode=ro", uri=True)
    yield connection
    connection.close()


@pytest.mark.sanitized
@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.split("\n")[0])
def test_query_of_the_page(database, query):
    assert database.execute(query).fetchall()


def test_every_table_and_column_is_described(database):
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##)", PAGE + "\n## ",
                               re.M | re.S))
    tables = [name for name, in database.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
        " AND name NOT LIKE 'sqlite_%'")]
    assert sorted(sections) == sorted(tables)
    for table in tables:
        for _, column, *_ in database.execute(f"PRAGMA table_info({table})"):
            assert f"`{column}`" in sections[table], f"{table}.{column}"


def test_no_other_column_is_described(database):
    for table, section in re.findall(r"^### (\w+)\n(.*?)(?=^##)", PAGE, re.M | re.S):
        rows = re.findall(r"^\| (`.*?`) \|", section, re.M)
        described = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        columns = [column for _, column, *_ in
                   database.execute(f"PRAGMA table_info({table})")]
        assert not rows or sorted(described) == sorted(columns), table


def test_every_state_and_cause_is_described(database):
    for table in "run", "job", "attempt":
        schema, = database.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        section = PAGE.split(f"\n### {table}\n")[1].split("\n### ")[0]
        words = re.findall(r"state = '(\w+)'", schema)
        assert words
        for word in words:
            assert f"`{word}`" in section, f"{table}: {word}"


def test_every_state_is_in_the_glossary(database):
    """Those of the tables, and what the dashboard counts."""
    states = (ROOT / "docs/glossary.md").read_text() \
        .split("\n## States\n")[1].split("\n## ")[0]
    described = set(re.findall(r"^\| `(\w+)` \|", states, re.M))
    for table in "run", "run_step", "job", "attempt":
        schema, = database.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        words = set(re.findall(r"state = '(\w+)'", schema))
        assert words and words <= described, table
    schemas = json.loads((ROOT / "dashboard/schemas.json").read_text())
    runs = schemas["Runs"]["properties"]["runs"]["items"]["properties"]
    assert set(runs["state"]["enum"]) <= described
    assert set(runs["trials"]["required"]) - {"all"} <= described


def test_the_page_knows_the_version(database):
    for pragma in "application_id", "user_version":
        value, = database.execute(f"PRAGMA {pragma}").fetchone()
        assert re.search(rf"`PRAGMA {pragma}` is[^`]*\b{value}\b", PAGE)


def test_views_say_what_the_tables_hold(database):
    one = database.execute("SELECT * FROM trial WHERE run = 'other'"
                           " AND number = 2").fetchone()
    assert one == (
        "other", 2, "succeeded", 0.5,
        '{"lr":0.05,"width":2,"optimizer":"adam","nesterov":false,'
        '"momentum":null,"decay":1.0e-05,"layers":3,"dropout":0.5,'
        '"batch":128,"epochs":27}',
        "2026-01-01T00:00:02.000Z", "2026-01-01T00:00:03.000Z", 1000, "ok",
        1, 1,
        "{}", None, None)
    assert database.execute("SELECT state, cause, attempts, value FROM trial"
                            " WHERE run = 'other' AND number = 10"
                            ).fetchone() == ("failed", "exit", 2, None)
    assert database.execute("SELECT run, goal, number, value FROM best_trial"
                            " ORDER BY run").fetchall() == [
        ("fashion-mlp", "minimize", 39, 1 / 39), ("other", "maximize", 1, 1.0)]
    assert database.execute("SELECT * FROM learning_curve WHERE run = 'other'"
                            " AND number = 2").fetchall() == [
        ("other", 2, "loss", 1, 0.5, 1, "2026-01-01T00:00:02.000Z")]
    assert database.execute("SELECT * FROM step WHERE run = 'nightly'"
                            " AND (copy IS NULL OR copy = 39)").fetchall() == [
        ("nightly", "shard", 39, None, 40, "succeeded", "ok", None,
         '{"rows":3}', None, "2026-01-01T00:00:01.000Z", 0),
        ("nightly", "train", None, None, None, "waiting", None, None, None,
         None, None, 0)]
    assert not database.execute(
        "SELECT 1 FROM trial WHERE run = 'nightly'").fetchall()
