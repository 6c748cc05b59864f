# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and texts are texts: none of them is ever read as HTML or run."""

import re
import sqlite3

BAD = "<img src=x onerror=\"document.title='run'\"><b>b</b>"
ESCAPED = "<img src=x"

FILE = """\
    version: 1
    name: hostile
    objective: loss
    parameters:
      x: {type: float, min: 0, max: 1}
      kind: {type: categorical, values: ["%s", plain]}
    search: {method: grid, points: 2}
    budget: {trials: 4}
    trial:
      command: ["sh", "-c", "echo '%s'; echo loss=${{ x }}"]
    """


def test_texts_of_every_kind(smtune, write, serve, page):
    escaped = BAD.replace('"', '\\"').replace("'", "")
    smtune.ok("run", write("h.yaml", FILE % (escaped, escaped)))
    smtune.ok("note", "hostile", "-m", BAD)
    smtune.ok("tag", "hostile", "-a", "<i>tag</i>")
    with sqlite3.connect(smtune.store / "smtune.db") as db:
        db.execute("UPDATE run SET name = ?, reason = ?", (BAD, BAD))
    db.close()
    page.login(serve().operator)
    page.see(ESCAPED)
    page.picture("hostile-list")
    page.go("/runs/1")
    page.see(ESCAPED, ".run-title")
    page.see(ESCAPED, ".note")
    page.see("<i>tag</i>", ".run-title .tags")
    for link in [one.get_attribute("href") for one in page.all(".tabs a")]:
        page.go(link.split("#")[1], **{"trial": "1"})
        page.see(ESCAPED, ".run-title")
        assert not page.all("main img, main b b")
        assert page.driver.title.startswith(ESCAPED)
    page.go("/runs/1", **{"f.param:kind": "~%3Cimg%20src"})
    page.see("filtered out", ".chosen")
    assert not page.all("main img")


TURNED = "a\u202eb\u2066c\u200fd"  # shows as another name
NUMBERS = "a\\u202eb\\u2066c\\u200fd"


def test_no_text_turns_its_direction(smtune, write, serve, page):
    """In elements, in what they say, in the title, in logs and in pictures."""
    # In the file, the numbers are escapes of YAML.
    smtune.ok("run", write("h.yaml", FILE % (NUMBERS, TURNED)))
    smtune.ok("note", "hostile", "-m", TURNED)
    smtune.ok("tag", "hostile", "-a", TURNED)
    with sqlite3.connect(smtune.store / "smtune.db") as db:
        db.execute("UPDATE run SET name = ?, reason = ?", (TURNED, TURNED))
    db.close()
    page.login(serve().operator)
    page.see(re.escape(NUMBERS))
    page.go("/runs/1")
    page.see(re.escape(NUMBERS), ".run-title")
    page.see(re.escape(NUMBERS), ".note")
    page.see(re.escape(NUMBERS), ".run-title .tags")
    assert page.driver.title.startswith(NUMBERS)
    for link in [one.get_attribute("href") for one in page.all(".tabs a")]:
        page.go(link.split("#")[1], **{"trial": "1"})
        page.see(re.escape(NUMBERS), ".run-title")
        shown = page.driver.execute_script(
            "return document.body.innerText + [...document.querySelectorAll("
            "'[title],[aria-label]')].map((one) => one.title + one.ariaLabel)")
        assert not set(shown) & set("\u202e\u2066\u200f")
