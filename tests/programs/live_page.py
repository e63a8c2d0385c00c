#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks at the live page of strata serve in a headless Chromium, as a person would.

    live_page.py CHROMIUM URL FOLDER

prints a line `ok - ...` or `not ok - ...` for each check, and leaves light.png, dark.png and
metrics.png in the folder. Hardware counters are rare: what the page does with them is shown
by an answer in the place of strata's. It speaks the DevTools protocol over two pipes, so that it needs no port and
no library.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import time

PATIENCE = 120  # seconds to wait for what must come, on a slow machine


class Browser:
    """A Chromium and one page in it."""

    def __init__(self, program, profile):
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4
        command = ('exec "$0" "$@" 3<&%d 4>&%d' % (to_read, to_write))
        self.process = subprocess.Popen(
            ["bash", "-c", command, program, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update",
             "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest = b""
        self.events = []
        self.number = 0
        self.session = None
        self.stand_in = None  # an answer in the place of strata's

    def post(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return self.number

    def send(self, method, **params):
        """Asks for something and waits for the answer; events are put aside."""
        number = self.post(method, **params)
        while True:
            answer = self.hear()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            if answer.get("method") == "Fetch.requestPaused":
                self.post("Fetch.fulfillRequest", responseCode=200,
                          requestId=answer["params"]["requestId"],
                          body=base64.b64encode(json.dumps(self.stand_in).encode()).decode())
            elif "method" in answer:
                self.events.append(answer)

    def hear(self):
        while b"\0" not in self.rest:
            more = os.read(self.into, 1 << 16)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, url):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.send(part + ".enable")
        self.send("Emulation.setDeviceMetricsOverride", width=1200, height=1000,
                  deviceScaleFactor=1, mobile=False)
        self.send("Page.navigate", url=url)

    def value(self, expression):
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, expression):
        """Until the expression is true; its value, or None when patience is over."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.value(expression)
            if value:
                return value
            time.sleep(0.1)
        return None

    def screenshot(self, path):
        image = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
        except (RuntimeError, OSError):
            self.process.terminate()
        self.process.wait()


failures = 0


def check(what, good, detail=""):
    global failures
    print(("ok - page: " if good else "not ok - page: ") + what)
    if not good:
        failures += 1
        print("# " + str(detail))


CURVE = """(() => {
    const card = document.querySelector('.card:not([hidden])');
    const curve = card && card.querySelector('.curve.s0');
    const points = curve ? (curve.getAttribute('d').match(/[ML][^ML]+/g) || []) : [];
    return points.length >= 3 && {title: card.querySelector('h3').textContent,
        points: points.length, path: curve.getAttribute('d'),
        labels: [...card.querySelectorAll('text')].map((t) => t.textContent).join(' ')};
})()"""


def look(browser, url, folder):
    browser.open(url)
    first = browser.wait(CURVE)
    check("charts appear", first, browser.value("document.body.innerText"))
    if not first:
        return
    second = browser.wait("(() => { const c = %s; return c && c.points > %d && c; })()"
                          % (CURVE, first["points"]))
    check("and move: more points", second and second["path"] != first["path"], first)
    # each point of before is further to the left now
    xs = [float(p.split()[0]) for p in first["path"].replace("L", "M").split("M")[1:]]
    later = [float(p.split()[0]) for p in second["path"].replace("L", "M").split("M")[1:]]
    check("to the left", later[0] < xs[0] or xs[0] <= 48.5, (xs[:3], later[:3]))
    check("what is counted is named", browser.value("document.title").endswith("strata"))
    check("status is live", browser.wait("document.getElementById('status').textContent === 'live'"))

    box = browser.value("""(() => { const b = document.querySelector('.card:not([hidden]) svg')
        .getBoundingClientRect(); return {x: b.x, y: b.y, w: b.width, h: b.height}; })()""")
    browser.send("Input.dispatchMouseEvent", type="mouseMoved",
                 x=box["x"] + box["w"] - 14, y=box["y"] + box["h"] / 2)
    tip = browser.wait("""(() => { const tip = document.querySelector('.tip:not([hidden])');
        return tip && tip.innerText; })()""")
    check("the pointer shows values", tip and any(c.isdigit() for c in tip), tip)
    check("beside it", browser.value("""(() => {
        const tip = document.querySelector('.tip:not([hidden])').getBoundingClientRect();
        return %f - tip.right < 60 && tip.right < innerWidth; })()"""
                                     % (box["x"] + box["w"] - 14)))
    check("in all charts", browser.value(
        "document.querySelectorAll('.cursor').length === "
        "document.querySelectorAll('.card:not([hidden])').length"))
    browser.screenshot(os.path.join(folder, "light.png"))
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=5)
    check("until it leaves", browser.wait("!document.querySelector('.tip:not([hidden])')"))

    browser.value("document.querySelector('.card:not([hidden]) svg').focus()")
    browser.send("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", code="ArrowLeft")
    spoken = browser.wait("document.getElementById('spoken').textContent")
    check("keys move the cursor, and it is read out", spoken and " at " in spoken, spoken)

    missing = browser.value("document.getElementById('missing').innerText")
    check("what is not counted has a reason", "kernel" in missing or "denied" in missing or
          "unknown" in missing or not missing, missing)
    light = browser.value("getComputedStyle(document.body).backgroundColor")
    browser.value("document.getElementById('theme').click(), "
                  "document.getElementById('theme').click()")
    dark = browser.value("getComputedStyle(document.body).backgroundColor")
    check("there is a dark theme", light != dark, (light, dark))
    browser.screenshot(os.path.join(folder, "dark.png"))

    browser.value("document.getElementById('pause').click()")
    still = browser.value("document.querySelector('.curve.s0').getAttribute('d')")
    seen = browser.value("performance.getEntriesByType('resource').length")
    browser.wait("performance.getEntriesByType('resource').length > %d + 2" % seen)
    check("Pause holds the charts", still == browser.value(
        "document.querySelector('.curve.s0').getAttribute('d')"))

    bad = [e for e in browser.events if e["method"] == "Runtime.exceptionThrown" or
           (e["method"] == "Log.entryAdded" and e["params"]["entry"]["level"] == "error")]
    check("no error and no breach of its policy", not bad, bad[:2])
    asked = [e["params"]["request"]["url"] for e in browser.events
             if e["method"] == "Network.requestWillBeSent"]
    strange = [a for a in asked if not a.startswith((url, "data:"))]
    check("it asks no other host", asked and not strange, strange)


def stand_in():
    """What strata would say on a machine with hardware counters, after its process ended."""
    now = int(1000 * time.time())
    events = [{"event": name, "pmu": "", "about": "", "state": "counted", "why": None,
               "scaling": share, "user_only": False}
              for name, share in (("instructions", 1.0), ("l1d_misses", 0.5))]
    metrics = [{"name": "l1d_mpki", "label": "l1d misses", "unit": "per 1000 instructions",
                "about": "Misses of the L1 data cache per 1000 instructions.",
                "formula": "", "typical": [2.0, 5.0], "why": None}]
    samples = [{"number": i + 1, "time": now - 1000 * (100 - i), "rates": [2e9, 1e7],
                "metrics": [None if 40 < i < 60 else 3 + i % 10], "units": []}
               for i in range(100)]
    return {"schema": "strata.serve/1", "version": "0", "started": 1, "target": "process 7",
            "source": "perf", "processor": "a test", "up": False,
            "why": "process 7 has ended <b>&</b>", "interval": 1.0, "kept": 300,
            "events": events, "metrics": metrics,
            "units": [{"cpu": -1, "up": False, "why": "process 7 has ended"}],
            "samples": samples}


def look_at_stand_in(browser, url, folder):
    browser.stand_in = stand_in()
    browser.send("Fetch.enable", patterns=[{"urlPattern": "*/data.json*"}])
    browser.send("Page.navigate", url=url)
    band = browser.wait("document.querySelector('#metrics .card:not([hidden]) .band') && "
                        "document.querySelector('#metrics .value').innerText")
    check("metrics, with what is typical", band and "per 1000 instructions" in band, band)
    gaps = browser.value("document.querySelector('#metrics .curve').getAttribute('d')"
                         ".split('M').length - 1")
    check("a gap where there is no number", gaps == 2, gaps)
    said = browser.value("document.getElementById('gone').innerText")
    check("a process that has ended, in its own words", "has ended <b>&</b>" in said, said)
    check("what is scaled is said", "on a counter 50.0% of the time" in
          browser.value("document.getElementById('events').innerText"))
    browser.screenshot(os.path.join(folder, "metrics.png"))


def main():
    program, url, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(program, profile)
        try:
            look(browser, url, folder)
            look_at_stand_in(browser, url, folder)
        finally:
            browser.close()
    return failures > 0


sys.exit(main())
