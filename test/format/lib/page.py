"""Look at a page as a person would, in headless Chromium, over its DevTools protocol (by a pipe).

    with Page("file:///tmp/out.html") as p:
        p.js("document.title"); p.click("#reset"); p.type("#search", "read"); p.shot("out.png")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


class Page:
    def __init__(self, url, width=1280, height=720, dark=False):
        self.dir = tempfile.mkdtemp(prefix="page.")
        to, self.w = os.pipe()
        self.r, back = os.pipe()
        self.p = subprocess.Popen(
            ["bash", "-c", 'exec 3<&%d 4>&%d; exec "$@"' % (to, back), "-", "chromium", "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run", "--disable-extensions",
             "--hide-scrollbars", "--user-data-dir=" + self.dir, "about:blank"],
            pass_fds=(to, back), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.dir))
        os.close(to)
        os.close(back)
        self.number, self.buffer, self.session, self.problems, self.events = 0, b"", None, [], []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.requests = []
        self.call("Page.navigate", url=url)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.wait()
        link = self.dir + "/SingletonSocket"  # what it leads to is in /tmp
        if os.path.islink(link):
            shutil.rmtree(os.path.dirname(os.readlink(link)), ignore_errors=True)
        shutil.rmtree(self.dir, ignore_errors=True)

    def read(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.r, 1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\0", 1)
        m = json.loads(line)
        if "method" in m:
            self.events.append(m)
            if m["method"] == "Runtime.exceptionThrown":
                self.problems.append(m["params"]["exceptionDetails"].get("exception", {}).get("description", "?"))
            if m["method"] == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
                self.problems.append(m["params"]["entry"]["text"])
            if m["method"] == "Page.javascriptDialogOpening":
                self.problems.append("a dialogue opened")
            if m["method"] == "Network.requestWillBeSent":
                self.requests.append(m["params"]["request"]["url"])
        return m

    def call(self, method, **params):
        self.number += 1
        m = {"id": self.number, "method": method, "params": params}
        if self.session:
            m["sessionId"] = self.session
        os.write(self.w, json.dumps(m).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def js(self, text):
        result = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (text, result["exceptionDetails"]["exception"]["description"]))
        return result["result"].get("value")

    def until(self, text, what, seconds=100):
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.js(text):
            if time.monotonic() > end:
                raise RuntimeError("waited in vain for: " + what)
            time.sleep(.05)

    def place(self, selector):
        """The middle of the first element that matches, which is scrolled into view."""
        box = self.js("""(() => { const e = document.querySelector(%s), box = () => e.getBoundingClientRect();
            if (box().top < 0 || box().bottom > innerHeight) e.scrollIntoView({ block: "center" });
            return [box().x + box().width / 2, box().y + box().height / 2]; })()""" % json.dumps(selector))
        return {"x": box[0], "y": box[1]}

    def move(self, selector):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **self.place(selector))

    def click(self, selector):
        at = self.place(selector)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def type(self, selector, text):
        self.click(selector)
        self.js("document.querySelector(%s).select()" % json.dumps(selector))
        self.call("Input.insertText", text=text)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key)

    def shot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
