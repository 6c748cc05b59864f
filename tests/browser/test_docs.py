# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of docs/dashboard.md (`make pictures` puts them there), of the
same runs each time: those of demo/."""

import pathlib
import re
import shutil

from programs import ROOT

DEMO = pathlib.Path(__file__).parent / "demo"
PAGE = ROOT / "docs/dashboard.md"

# What is waited for in each: a word of its chart's sentence.
PICTURES = {
    "overview": ("fashion-resnet", "overview", {}, "over .* axes"),
    "parallel": ("fashion-resnet", "parallel",
                 {"f.value:val_error": "0..0.08", "f.param:depth": "2..4"},
                 "of 250 trials over"),
    "curves": ("fashion-resnet", "curves", {}, "curves of val_error"),
    "graph": ("nightly", "graph", {}, "9 steps"),
    "trial": ("fashion-resnet", "trial", {"trial": "117"}, "Reason for this setting"),
}


def test_pictures_of_the_manual(smtune, serve, page, tmp_path):
    shutil.copytree(DEMO, tmp_path, dirs_exist_ok=True)
    smtune.ok("run", "demo.yaml", timeout=120)
    smtune.ok("run", "nightly.yaml", timeout=120)
    ids = {row["name"]: row["id"] for row in smtune.json("ls")}
    page.login(serve().operator)
    page.see("nightly")
    for name, (run, view, query, words) in PICTURES.items():
        page.size(1280, 800)
        page.go(f"/runs/{ids[run]}/{view}", **query)
        page.see(words)
        page.whole(f"docs-{name}")


def test_the_manual_shows_them_all():
    shown = re.findall(r"\]\(dashboard/(\w+)\.png\)", PAGE.read_text())
    assert sorted(shown) == sorted(PICTURES)
    for name in shown:
        assert (PAGE.parent / f"dashboard/{name}.png").stat().st_size > 10_000
