# SPDX-License-Identifier: GPL-3.0-or-later
"""A run as one file, opened in Chromium without a server or a network. The
console of the browser has to stay empty: there is no breach of the policy."""

import pytest

EVIL = "</script><script>document.title = 'broken'</script>"

EXPERIMENT = f"""
version: 1
name: tune
objective: loss
parameters:
  lr: {{type: float, min: 1.0e-4, max: 1.0, scale: log}}
  kind: {{type: categorical, values: [sgd, adam, "{EVIL}"]}}
search: {{method: random, seed: 1}}
budget: {{trials: 20, parallel: 2}}
trial:
  shell: >-
    for i in 1 2 3; do echo epoch=$i loss=${{{{ lr }}}}; done;
    echo "{EVIL}"
"""


@pytest.fixture
def file(page, smtune):
    """file(run, path): shows a path of the run's page in a file."""
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd(
        "Network.setBlockedURLs", {"urls": ["http://*", "https://*"]})
    made = {}

    def show(run, path=""):
        if run not in made:
            made[run] = smtune.directory / f"{run}.html"
            smtune.ok("export", run, "--format", "html", "-o", made[run])
        page.driver.get("about:blank")
        page.driver.get(f"file://{made[run]}" + (f"#{path}" if path else ""))
        return page
    yield show
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


def test_a_file_shows_its_run(smtune, write, file):
    smtune.ok("run", write("exp.yaml", EXPERIMENT))
    page = file("tune")
    page.see("20 succeeded").see("complete", "header")
    assert page.js("return location.hash") == "#/runs/1"
    page.picture("export-run")
    for view in ("parallel", "history", "contour", "table"):
        file("tune", f"/runs/1/{view}").see(r"tune[\s\S]*20 succeeded")
    page = file("tune", "/runs/1/trial?trial=3")
    page.see("loss=").see("document.title")
    assert page.driver.title != "broken"
    page.picture("export-trial")


def test_a_file_of_many_trials_says_what_is_left_out(fill, file):
    fill("big", "minimize", 5000)
    page = file("big", "/runs/1/table")
    page.see("5,000").see("1 part incomplete", "header")
    assert "of 5000" in page.one("header button.tag").get_attribute("data-tip")
