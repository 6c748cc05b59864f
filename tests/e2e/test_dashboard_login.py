# SPDX-License-Identifier: GPL-3.0-or-later
"""How browsers and programs are let in to the dashboard, and until when."""

import contextlib
import http.client
import os
import pathlib
import shlex
import shutil
import signal
import socket
import stat
import subprocess

import pytest

from dashboards import Browser, Dashboard, dashboard, filled
from programs import wait_until
from proxies import PythonProxy

SESSION = "/api/v1/session"


def role_of(browser):
    answer = browser.get(SESSION)
    return answer.json()["role"] if answer.status == 200 else answer.status


@contextlib.contextmanager
def frozen(dashboard):
    """It does nothing meanwhile."""
    dashboard.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        dashboard.process.send_signal(signal.SIGCONT)


# ---- the address for the operator ----

@pytest.mark.quick
@pytest.mark.sanitized
def test_the_operators_address_can_be_used_once(dashboard):
    url = dashboard.urls["operator"]
    assert url.startswith(f"http://{dashboard.netloc}/login#")
    browser = Browser(dashboard, dashboard.log_in(url))
    assert role_of(browser) == "operator"
    again = dashboard.log_in(url)
    assert (again.status, again.error()) == (401, "not_logged_in")
    assert "smtune dashboard --login" in again.json()["error"]["text"]
    assert "Set-Cookie" not in again.headers
    assert role_of(browser) == "operator"


def test_another_command_prints_a_new_address(dashboard):
    urls = [dashboard.new_urls() for _ in range(2)]
    assert urls[0]["operator"] != urls[1]["operator"]
    for key in ("store", "viewer", "tokens"):
        assert urls[0][key] == urls[1][key] == dashboard.urls[key]
    browsers = [Browser(dashboard, dashboard.log_in(url["operator"]))
                for url in (*urls, dashboard.urls)]
    assert [role_of(browser) for browser in browsers] == ["operator"] * 3


def test_a_program_cannot_use_the_address_as_a_token(dashboard):
    for url in (dashboard.urls["operator"], dashboard.urls["viewer"]):
        answer = dashboard.get(SESSION, role=None, headers={
            "Authorization": f"Bearer {url.partition('#')[2]}"})
        assert answer.status == 401
    # A look at the page, which a preview of the link takes, uses nothing up.
    for method in ("GET", "HEAD"):
        assert dashboard.ask(method, "/login", role=None).status == 200
    assert dashboard.log_in(dashboard.urls["operator"]).status == 200


@pytest.mark.parametrize("code", ["", "x", 32 * "0", 64 * "0", "../operator"])
def test_no_other_code_lets_in(dashboard, code):
    assert dashboard.log_in(f"#{code}").status == 401


@pytest.mark.parametrize("headers", [
    {"Origin": None}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site"}])
def test_no_other_page_logs_a_browser_in(dashboard, headers):
    assert dashboard.log_in(dashboard.urls["viewer"], **headers).status == 403


# ---- the session ----

def test_the_cookie_is_for_the_paths_of_its_session(dashboard):
    one, other = dashboard.browser("operator"), dashboard.browser("viewer")
    assert one.attributes == {f"Path={one.prefix}/", "HttpOnly",
                              "SameSite=Strict"}
    assert (role_of(one), role_of(other)) == ("operator", "viewer")
    assert one.prefix != other.prefix


@pytest.mark.sanitized
def test_the_cookie_is_no_token(dashboard):
    browser = dashboard.browser("operator")
    secret = browser.cookie.partition("=")[2]
    for path, headers in [
            (SESSION, {"Cookie": browser.cookie}),
            (SESSION, {"Authorization": f"Bearer {secret}"}),
            # With what a browser would send for its own page.
            (SESSION, {"Cookie": browser.cookie,
                       "Sec-Fetch-Site": "same-origin"}),
            (browser.prefix + SESSION, {}),
            (dashboard.browser("operator").prefix + SESSION,
             {"Cookie": browser.cookie}),
            (browser.prefix + SESSION, {
                "Authorization": f"Bearer {dashboard.tokens['operator']}"})]:
        answer = dashboard.get(path, role=None, headers=headers)
        assert (answer.status, answer.error()) == (401, "not_logged_in"), path
    assert role_of(browser) == "operator"


def test_another_servers_cookie_of_that_name_does_no_harm(dashboard):
    browser = dashboard.browser("operator")
    browser.cookie = f"smtune=theirs; a=b; {browser.cookie}"
    assert role_of(browser) == "operator"


def test_sessions_end_with_the_dashboard(filled, dashboard):
    browsers = [dashboard.browser(role) for role in ("operator", "viewer")]
    dashboard.end()
    with Dashboard(filled, port=dashboard.port) as again:
        for browser in browsers:
            browser.dashboard = again
            assert role_of(browser) == 401
        # Nor is anything left of the old one's addresses and tokens.
        assert again.log_in(dashboard.urls["operator"]).status == 401
        answer = again.get(SESSION, role=None, headers={
            "Authorization": f"Bearer {dashboard.tokens['operator']}"})
        assert answer.status == 401


# ---- the link for viewers ----

def test_the_link_for_viewers_stays(filled, dashboard):
    url = dashboard.urls["viewer"]
    for _ in range(3):
        browser = Browser(dashboard, dashboard.log_in(url))
        assert role_of(browser) == "viewer"
    dashboard.end()
    with Dashboard(filled, port=dashboard.port) as again:
        assert again.urls["viewer"] == url
        browser = Browser(again, again.log_in(url))
        assert role_of(browser) == "viewer"


def test_the_link_is_of_one_store(filled, build, dashboard):
    other = filled.directory / "other"
    subprocess.run([build / "tests/e2e/fill_store", other, "r", "minimize",
                    "5"], check=True)
    with Dashboard(filled, "--store", other) as second:
        assert second.log_in(dashboard.urls["viewer"]).status == 401
        assert second.urls["store"] == str(other)


@pytest.mark.sanitized
def test_withdrawing_the_link_puts_viewers_out(dashboard):
    old = dashboard.urls["viewer"]
    viewer, operator = (dashboard.browser(role)
                        for role in ("viewer", "operator"))
    with dashboard.connection(60) as connection:
        connection.request("GET", viewer.prefix + "/api/v1/events",
                           headers={"Cookie": viewer.cookie})
        stream = connection.getresponse()
        assert stream.status == 200
        new = dashboard.new_urls("--withdraw")["viewer"]
        assert new != old
        with contextlib.suppress(http.client.IncompleteRead, OSError):
            while stream.readline():
                pass  # until it is ended
    wait_until(lambda: role_of(viewer) == 401, what="the end of the session")
    assert dashboard.log_in(old).status == 401
    assert role_of(Browser(dashboard, dashboard.log_in(new))) == "viewer"
    # Whom it does not concern.
    assert role_of(operator) == "operator"
    assert dashboard.get(SESSION, role="viewer").status == 200


def test_a_link_is_withdrawn_without_a_dashboard(filled):
    with Dashboard(filled) as dashboard:
        old = dashboard.urls["viewer"]
    result = filled("dashboard", "--withdraw")
    assert (result.returncode, result.stdout) == (0, "")
    assert "no longer valid" in result.stderr
    with Dashboard(filled, port=dashboard.port) as again:
        assert again.log_in(old).status == 401
        assert again.log_in(again.urls["viewer"]).status == 200


def test_a_link_that_others_can_read_is_withdrawn(filled):
    with Dashboard(filled) as dashboard:
        old = dashboard.urls["viewer"]
    path = filled.store / f"viewer-link-{os.geteuid()}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    with Dashboard(filled, port=dashboard.port) as again:
        assert again.log_in(old).status == 401
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_store_that_is_not_writable_has_a_link_until_the_end(filled):
    filled.store.chmod(0o500)
    try:
        with Dashboard(filled) as dashboard:
            url = dashboard.urls["viewer"]
            assert dashboard.new_urls()["viewer"] == url
            assert dashboard.log_in(url).status == 200
            assert dashboard.new_urls("--withdraw")["viewer"] != url
            wait_until(lambda: dashboard.log_in(url).status == 401,
                       what="the end of the address")
    finally:
        filled.store.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_store_that_is_writable_later_does_not_change_the_link(filled):
    filled.store.chmod(0o500)
    try:
        with Dashboard(filled) as dashboard:
            url = dashboard.urls["viewer"]
            filled.store.chmod(0o700)
            assert dashboard.new_urls()["viewer"] == url
            new = dashboard.new_urls("--withdraw")["viewer"]
            assert new != url
            wait_until(lambda: dashboard.log_in(url).status == 401,
                       what="the end of the address")
            assert dashboard.log_in(new).status == 200
    finally:
        filled.store.chmod(0o700)


# ---- tokens in files ----

def test_tokens_are_in_files_of_the_user(dashboard, filled):
    folder = pathlib.Path(dashboard.urls["tokens"])
    assert folder.is_relative_to(filled.directory / "smtune")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for role in ("operator", "viewer"):
        file = folder / role
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        token = file.read_text().strip()
        answer = dashboard.get(SESSION, role=None, headers={
            "Authorization": f"Bearer {token}"})
        assert answer.json()["role"] == role
        # It is printed nowhere, and lets no browser in.
        assert token not in str(dashboard.urls)
        assert dashboard.log_in(f"#{token}").status == 401
    dashboard.end()
    assert not folder.exists()


def test_a_killed_dashboard_leaves_nothing_to_the_next(filled):
    dashboard = Dashboard(filled).__enter__()
    dashboard.process.send_signal(signal.SIGKILL)
    dashboard.process.wait(30)
    dashboard.process.stdout.close()
    dashboard.errors.close()
    folder = pathlib.Path(dashboard.urls["tokens"])
    assert (folder / "operator").exists()
    result = filled("dashboard", "--login")
    assert (result.returncode, result.stdout) == (4, "")
    with Dashboard(filled, port=dashboard.port) as again:
        assert again.urls["tokens"] == str(folder)
        assert again.tokens["operator"] != dashboard.tokens["operator"]
        assert again.log_in(dashboard.urls["operator"]).status == 401


def test_it_is_found_again_after_its_folder_was_removed(dashboard, filled):
    """What is below $XDG_RUNTIME_DIR goes with the last logout, and what is old
    in /tmp is removed."""
    folder = pathlib.Path(dashboard.urls["tokens"])
    browser = dashboard.browser("operator")
    with frozen(dashboard):
        shutil.rmtree(filled.directory / "smtune")
    wait_until(lambda: (folder / "operator").exists(), what="the tokens")
    assert dashboard.read_token("operator") == dashboard.tokens["operator"]
    urls = filled.json("dashboard", "--login")
    assert urls["viewer"] == dashboard.urls["viewer"]
    assert dashboard.log_in(urls["operator"]).status == 200
    assert role_of(browser) == "operator"


def test_a_folder_that_others_may_write_lets_nobody_in(dashboard, filled):
    """Such a one in place of the removed one in /tmp."""
    runtime = filled.directory / "smtune"
    folder = runtime / "dashboards" / str(dashboard.port)
    with frozen(dashboard):
        shutil.rmtree(runtime)
        folder.mkdir(parents=True)
        folder.parent.chmod(0o700)
        runtime.chmod(0o777)
    result = filled("dashboard", "--login")
    assert (result.returncode, result.stdout) == (1, "")
    assert "not a private directory" in result.stderr
    assert dashboard.log_in("#" + 32 * "0").status == 401
    assert list(folder.iterdir()) == []
    runtime.chmod(0o700)
    wait_until(lambda: (folder / "operator").exists(), what="the tokens")


# ---- which dashboard ----

def test_read_only_has_an_address_for_viewers_alone(filled):
    with Dashboard(filled, "--read-only") as dashboard:
        urls = dashboard.new_urls()
        assert urls["operator"] is None
        assert dashboard.log_in(urls["viewer"]).json()["role"] == "viewer"
        folder = pathlib.Path(urls["tokens"])
        assert not (folder / "operator").exists()


def test_the_dashboard_of_a_socket(filled):
    """Its addresses are those at the end of the tunnel that it prints."""
    path = filled.directory / "s"
    with Dashboard(filled, "--socket", "s") as dashboard, \
            PythonProxy("", True, {}) as tunnel:
        for words in ([], ["--socket", path]):
            urls = filled.json("dashboard", "--login", *words)
            assert urls["socket"] == str(path)
            assert urls["operator"].startswith("http://127.0.0.1:8420/login#")
            assert urls["tokens"] == dashboard.urls["tokens"]
            *command, target = shlex.split(urls["tunnel"])
            assert command == ["ssh", "-L", f"8420:{path}"]
            assert target.endswith(f"@{socket.gethostname()}")
        tunnel.ask_at(path)
        dashboard.netloc = tunnel.url.removeprefix("http://")
        dashboard.host, dashboard.port = dashboard.netloc.split(":")
        assert role_of(dashboard.browser("operator")) == "operator"


def test_it_is_chosen_by_its_port_where_several_run(filled, dashboard):
    assert filled.json("dashboard", "--login")["tokens"] == \
        dashboard.urls["tokens"]
    with Dashboard(filled) as other:
        result = filled("dashboard", "--login")
        assert (result.returncode, result.stdout) == (2, "")
        assert "2 dashboards" in result.stderr and "--port" in result.stderr
        for one in (dashboard, other):
            assert one.new_urls()["tokens"] == one.urls["tokens"]
            assert one.log_in(one.new_urls()["operator"]).status == 200
        # An address is of one dashboard.
        assert other.log_in(dashboard.urls["operator"]).status == 401


@pytest.mark.parametrize("words, status, text", [
    (["--login"], 4, "no dashboard of yours"),
    (["--login", "--port", "1"], 4, "no dashboard of yours"),
    (["--withdraw", "--port", "1"], 4, "no dashboard of yours"),
    (["--login", "--open"], 2, "--open"),
    (["--withdraw", "--read-only"], 2, "--read-only")])
def test_there_is_none(filled, words, status, text):
    result = filled("dashboard", *words)
    assert (result.returncode, result.stdout) == (status, "")
    assert text in result.stderr


def test_nothing_is_withdrawn_where_there_is_no_store(smtune):
    result = smtune("dashboard", "--withdraw")
    assert (result.returncode, result.stdout) == (4, "")
    assert "no store" in result.stderr
