#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How quick the dashboard's page is, in Chromium: what a person waits for.

    tests/bench/dashboard_page.py [--trials N] [--large N] PROGRAMS

Nothing here knows how the page draws: a picture is there when something was
painted on a canvas of the document and the frame after that has begun, and a
frame is what requestAnimationFrame says.
"""

import argparse
import contextlib
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from dashboard import Server, fill

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/browser"), str(ROOT / "tests/e2e")]
from waiting import wait_until  # noqa: E402

PICTURES = 5
LIVE_SECONDS, PER_SECOND = 15, 20
BARS = {"picture_ms": 1000, "frame_ms": 1000 / 30, "lines_ms": 1000 / 30,
        "tab_mib": 300, "shown_ms": 500}

# In every page before its own scripts.
HOOK = """
(() => {
  const told = { picture: 0 };
  const painted = (canvas) => {
    if (told.picture || told.isWaiting) return;
    if (!(canvas instanceof HTMLCanvasElement) || !canvas.isConnected) return;
    told.isWaiting = true;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      told.picture = performance.now();
    }));
  };
  const wrap = (prototype, name) => {
    const plain = prototype[name];
    prototype[name] = function (...words) {
      painted(this.canvas);
      return plain.apply(this, words);
    };
  };
  for (const name of ["stroke", "fill", "fillRect", "drawImage", "putImageData"])
    wrap(CanvasRenderingContext2D.prototype, name);
  window.__told = told;
})();
"""

# A brush of an axis, dragged down and up again, a step a frame; what is told are
# the times of the frames, and those at which the page had a new picture of the
# lines. A pointer that is none cannot be captured.
BRUSH = """
const [index, steps, done] = arguments;
const axis = document.querySelectorAll(".pc-hit")[index];
const lines = document.querySelector(".pc-lines");
const { left, width, top, bottom } = axis.getBoundingClientRect();
const middle = (top + bottom) / 2;
const frames = [], pictures = [];
const watch = new MutationObserver(() => pictures.push(performance.now()));
watch.observe(lines, { attributes: true, attributeFilter: ["data-painted"] });
axis.setPointerCapture = () => undefined;
const pointer = (kind, y) => axis.dispatchEvent(new PointerEvent(kind, {
  bubbles: true, isPrimary: true, button: 0, buttons: 1, pointerId: 1,
  clientX: left + width / 2, clientY: y }));
pointer("pointerdown", middle);
const step = (now) => {
  frames.push(now);
  const part = 1 - Math.abs(2 * frames.length / steps - 1);
  pointer("pointermove", middle + 5 + part * (bottom - middle - 10));
  if (frames.length < steps) return requestAnimationFrame(step);
  pointer("pointerup", middle + 5);
  watch.disconnect();
  delete axis.setPointerCapture;
  done([frames, pictures]);
};
requestAnimationFrame(step);
"""


def prepare(driver):
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument",
                           {"source": HOOK})


def first_picture_ms(driver, address, timeout_s=60):
    """From the moment that the page is asked for, the cache empty."""
    driver.get("about:blank")
    driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    driver.get(address)
    return wait_until(lambda: driver.execute_script(
        "return window.__told.picture"), timeout_s, "a picture")


def between(times):
    return [b - a for a, b in zip(times, times[1:])]


def brush(driver, index, steps=240):
    """Drags a brush along an axis of the parallel coordinates; the times, in
    ms, between frames and between pictures meanwhile."""
    frames, pictures = driver.execute_async_script(BRUSH, index, steps)
    return between(frames), between(pictures)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rate(times):
    return 1000 * len(times) / sum(times)


def told(values):
    return (f"{statistics.median(values):.0f} ms (median), "
            f"{percentile(values, 0.95):.0f} ms (95 %), {max(values):.0f} ms "
            f"(largest) of {len(values)}")


def tab_bytes(driver):
    """Memory of the page's process that is its own, or its share of what it has
    with others (PSS)."""
    pid = driver.service.process.pid
    largest = max((pss(child) for child in below(pid)
                   if "--type=renderer" in command(child)), default=0)
    return largest


def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def below(pid):
    parents = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, queue = [], [pid]
    while queue:
        children = parents.get(queue.pop(), [])
        found += children
        queue += children
    return found


def pss(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return int(re.search(r"^Pss:\s+(\d+) kB", text, re.M)[1]) * 1024


def watch_text(driver, css, pattern):
    """From now on the page keeps when the first group of the pattern was shown
    with which number."""
    driver.execute_script("""
        const [css, pattern] = arguments;
        const seen = window.__seen = [];
        const look = () => {
          const found = new RegExp(pattern).exec(
            document.querySelector(css)?.textContent ?? "");
          const number = Number(found?.[1].replace(/,/g, ""));
          if (found && number !== seen.at(-1)?.[0])
            seen.push([number, Date.now()]);
        };
        new MutationObserver(look).observe(document.body,
          { subtree: true, childList: true, characterData: true });
        look();
    """, css, pattern)


def watched(driver):
    return json.loads(driver.execute_script(
        "return JSON.stringify(window.__seen)"))


def measure_pictures(driver, address):
    """The first time its server knows nothing of the run yet."""
    cold = first_picture_ms(driver, f"{address}/#/runs/1/overview")
    warm = [first_picture_ms(driver, f"{address}/#/runs/1/overview")
            for _ in range(PICTURES)]
    print(f"first picture: {cold:.0f} ms where the server has just begun, then "
          f"{told(warm)}")
    return max(cold, *warm)


def measure_brush(driver, page, address):
    driver.get("about:blank")
    driver.get(f"{address}/#/runs/1/parallel")
    page.see("trials over", timeout=300)
    time.sleep(2)  # what the load leaves to do is not measured
    frames, pictures = brush(driver, 0)
    page.see(r"filtered out", timeout=60)
    for name, times in ("frames", frames), ("pictures of lines", pictures):
        print(f"{name} while an axis is brushed: {told(times)}, "
              f"{rate(times):.0f} a second")
    return {"frame_ms": statistics.mean(frames),
            "lines_ms": statistics.mean(pictures)}


def measure_live(driver, page, address, programs, store):
    """From the commit of a trial until the page says that there are so many."""
    driver.get("about:blank")
    driver.get(f"{address}/#/runs/1/overview")
    page.see("succeeded", timeout=60)
    time.sleep(2)  # nor here
    watch_text(driver, ".run-head", r"([\d,]+) succeeded")
    before = watched(driver)[0][0]
    filler = subprocess.run(
        [programs / "fill_many", store, str(PER_SECOND * LIVE_SECONDS),
         str(PER_SECOND)], stdout=subprocess.PIPE, text=True, check=True)
    commits = [int(line.split()[1]) / 1e6
               for line in filler.stdout.splitlines()]
    with contextlib.suppress(AssertionError):  # what is not seen took for ever
        wait_until(lambda: watched(driver)[-1][0] >= before + len(commits), 5)
    seen = watched(driver)
    waits = [next((at for count, at in seen if count >= before + i + 1),
                  float("inf")) - commit for i, commit in enumerate(commits)]
    print(f"commit to screen: {told(waits)}")
    return max(waits)


@contextlib.contextmanager
def browsing(programs, store):
    """A browser that is let into a server of that store: driver, page and the
    server's address."""
    from page import Page, start_browser
    folder = tempfile.mkdtemp(prefix="smtune-browser-")
    server = Server(programs, store)
    driver = start_browser(folder)
    try:
        prepare(driver)
        page = Page(driver)
        address = f"http://{server.host}:{server.port}"
        page.login(server.viewer)
        page.see("many")
        yield driver, page, address
    finally:
        driver.quit()
        server.end()
        shutil.rmtree(folder, ignore_errors=True)


def measure(programs, store):
    with browsing(programs, store) as (driver, page, address):
        result = {"picture_ms": measure_pictures(driver, address),
                  **measure_brush(driver, page, address)}
        result["tab_mib"] = tab_bytes(driver) / 2**20
        print(f"memory of the tab: {result['tab_mib']:.0f} MiB")
        result["shown_ms"] = measure_live(driver, page, address, programs,
                                          store)
        return result


def measure_large(programs, trials):
    """So many as nobody looks at every day: no bars, but it has to work."""
    with tempfile.TemporaryDirectory(prefix="smtune-bench-") as store:
        fill(programs, store, trials)
        with browsing(programs, store) as (driver, page, address):
            cold = first_picture_ms(driver, f"{address}/#/runs/1/overview", 300)
            warm = first_picture_ms(driver, f"{address}/#/runs/1/overview", 300)
            print(f"first picture of {trials}: {cold:.0f} ms where the server "
                  f"has just begun, then {warm:.0f} ms")
            measure_brush(driver, page, address)
            print(f"memory of the tab: {tab_bytes(driver) / 2**20:.0f} MiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--large", type=int, default=1_000_000,
                        help="trials of the second part; 0: without it")
    parser.add_argument("programs", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="smtune-bench-") as store:
        fill(options.programs, store, options.trials)
        result = measure(options.programs, store)
    if options.large > 0:
        measure_large(options.programs, options.large)
    missed = [f"{name} {result[name]:.1f} is over {bar:.1f}"
              for name, bar in BARS.items() if result[name] > bar]
    print("\n".join(missed) or "all bars are met")
    return 1 if missed and options.trials <= 100_000 else 0


if __name__ == "__main__":
    sys.exit(main())
