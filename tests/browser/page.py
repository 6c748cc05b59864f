# SPDX-License-Identifier: GPL-3.0-or-later
"""A browser as tests use it: what is on the page, keys, pictures, troubles."""

import json
import pathlib
import re
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import (
    NoSuchElementException, StaleElementReferenceException)
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from programs import ROOT, wait_until

PICTURES = ROOT / "build/pictures"
AXE = ROOT / "dashboard/web/node_modules/axe-core/axe.min.js"
PATIENCE_S = 45  # of waiting for the page, on a machine that has much to do
FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic
    --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --hide-scrollbars --force-device-scale-factor=1
    --disable-dev-shm-usage --no-proxy-server --lang=en-US""".split()
KEYS = {"Enter": Keys.ENTER, "Escape": Keys.ESCAPE, "Tab": Keys.TAB,
        "Left": Keys.LEFT, "Right": Keys.RIGHT, "Up": Keys.UP,
        "Down": Keys.DOWN, "Space": Keys.SPACE, "Home": Keys.HOME,
        "End": Keys.END, "PageDown": Keys.PAGE_DOWN}


def start_browser(folder):
    options = Options()
    for flag in [*FLAGS, f"--user-data-dir={folder}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option(
        "prefs", {"download.default_directory": f"{folder}/downloads"})
    options.binary_location = "/usr/bin/chromium"
    driver = webdriver.Chrome(options=options,
                              service=Service("/usr/bin/chromedriver"))
    driver.downloads = pathlib.Path(f"{folder}/downloads")
    driver.set_script_timeout(60)
    return driver


class Page:
    """What a person sees and does. After the test no trouble may have been
    told to the console but what `expected` (a pattern) allows."""

    def __init__(self, driver):
        self.driver = driver
        self.expected = None
        self.address = None
        self.troubles = []
        self.size(1440, 900)
        self.dark(False)

    # ---- where we are ----

    def login(self, url):
        """Opens an address that lets the browser in, and waits until it is."""
        self.address = url.split("/login")[0].rstrip("/")
        self.driver.get(url)
        path = urllib.parse.urlsplit(self.address).path + "/"
        wait_until(lambda: self.js("return location.pathname") == path,
                   PATIENCE_S, "the page behind the login")
        return self

    def go(self, path, **query):
        """Another page by its path behind the #; waits for nothing."""
        text = "&".join(f"{key}={value}" for key, value in query.items())
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/#{path}" + (f"?{text}" if text else ""))
        return self

    def at(self, pattern, timeout=PATIENCE_S):
        """Waits until the address (behind the #, decoded) is like that."""
        wait_until(lambda: re.search(pattern, self.js(
            "return decodeURIComponent(location.hash)")), timeout,
            f"the address {pattern}")
        return self

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1,
            "mobile": False})

    def dark(self, is_dark):
        """What the system says of colours."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme",
             "value": "dark" if is_dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}]})
        # Canvases are drawn anew with the next frame.
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame("
            "() => requestAnimationFrame(() => done()))")

    # ---- what is there ----

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css, timeout=PATIENCE_S):
        """The first that is shown; waits for it."""
        def found():
            return next((one for one in self.all(css) if one.is_displayed()),
                        None)
        return wait_until(self.patiently(found), timeout, css)

    def text(self, css="main"):
        """What is to be read there; "" where there is nothing."""
        try:
            return self.driver.find_element(By.CSS_SELECTOR, css).text
        except (NoSuchElementException, StaleElementReferenceException):
            return ""

    def texts(self, css):
        return wait_until(self.patiently(
            lambda: ([one.text for one in self.all(css)],)), PATIENCE_S, css)[0]

    def see(self, pattern, css="main", timeout=PATIENCE_S):
        """Waits until a pattern is to be read there."""
        try:
            wait_until(lambda: re.search(pattern, self.text(css)), timeout)
        except AssertionError:
            raise AssertionError(f"no {pattern!r} in {css} after {timeout} s: "
                                 f"{self.text(css)[:2000]!r}") from None
        return self

    def gone(self, css, timeout=PATIENCE_S):
        wait_until(lambda: not self.all(css), timeout, f"the end of {css}")
        return self

    @staticmethod
    def patiently(function):
        """The same, but None where the page changes under it."""
        def patient():
            try:
                return function()
            except StaleElementReferenceException:
                return None
        return patient

    def js(self, script, *values):
        return self.driver.execute_script(script, *values)

    # ---- what is done ----

    def do(self, function, css, timeout=PATIENCE_S):
        """function(element) with the first that is shown; again where the page
        puts another in its place meanwhile."""
        def done():
            function(self.one(css, timeout))
            return True
        wait_until(self.patiently(done), timeout, css)
        return self

    def click(self, css, timeout=PATIENCE_S):
        def click(one):
            self.js("arguments[0].scrollIntoView({block: 'center'})", one)
            one.click()
        return self.do(click, css, timeout)

    def click_text(self, text, css="button, a"):
        """The one with that text, as it is read."""
        def clicked():
            one = next((one for one in self.all(css)
                        if one.is_displayed() and one.text.strip() == text),
                       None)
            if one is not None:
                one.click()
            return one is not None
        wait_until(self.patiently(clicked), PATIENCE_S, f"{css} {text!r}")
        return self

    def press(self, *keys):
        """Keys, by their names or as they are, where the focus is."""
        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            chain.send_keys(KEYS.get(key, key))
        chain.perform()
        return self

    def fill(self, css, text):
        """In place of what is there, as by hand. WebDriver's clear() is no input
        for the page: a page that is drawn again meanwhile puts the old text
        back, and the new one comes behind it."""
        return self.do(
            lambda one: one.send_keys(Keys.CONTROL, "a", Keys.NULL, text), css)

    def choose(self, css, text):
        return self.do(lambda one: Select(one).select_by_visible_text(text),
                       css)

    def drag(self, css, start, end):
        """With the pointer from one point to another, each as parts of the
        element's width and height from its top left."""
        one = self.one(css)
        self.js("arguments[0].scrollIntoView({block: 'center'})", one)
        box = one.rect
        def point(at):  # ActionChains counts from the middle
            return (round((at[0] - 0.5) * box["width"]),
                    round((at[1] - 0.5) * box["height"]))
        middle = [(a + b) / 2 for a, b in zip(start, end)]
        ActionChains(self.driver, duration=20) \
            .move_to_element_with_offset(one, *point(start)).click_and_hold() \
            .move_to_element_with_offset(one, *point(middle)) \
            .move_to_element_with_offset(one, *point(end)).release().perform()
        return self

    def swipe(self, css, start, end, nth=0):
        """With a finger from one point to another, as drag() says."""
        wait_until(lambda: len(self.all(css)) > nth, PATIENCE_S)
        left, top, width, height = self.js(
            "arguments[0].scrollIntoView({block: 'center', inline: 'center'});"
            "const b = arguments[0].getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height]", self.all(css)[nth])

        def touch(kind, part=None):
            points = [] if part is None else [
                {"x": left + width * (start[0] + part * (end[0] - start[0])),
                 "y": top + height * (start[1] + part * (end[1] - start[1]))}]
            self.driver.execute_cdp_cmd(
                "Input.dispatchTouchEvent",
                {"type": kind, "touchPoints": points})
        touch("touchStart", 0)
        for part in (0.1, 0.4, 0.7, 1):
            touch("touchMove", part)
        touch("touchEnd")
        return self

    def focused(self):
        """The text or label of what has the focus."""
        return self.js("const e = document.activeElement;"
                       "return e.getAttribute('aria-label') ?? e.innerText")

    def downloads(self, pattern, timeout=PATIENCE_S):
        """A file that was saved, whole; its path."""
        def found():
            return next((path for path in self.driver.downloads.glob(pattern)
                         if path.stat().st_size > 0), None)
        return wait_until(found, timeout, f"a download {pattern}")

    # ---- what is proved ----

    def picture(self, name):
        """Saves what is seen as build/pictures/NAME.png; its path."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}.png"
        self.driver.save_screenshot(str(path))
        return path

    def whole(self, name):
        """The same of all that is on the page, also below the window."""
        width = self.js("return innerWidth")
        height = self.js("return document.body.scrollHeight")
        self.size(width, height)
        wait_until(lambda: self.js("return innerHeight") == height, PATIENCE_S)
        self.js("return new Promise(done => requestAnimationFrame("
                "() => requestAnimationFrame(done)))")
        return self.picture(name)

    def pictures(self, name):
        """The same light, dark, and at the width of a phone."""
        self.picture(name)
        self.dark(True)
        self.picture(f"{name}-dark")
        self.dark(False)
        self.size(375, 812)
        self.fits()
        self.picture(f"{name}-phone")
        self.size(1440, 900)

    def fits(self):
        """Nothing of the page is beside the window, once it is drawn anew."""
        wide = "return document.documentElement.scrollWidth <= innerWidth"
        try:
            wait_until(lambda: self.js(wide), PATIENCE_S)
        except AssertionError:
            raise AssertionError(self.js(
                "return 'wider than the window: ' + "
                "[...document.querySelectorAll('body *')].filter(e => "
                "e.getBoundingClientRect().right > innerWidth + 1)"
                ".slice(0, 8).map(e => e.tagName + '.' + e.className)"
            )) from None

    def axe(self):
        """axe-core finds nothing, neither by WCAG nor by its best practices.
        Where it is not there, the end of the suite says so (conftest.py)."""
        if not AXE.exists():
            return
        # Through the protocol: the page's policy lets no script in.
        self.driver.execute_cdp_cmd("Runtime.evaluate",
                                    {"expression": AXE.read_text()})
        found = self.driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run(document, {resultTypes: ['violations']})"
            ".then(r => done(JSON.stringify(r.violations.map(v => ({"
            "id: v.id, impact: v.impact, nodes: v.nodes.slice(0, 4)"
            ".map(n => n.html.slice(0, 160) + ' ' + n.failureSummary)})))));")
        assert not json.loads(found), json.dumps(json.loads(found), indent=1)

    def read_console(self):
        self.troubles += [entry["message"]
                          for entry in self.driver.get_log("browser")
                          if entry["level"] == "SEVERE"]

    def check(self):
        """Nothing went wrong that nobody expected."""
        self.read_console()
        bad = [one for one in self.troubles
               if not (self.expected and re.search(self.expected, one))]
        assert not bad, "the console says: " + "\n".join(bad)
