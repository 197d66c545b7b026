"""dtrace --serve and those who look at it, for tests.

    with Serving([dtrace, "-n", "..."]) as s:
        status, text, headers = s.get(s.base + "metrics")
        stream = s.stream("stream"); stream.until("frame")
"""
import http.client
import re
import subprocess
import sys
import tempfile
import time


def expect(want, got, what):
    if want != got:
        sys.exit("%s:\n%r\ninstead of\n%r" % (what, got, want))


class Stream:
    """The lines of an answer that does not end."""
    def __init__(self, response):
        self.response = response

    def line(self):
        return self.response.readline().decode().rstrip("\n")

    def until(self, event):
        """The data of the next such server-sent event."""
        name = None
        while True:
            line = self.line()
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: ") and name == event:
                return line[6:]

    def rest(self):
        return self.response.read()


class Serving:
    def __init__(self, command, where=None):
        self.err = tempfile.TemporaryFile("w+")
        serve = "--serve" if where is None else "--serve=" + where
        self.p = subprocess.Popen(command + [serve], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.err)
        self.open = []
        m = self.says(r"serving http://(.*):(\d+)(/\w+/)\n")
        self.host, self.port, self.base = m[1].strip("[]"), int(m[2]), m[3]

    def said(self):
        self.err.seek(0)
        return self.err.read()

    def says(self, pattern):
        """Wait until it has said that."""
        end = time.monotonic() + 100
        while True:
            m = re.search(pattern, self.said())
            if m:
                return m
            if self.p.poll() is not None or time.monotonic() > end:
                sys.exit("it does not say %r: %s" % (pattern, self.said()))
            time.sleep(.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.p.poll() is None:
            self.p.terminate()
        try:
            self.p.wait(100)
        except subprocess.TimeoutExpired:
            self.p.kill()
            sys.exit("it does not end")

    def get(self, path, method="GET", body=None, host=None):
        c = http.client.HTTPConnection(host or self.host, self.port, timeout=100)
        c.request(method, path, body)
        r = c.getresponse()
        answer = r.status, r.read(), r.headers
        c.close()
        return answer

    def stream(self, name):
        c = http.client.HTTPConnection(self.host, self.port, timeout=100)
        c.request("GET", self.base + name)
        self.open.append(c)
        return Stream(c.getresponse())
