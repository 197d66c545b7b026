"""A machine that sends far more than it may: greedy.py SOCKET AGENT WHAT [N]. Between a front and an agent, to whose data it adds."""
import os
import select
import socket
import struct
import sys

MARK, HELLO = 0x31465444, 1
CLAUSE, AGG, STARTED, BYE, PONG, ECB, RECORD, ROW, STATUS, NOTE, LIST, PROBE, MACHINE, BUSY = 4, 5, 9, 11, 13, 14, 15, 17, 18, 21, 22, 23, 26, 27
SESSIONS, SESSION = 40, 41
HEAD = struct.Struct("<IIQIII")  # of a record: ECB, CPU, time, first action, actions, continues


def text(s):
    s = s.encode()
    return struct.pack("<I", len(s)) + s + b"\0"


def datum(data, names=()):
    return struct.pack("<I", len(data)) + data + struct.pack("<I", len(names)) + b"".join(names)


def data_of(body, at):
    """The bytes of a datum, and where the next one begins."""
    size = struct.unpack_from("<I", body, at)[0]
    if size == 0xffffffff:
        return None, at + 8
    return body[at + 4:at + 4 + size], at + 8 + size


class Greedy:
    """What it adds, when a frame of the agent or of the front passes."""

    def __init__(self, what, n):
        self.what, self.n = what, n
        self.aggs, self.clause, self.record, self.done = {}, None, None, False

    def at_agent(self, kind, body):
        if kind == AGG:
            size = struct.unpack_from("<I", body, 4)[0]
            self.aggs[body[8:8 + size].decode()] = struct.unpack_from("<I", body)[0]
        if kind == CLAUSE and not self.clause:
            self.clause = struct.unpack_from("<II", body)
        if kind == RECORD and not self.record:
            self.record = self.flooded(body)
        if self.done or kind != {"records": RECORD, "after": BYE}.get(self.what, STARTED):
            return
        self.done = True
        yield from getattr(self, self.what, lambda body: ())(body)

    def at_front(self, kind):
        """Answers of its own."""
        if kind == LIST and self.what == "probes":
            for i in range(self.n):
                yield PROBE, struct.pack("<I", i) + text("p") + text("m") + text("f") + text("n")
        if kind == SESSIONS and self.what == "sessions":
            for i in range(self.n):
                yield SESSION, text(f"s{i}") + text("running") + text("") + text("text") + struct.pack("<8Q", *range(8))

    def rows(self, body):  # keys of 64 KB, all different
        for i in range(self.n):
            yield ROW, struct.pack("<III", self.aggs["k"], 1, 1) + datum(b"%08d" % i + b"x" * 65528 + b"\0") + struct.pack("<Q", 1)

    def keys(self, body):  # small ones
        for i in range(self.n):
            yield ROW, struct.pack("<III", self.aggs["k"], 1, 1) + datum(b"%08d\0" % i) + struct.pack("<Q", 1)

    def names(self, body):  # of addresses
        for i in range(self.n):
            name = text("m") + text("%08d" % i + "y" * 30000) + struct.pack("<Q", 0)
            yield ROW, struct.pack("<III", self.aggs["s"], 1, 1) + datum(struct.pack("<Q", i + 1), [name]) + struct.pack("<Q", 1)

    def probes_on(self, body):
        long = text("z" * 250)
        for i in range(self.n):
            yield ECB, struct.pack("<III", 100 + i, *self.clause) + text("") + struct.pack("<I", i) + long * 4

    def far_epid(self, body):
        yield ECB, struct.pack("<III", (1 << 20) + 1, *self.clause) + text("") + struct.pack("<I", 1) + text("p") * 4

    def notes(self, body):
        for i in range(self.n):
            yield NOTE, struct.pack("<I", 0) + text(f"note {i}")

    def cpus(self, body):
        yield STATUS, struct.pack("<I", self.n) + b"\1\0\0\0\0\0\0\0" * 2 * self.n + b"\0" * 72

    def machines(self, body):
        for i in range(self.n):
            yield MACHINE, text("m") + text("o") + text("1") + struct.pack("<IQQ", 1, 2, 3)

    def records(self, body):
        for _ in range(self.n):
            yield RECORD, self.record

    after = records

    @staticmethod
    def flooded(body):
        """This record, with a long string."""
        ecb, cpu, time, first, actions, continues = HEAD.unpack_from(body)
        at, data = HEAD.size, b""
        for i in range(actions):
            was, at = data_of(body, at)
            data += datum(b"v" * 60000 + b"\0") if i == 0 else struct.pack("<II", 0xffffffff, 0) if was is None else datum(was)
        return HEAD.pack(ecb, cpu, time, first, actions, continues) + data


class Stream:
    def __init__(self):
        self.text = b""

    def feed(self, more):
        self.text += more
        while len(self.text) >= 16:
            _, kind, length, _ = struct.unpack_from("<IIII", self.text)
            if len(self.text) < 16 + length:
                break
            yield kind, self.text[16:16 + length]
            self.text = self.text[16 + length:]


class Out:
    """Frames to the front, with their numbers, in large pieces."""

    def __init__(self, sock):
        self.sock, self.seq, self.text = sock, 0, bytearray()

    def put(self, kind, body):
        self.text += struct.pack("<IIII", MARK, kind, len(body), self.seq) + body
        self.seq += 1
        if len(self.text) > 1 << 20:
            self.flush()

    def flush(self):
        self.sock.sendall(self.text)
        self.text = bytearray()


def talk(front, agent, what, n):
    greedy, asked, answered, out = Greedy(what, n), Stream(), Stream(), Out(front)
    timeout = 0.05 if what in ("busy", "deaf") else None
    while True:
        ready = select.select([agent] if what == "deaf" and greedy.done else [front, agent], [], [], timeout)[0]
        if not ready and what == "busy":
            out.put(BUSY, b"")
        for s in ready:
            data = s.recv(1 << 20)
            if not data:
                return
            if s is front:
                for kind, _ in asked.feed(data):
                    for frame in greedy.at_front(kind):
                        out.put(*frame)
                agent.sendall(data)
            else:
                for kind, body in answered.feed(data):
                    if what == "machines" and kind == HELLO:
                        body = body[:-4] + struct.pack("<I", 1)
                    if kind == PONG and what == "busy":
                        continue
                    if kind != BYE:
                        out.put(kind, body)
                    for frame in greedy.at_agent(kind, body):
                        out.put(*frame)
                    if kind == BYE:
                        out.put(kind, body)
        out.flush()


def main():
    path, real, what = sys.argv[1:4]
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(8)
    while True:
        front, _ = s.accept()
        agent = socket.socket(socket.AF_UNIX)
        try:
            agent.connect(real)
            talk(front, agent, what, int((sys.argv[4:] or ["0"])[0]))
        except OSError:
            pass
        front.close()
        agent.close()


main()
