"""A machine that lies: liar.py SOCKET AGENT WHAT. Between a front and an agent, whose records it changes on their way."""
import os
import select
import socket
import struct
import sys

MARK, CLAUSE, RECORD, PROMISE = 0x31465444, 4, 15, 19
HEAD = struct.Struct("<IIQIII")  # ECB, CPU, time, first action, actions, continues


def datum(data, size=None):
    return struct.pack("<I", len(data) if size is None else size) + data + struct.pack("<I", 0)


def change(what, kind, body, n):
    """The bodies to send instead."""
    if kind == PROMISE:
        return [struct.pack("<Q", {"early": 1, "late": (1 << 64) - 2}.get(what, struct.unpack("<Q", body)[0]))]
    if kind == CLAUSE and what == "layout":  # of its last action, in the last bytes
        return [body[:-1] + bytes([body[-1] ^ 1])]
    if kind != RECORD:
        return [body]
    ecb, cpu, time, first, actions, continues = HEAD.unpack_from(body)
    data = body[HEAD.size:]
    head = {
        "ecb": (ecb + 1000, cpu, time, first, actions, continues),
        "first": (ecb, cpu, time, first + 1, actions, continues),
        "more": (ecb, cpu, time, first, actions + 1, continues),
        "part": (ecb, cpu, time, 0, 0, 0),
        "cpu": (ecb, 0xffffffff, time, first, actions, continues),
        "past": (ecb, cpu, n, first, actions, continues),
        "future": (ecb, cpu, (1 << 64) - 1 - n, first, actions, continues),
    }.get(what, (ecb, cpu, time, first, actions, continues))
    data = {
        "empty": datum(b"") * actions,
        "none": struct.pack("<II", 0xffffffff, 0) * actions,
        "short": datum(b"\1\2\3") * actions,
        "large": datum(os.urandom(5000)) * actions,
        "size": datum(b"1234", 0x7fffffff) * actions,
        "names": (struct.pack("<I", 8) + b"12345678" + struct.pack("<I", 9)) * actions,
        "part": b"",
        "more": data + datum(b"12345678"),
    }.get(what, data)
    if what == "value":
        data = datum(os.urandom(8)) * actions
    return [HEAD.pack(*head) + data] * (3 if what == "twice" else 1)


class Frames:
    def __init__(self, what):
        self.text, self.seq, self.what, self.records = b"", 0, what, 0

    def feed(self, more):
        self.text += more
        out = b""
        while len(self.text) >= 16:
            mark, kind, length, _ = struct.unpack_from("<IIII", self.text)
            if len(self.text) < 16 + length:
                break
            self.records += kind == RECORD
            for body in change(self.what, kind, self.text[16:16 + length], self.records):
                out += struct.pack("<IIII", mark, kind, len(body), self.seq) + body
                self.seq += 1
            self.text = self.text[16 + length:]
        return out


def talk(front, agent, what):
    frames = Frames(what)
    while True:
        for s in select.select([front, agent], [], [])[0]:
            data = s.recv(65536)
            if not data:
                return
            if s is front:
                agent.sendall(data)
            else:
                front.sendall(frames.feed(data))


def main():
    path, real, what = sys.argv[1:]
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(8)
    while True:
        front, _ = s.accept()
        agent = socket.socket(socket.AF_UNIX)
        try:
            agent.connect(real)
            talk(front, agent, what)
        except OSError:
            pass
        front.close()
        agent.close()


main()
