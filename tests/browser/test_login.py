# SPDX-License-Identifier: GPL-3.0-or-later
"""How a browser is let in, and what of that others get to see."""

import contextlib
import http.server
import threading

import pytest


@pytest.fixture
def dashboard(fill, serve):
    fill("alpha", "minimize", 20)
    return serve()


@pytest.fixture
def fresh(page):
    """The browser as if it had never been anywhere."""
    page.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    return page


class Recorder(http.server.BaseHTTPRequestHandler):
    """Another program's server on the same host."""

    def do_GET(self):
        self.server.seen.append((self.path, self.headers))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        # A browser sends it to the dashboard, too.
        self.send_header("Set-Cookie", "smtune=theirs; Path=/")
        self.end_headers()
        self.wfile.write(b"<title>other</title><main>other</main>")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def other_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def cookies(page):
    """All that the browser has, of any path."""
    return page.driver.execute_cdp_cmd("Network.getAllCookies", {})["cookies"]


@pytest.mark.quick
def test_the_cookie_goes_to_no_other_port(dashboard, fresh):
    fresh.login(dashboard.operator)
    fresh.see("alpha")
    cookie, = cookies(fresh)
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert cookie["path"].startswith("/s/") and cookie["session"]
    with other_server() as other:
        fresh.expected = "favicon"
        address = f"http://127.0.0.1:{other.server_port}"
        for path in ("/", "/api/v1/session", "/s/x/api/v1/session", "/login"):
            fresh.driver.get(address + path)
            fresh.see("other")
        assert len(other.seen) >= 4
        for path, headers in other.seen:
            assert cookie["value"] not in str(headers), path
        # Nor does what it is given there keep it out here.
        fresh.driver.get(fresh.address + "/")
        fresh.see("alpha")
    assert cookie["path"].strip("/").partition("/")[2] not in \
        fresh.driver.current_url


def test_a_page_of_another_port_reads_nothing(dashboard, fresh):
    fresh.login(dashboard.operator)
    fresh.see("alpha")
    path = cookies(fresh)[0]["path"]
    with other_server() as other:
        fresh.expected = "CORS|ERR_FAILED|403|favicon"
        fresh.driver.get(f"http://127.0.0.1:{other.server_port}/")
        assert fresh.js("return localStorage.length") == 0
        # Even one that was told the key.
        status = fresh.driver.execute_async_script(
            """const [url, done] = arguments;
            fetch(url, {credentials: "include"})
              .then((answer) => done(answer.status), () => done("refused"))""",
            f"{fresh.address}{path}api/v1/session")
        assert status == "refused"


def test_an_address_is_used_up(dashboard, fresh):
    url = dashboard.operator
    fresh.login(url)
    fresh.see("alpha")
    # Here it has let in already.
    fresh.expected = "401"
    fresh.driver.get("about:blank")
    fresh.login(url)
    fresh.see("alpha")
    # Elsewhere it lets in nobody.
    fresh.driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
    fresh.driver.get("about:blank")
    fresh.driver.get(url)
    fresh.see("Not logged in")
    fresh.see("smtune dashboard --login")
    fresh.pictures("used-address")
    fresh.axe()
    # A new one in the same tab, which changes what is behind the # alone.
    fresh.login(dashboard.operator)
    fresh.see("alpha")


def test_the_page_shows_nothing_before_it_is_refused(dashboard, fresh):
    def block(*urls):
        fresh.driver.execute_cdp_cmd("Network.setBlockedURLs",
                                     {"urls": list(urls)})

    fresh.expected = "ERR_BLOCKED"
    fresh.driver.execute_cdp_cmd("Network.enable", {})
    block("*/login.js")
    try:
        fresh.driver.get(f"http://127.0.0.1:{dashboard.port}/login")
        assert fresh.text("body") == ""
    finally:
        block()


def test_a_viewers_address_stays_until_it_is_withdrawn(
        dashboard, fresh, smtune):
    url = dashboard.viewer
    for _ in range(2):
        fresh.driver.get("about:blank")
        fresh.login(url)
        fresh.see("read-only", ".topbar")
    fresh.see("live", ".topbar")
    fresh.expected = "ERR_|401"
    smtune.ok("dashboard", "--withdraw")
    fresh.see("Not logged in")
    fresh.driver.get("about:blank")
    fresh.driver.get(url)
    fresh.see("is no longer valid")
    fresh.login(smtune.json("dashboard", "--login")["viewer"])
    fresh.see("alpha")


def test_two_dashboards_in_one_browser(dashboard, serve, fresh):
    other = serve("--read-only")
    fresh.login(dashboard.operator)
    fresh.see("alpha")
    fresh.login(other.viewer)
    fresh.see("read-only", ".topbar")
    fresh.driver.get(f"http://127.0.0.1:{dashboard.port}/")
    fresh.see("alpha")
    assert "read-only" not in fresh.text(".topbar")
