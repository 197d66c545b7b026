"""A command on a terminal of its own, and what is on its screen: the few control sequences that dtrace uses; any other is an
error.

    t = Terminal(["dtrace", "--top", ...], 80, 24)
    t.until(lambda: "ready" in t.text()); t.type("q"); t.end()
"""
import fcntl
import html
import os
import pty
import re
import select
import signal
import struct
import termios
import time


class Cell(str):
    """A character, and its style."""


class Terminal:
    def __init__(self, command, columns, rows, env=None):
        self.rows, self.columns = rows, columns
        self.screens = {False: self.blank(), True: self.blank()}
        self.style = ""  # of what is written now, as CSS
        self.overflowed = False  # something was written past an end of the screen
        self.other, self.cursor, self.x, self.y, self.rest, self.log = False, True, 0, 0, "", ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            time.sleep(0.01)
            os.execvpe(command[0], command, dict(os.environ, TERM="xterm-256color", **(env or {})))
        self.resize(columns, rows)

    def blank(self):
        return [[" "] * self.columns for _ in range(self.rows)]

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.screens = {False: self.blank(), True: self.blank()}
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        """Is it line by line, with echo?"""
        flags = termios.tcgetattr(self.fd)[3]
        return bool(flags & termios.ICANON), bool(flags & termios.ECHO)

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\033":
                m = re.compile(r"\033\[([?\d;]*)([A-Za-z])").match(text, at)
                if not m:
                    if len(text) - at > 20:
                        raise RuntimeError("unknown sequence %r" % text[at:at + 20])
                    self.rest = text[at:]
                    return
                self.act(m[1], m[2])
                at = m.end()
                continue
            at += 1
            if c == "\r":
                self.x = 0
            elif c == "\n":
                if self.y + 1 == self.rows:
                    self.screen().pop(0)
                    self.screen().append([" "] * self.columns)
                else:
                    self.y += 1
            elif c == "\b":
                self.x = max(0, self.x - 1)
            else:
                if c < " ":
                    raise RuntimeError("control character %r" % c)
                if self.x < self.columns:
                    self.screen()[self.y][self.x] = Cell(c)
                    self.screen()[self.y][self.x].style = self.style
                    self.x += 1
                else:
                    self.overflowed = True

    def screen(self):
        return self.screens[self.other]

    def act(self, args, letter):
        if (args, letter) in (("?1049", "h"), ("?1049", "l")):
            self.other = letter == "h"
            self.x = self.y = 0
        elif args == "?25":
            self.cursor = letter == "h"
        elif letter == "H":
            self.y, self.x = [int(n) - 1 for n in (args or "1;1").split(";")]
            if self.y >= self.rows:
                self.y, self.overflowed = self.rows - 1, True
        elif letter == "K":
            self.screen()[self.y][self.x:] = [" "] * (self.columns - self.x)
        elif letter == "J":
            self.screen()[self.y][self.x:] = [" "] * (self.columns - self.x)
            for row in range(self.y + 1, self.rows):
                self.screen()[row] = [" "] * self.columns
        elif letter == "m":
            self.attributes(args)
        else:
            raise RuntimeError("unknown sequence %s%s" % (args, letter))

    def attributes(self, args):
        words = (args or "0").split(";")
        if words == ["0"]:
            self.style = ""
        elif words == ["1"]:
            self.style += "font-weight: bold;"
        elif words == ["7"]:
            self.style += "background: #d0d0d0; color: #181818;"
        elif words[:2] == ["48", "5"]:
            n = int(words[2])
            level = lambda i: 0 if i == 0 else 55 + 40 * i
            grey = 8 + 10 * (n - 232)
            r, g, b = (grey, grey, grey) if n >= 232 else (level((n - 16) // 36), level((n - 16) // 6 % 6), level((n - 16) % 6))
            self.style += "background: rgb(%d, %d, %d);" % (r, g, b)
        elif words in (["30"], ["36"]):
            self.style += "color: %s;" % {"30": "#101010", "36": "#2fb5b5"}[words[0]]
        else:
            raise RuntimeError("unknown attribute %s" % args)

    def page(self):
        """The screen as HTML, for a picture."""
        rows = ("".join('<span style="%s">%s</span>' % (getattr(c, "style", ""), html.escape(c)) for c in row) for row in self.screen())
        return ('<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0; padding: 12px; background: #181818; color: #d8d8d8">'
                '<pre style="margin: 0; font: 14px/1.25 DejaVu Sans Mono, monospace">%s</pre>' % "\n".join(rows))

    def line(self, i):
        return "".join(self.screen()[i]).rstrip()

    def text(self):
        return "\n".join(self.line(i) for i in range(self.rows)).rstrip()

    def read(self, wait=0.05):
        """False: it has ended."""
        if select.select([self.fd], [], [], wait)[0]:
            try:
                piece = os.read(self.fd, 1 << 16)
            except OSError:
                return False
            if not piece:
                return False
            text = piece.decode("utf-8", "replace")
            self.log += text
            self.feed(text)
        return True

    def until(self, condition, what, seconds=60):
        end = time.monotonic() + seconds * max(1, int(os.environ.get("SLOW", "1")))
        while not condition():
            if time.monotonic() > end or not self.read():
                raise SystemExit("waited in vain for %s; the screen:\n%s" % (what, self.text()))

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Until it ends; its status."""
        while self.read():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
