# SPDX-License-Identifier: GPL-3.0-or-later
"""The page where a reverse proxy shows it below a path."""

from proxies import PythonProxy


def test_the_page_is_whole_below_a_path(smtune, fill, serve, page):
    """What is loaded later, too: parts, worker, events. The console would show
    what was not found or refused."""
    fill("alpha", "minimize", 20)
    with PythonProxy("/user/you%40example.org/proxy/8420", False,
                     {}) as proxy:
        dashboard = serve("--base-url", proxy.url)
        proxy.ask_at(("127.0.0.1", dashboard.port))
        page.login(dashboard.operator)
        page.see("alpha")
        smtune.ok("tag", "alpha", "--add", "keep")
        page.see("keep")
        page.go("/runs/1/parallel")
        page.one(".pc-lines[data-painted]")
        page.go("/runs/1/logs")
        page.see("Regular expression")
        assert page.js("return location.pathname").startswith("/user/you%40")
        page.driver.get("about:blank")  # the proxy ends
