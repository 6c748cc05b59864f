# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashboard behind reverse proxies that show it below a path."""

import contextlib
import http.client
import re
import socket
import urllib.parse

import pytest

from dashboards import Browser, Dashboard, filled
from proxies import NGINX, NginxProxy, PythonProxy, free_port

SESSION = "/api/v1/session"
NOTE = "/api/v1/runs/1/note"
PATH = "/user/you%40example.org/proxy/8420"

KINDS = ["python-keeps", "python-strips"] + [
    pytest.param(kind, marks=pytest.mark.skipif(
        NGINX is None, reason="there is no nginx here"))
    for kind in ("nginx-keeps", "nginx-strips")]


def make_proxy(kind, folder):
    server, _, does = kind.partition("-")
    if server == "nginx":
        return NginxProxy(PATH, does == "keeps", folder)
    # Whatever it adds about itself, the dashboard believes --base-url alone.
    return PythonProxy(PATH, does == "keeps", {
        "X-Forwarded-Host": "evil.example", "X-Forwarded-Prefix": "/evil",
        "X-Forwarded-Proto": "https", "Forwarded": "host=evil.example"})


def place_of(url):
    address = urllib.parse.urlsplit(url)
    return address.hostname, address.port


@contextlib.contextmanager
def behind(smtune, proxy, *words):
    """A Dashboard that is asked through the proxy."""
    with proxy, Dashboard(smtune, "--base-url", proxy.url + "/",
                          *words) as dashboard:
        about = dashboard.about()
        proxy.ask_at(about["socket"] or place_of(about["url"]))
        yield dashboard


def answer_of(place, headers, path="/"):
    """Of the dashboard itself, without a proxy."""
    connection = http.client.HTTPConnection(*place, timeout=30)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        return connection.getresponse()


@pytest.fixture
def proxied(filled, tmp_path):
    with behind(filled, make_proxy("python-keeps", tmp_path)) as dashboard:
        yield dashboard


# ---- the page, through each proxy ----

def check_addresses(dashboard, base):
    for urls in (dashboard.urls, dashboard.smtune.json("dashboard", "--login")):
        for role in ("operator", "viewer"):
            assert urls[role].startswith(f"{base}login#")


def check_files(dashboard, base):
    """All that the page loads is below the path."""
    for name in ("", "login"):
        page = dashboard.get("/" + name, role=None)
        links = re.findall(r'(?:src|href)="(?!data:)([^"]+)"',
                           page.body.decode())
        assert page.status == 200 and links
        for link in links:
            url = urllib.parse.urljoin(base + name, link)
            assert url.startswith(base)
            answer = dashboard.get(url.removeprefix(base[:-1]), role=None)
            assert answer.status == 200 and len(answer.body) > 100


@pytest.mark.quick
@pytest.mark.sanitized
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_works_below_the_path(filled, tmp_path, kind):
    with behind(filled, make_proxy(kind, tmp_path)) as dashboard:
        base = f"http://{dashboard.netloc}{PATH}/"
        check_addresses(dashboard, base)
        check_files(dashboard, base)
        browser = dashboard.browser("operator")
        assert browser.attributes == {f"Path={PATH}{browser.prefix}/",
                                      "HttpOnly", "SameSite=Strict"}
        assert browser.get(SESSION).json()["role"] == "operator"
        answer = browser.post(NOTE, {"text": "seen"}, headers={
            "Origin": f"http://{dashboard.netloc}",
            "Sec-Fetch-Site": "same-origin"})
        assert answer.status == 200, answer.body
        for role in ("viewer", "operator"):  # and programs
            assert dashboard.get(SESSION, role=role).json()["role"] == role
        check_events(dashboard)


def check_events(dashboard):
    """An event comes at once, while the stream goes on."""
    browser = dashboard.browser("viewer")
    with dashboard.connection() as connection:
        connection.request(
            "GET", f"{PATH}{browser.prefix}/api/v1/events?run=1",
            headers={"Cookie": browser.cookie})
        stream = connection.getresponse()
        assert stream.headers["Content-Type"] == "text/event-stream"
        assert any(line.startswith(b"event: ")
                   for line in iter(stream.readline, b""))


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_asks_a_socket(filled, tmp_path, kind):
    path = filled.directory / "new/s"
    with behind(filled, make_proxy(kind, tmp_path), "--socket",
                path) as dashboard:
        assert dashboard.urls["tunnel"] is None
        browser = dashboard.browser("operator")
        assert browser.get(SESSION).json()["role"] == "operator"


# ---- who may ask ----

def test_no_other_page_acts(proxied):
    browser = proxied.browser("operator")
    own = f"http://{proxied.netloc}"
    for origin, site in [
            (None, None), ("null", None), (proxied.about()["url"], None),
            (own.replace("http:", "https:"), None), (own + PATH, None),
            ("http://evil.example", None), (own, "same-site"),
            (own, "cross-site")]:
        headers = {"Origin": origin, "Sec-Fetch-Site": site}
        answer = browser.post(NOTE, {"text": "x"}, headers=headers)
        assert (answer.status, answer.error()) == (403, "forbidden"), headers
        assert proxied.log_in(proxied.urls["viewer"],
                              **headers).status == 403, headers


def test_only_its_own_hosts_are_served(filled):
    """And no header of a proxy adds one."""
    port = free_port()
    base = f"https://Hub.Example.org:443/node/n12.cluster/{port}/"
    with Dashboard(filled, "--base-url", base, port=port) as dashboard:
        place = ("127.0.0.1", port)
        assert dashboard.urls["viewer"].startswith(
            f"https://hub.example.org/node/n12.cluster/{port}/login#")
        for host in ("hub.example.org", "HUB.example.org:443",
                     f"localhost:{port}", f"127.0.0.1:{port}"):
            assert answer_of(place, {"Host": host}).status == 200, host
        for host in ("evil.example", "hub.example.org:80",
                     f"n12.cluster:{port}", f"evil:{port}"):
            for headers in ({}, {"X-Forwarded-Host": "hub.example.org"},
                            {"Forwarded": "host=hub.example.org"}):
                assert answer_of(place, {
                    "Host": host, **headers}).status == 421, host


def test_behind_https_the_cookie_is_secure(filled):
    with Dashboard(filled, "--base-url", "https://hub.example.org/you",
                   ) as dashboard:
        connection = http.client.HTTPConnection(
            *place_of(dashboard.about()["url"]), timeout=30)
        with contextlib.closing(connection):
            answer = dashboard.ask(
                "POST", "/login",
                {"code": dashboard.urls["operator"].partition("#")[2]},
                role=None, connection=connection, headers={
                    "Host": "hub.example.org",
                    "Origin": "https://hub.example.org"})
        assert answer.status == 200
        browser = Browser(dashboard, answer)
        assert browser.attributes == {f"Path=/you{browser.prefix}/", "HttpOnly",
                                      "SameSite=Strict", "Secure"}


# ---- paths ----

def test_the_path_without_a_slash_leads_to_the_page(proxied):
    answer = proxied.get("", role=None)
    assert (answer.status, answer.headers["Location"]) == (308, PATH + "/")
    place = place_of(proxied.about()["url"])
    for path in (PATH + "x", PATH[:-1], PATH + "/none", PATH + PATH + "/"):
        assert answer_of(place, {}, path).status == 404
    # Programs of this machine need no path.
    assert answer_of(place, {}).status == 200


# ---- where it listens ----

def test_a_proxy_on_another_machine_needs_an_address(filled):
    port = free_port()
    base = f"http://proxy.example/rnode/n12/{port}"
    with Dashboard(filled, "--base-url", base, "--listen", "0.0.0.0",
                   port=port) as dashboard:
        # Programs of this machine ask it here.
        assert dashboard.about()["url"] == f"http://127.0.0.1:{port}"
        for host in (f"n12:{port}", "proxy.example"):
            assert answer_of(("127.0.0.2", port), {"Host": host},
                             "/login").status == 200
        assert answer_of(("127.0.0.2", port),
                         {"Host": f"n13:{port}"}).status == 421
    with Dashboard(filled, "--base-url", base, port=port):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port))


def test_a_proxy_asks_one_port(filled):
    """The next one might be another user's."""
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # somebody else has it
            taken.bind(("127.0.0.1", 8420))
            taken.listen()
        result = filled("dashboard", "--base-url", "http://h/p")
    assert (result.returncode, result.stdout) == (5, "")
    assert "port 8420" in result.stderr


@pytest.mark.parametrize("words, text", [
    (["--base-url", "/node/h/80"], "must begin with http:// or https://"),
    (["--base-url", "https://h/a;b"], "invalid path"),
    (["--listen", "0.0.0.0"], "needs --base-url"),
    (["--listen", "h", "--base-url", "http://h"], "an IP address"),
    (["--listen", "0.0.0.0", "--socket", "new/s"], "exclude each other"),
    (["--socket", "new/s", "--open"], "exclude each other"),
    (["--login", "--base-url", "http://h"], "--base-url"),
    (["--withdraw", "--listen", "0.0.0.0"], "--listen")])
def test_options_that_make_no_sense(filled, words, text):
    result = filled("dashboard", *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert text in result.stderr
    assert not (filled.directory / "new").exists()
