"""A machine that does not keep to the protocol: peer.py SOCKET WHAT. Ends when its front goes."""
import os
import select
import socket
import struct
import sys

HELLO, NOTE, RECORD, EXIT, ENABLED, BYE, PING, PONG = 1, 21, 15, 20, 6, 11, 12, 13
PROGRAM, REFUSED, GO, STARTED, STOP, PROMISE, ASK, BUSY = 3, 7, 8, 9, 10, 19, 25, 27
LIST, PROBE, LISTED, SESSIONS, SESSION, WATCH, LINES = 22, 23, 24, 40, 41, 42, 43
ESCAPE = "\033[2J\007\u009b" # what a terminal obeys
VERSION = 6


def frame(kind, seq, body, mark=0x31465444):
    return struct.pack("<IIII", mark, kind, len(body), seq) + body


def text(s):
    s = s.encode()
    return struct.pack("<I", len(s)) + s + b"\0"


def hello(nonce, version=VERSION, name="liar", relay=0):
    return struct.pack("<IQ", version, nonce) + text(name) + text("Linux-0") + text("1") + struct.pack("<IQQI", 1, 2, 3, relay)


def nonce_of(data):
    return struct.unpack_from("<Q", data, 20)[0]


def frames(conn, text):
    """Number and body of each, until the front goes."""
    while True:
        while len(text) < 16 or len(text) < 16 + struct.unpack_from("<I", text, 8)[0]:
            more = conn.recv(1 << 20)
            if not more:
                return
            text += more
        kind, length = struct.unpack_from("<II", text, 4)
        yield kind, text[16:16 + length]
        text = text[16 + length:]


def escapes():
    """Texts that a terminal obeys, wherever there may be text."""
    def lines(*types):
        out = "".join('{"type":"%s","text":"%s a %s"}\n' % (t, t, "".join("\\u%04x" % ord(c) for c in ESCAPE)) for t in types).encode()
        return struct.pack("<QQ", 0, len(out)) + out
    return {
        LIST: lambda body: [(PROBE, struct.pack("<I", 7) + text(ESCAPE + "p") * 4), (LISTED, text("why " + ESCAPE))],
        SESSIONS: lambda body: [(SESSION, text("s" + ESCAPE) + text("state" + ESCAPE) + text("why" + ESCAPE) + text("text") + struct.pack("<8Q", *range(8))),
                                (SESSION, text("s") + text("running") + text("") + text("text") + struct.pack("<8Q", *range(8))), (LISTED, b"\xff" * 4)],
        WATCH: lambda body: [(LINES, lines("text", "note", "drop", "fault", "error", "process")), (BYE, struct.pack("<QQ", 0, 0))],
        PROGRAM: lambda body: [(NOTE, struct.pack("<I", 0) + text("a note" + ESCAPE)), (REFUSED, text("refused" + ESCAPE))],
    }


def work(conn, what):
    """Answer all but one thing, and be busy from then on. Or promise never enough."""
    answers = {PING: lambda body: [(PONG, body + body)]}
    if what != "compiles":
        answers[PROGRAM] = lambda body: [(ENABLED, body[:4])]
    if what == "ends":
        answers[GO] = lambda body: [(STARTED, b""), (PROMISE, b"\xff" * 8)]
    if what == "late":
        answers[GO] = lambda body: [(STARTED, b"")]
        answers[ASK] = lambda body: [(PROMISE, struct.pack("<Q", 1))]
        answers[STOP] = lambda body: [(BYE, struct.pack("<QQ", 0, 0))]
    if what == "escapes":
        answers.update(escapes())
    text, seq = b"", 1
    while True:
        if select.select([conn], [], [], 0.005)[0]:
            more = conn.recv(1 << 20)
            if not more:
                return
            text += more
        while len(text) >= 16 and len(text) >= 16 + struct.unpack_from("<I", text, 8)[0]:
            kind, length = struct.unpack_from("<II", text, 4)
            for answer in answers.get(kind, lambda body: [])(text[16:16 + length]):
                conn.sendall(frame(answer[0], seq, answer[1]))
                seq += 1
            text = text[16 + length:]
        conn.sendall(frame(BUSY, seq, b""))
        seq += 1


def flood(conn):
    """Answers that nobody has asked for; then how many questions they have brought."""
    for i in range(0, 400000, 20000):
        conn.sendall(b"".join(frame(PONG, 1 + i + k, struct.pack("<QQ", 0, 0)) for k in range(20000)))
    print(sum(kind == PING for kind, _ in frames(conn, b"")), flush=True)


def talk(conn, what):
    nonce = nonce_of(conn.recv(4096))
    if what == "deaf":  # the first one was lost
        nonce = nonce_of(conn.recv(4096))
    good = frame(HELLO, 0, hello(nonce))
    conn.sendall({
        "garbage": os.urandom(3 << 20) if what == "garbage" else b"",
        "silent": b"",
        "version": frame(HELLO, 0, hello(nonce, VERSION + 1)),
        "nonce": frame(HELLO, 0, hello(nonce + 1)),
        "host": frame(HELLO, 0, hello(nonce, VERSION, "host")),
        "escape": frame(HELLO, 0, hello(nonce, VERSION, "a\033[2Jb")) + frame(99, 1, b""),
        "deaf": good + frame(99, 1, b""),
        "type": good + frame(99, 1, b""),
        "gap": good + frame(NOTE, 2, struct.pack("<I", 0) + text("x")),
        "long": good + struct.pack("<IIII", 0x31465444, NOTE, 1 << 31, 1),
        "record": good + frame(RECORD, 1, struct.pack("<IIQIII", 1, 0, 5, 0, 0, 0)),
        "exit": good + frame(EXIT, 1, struct.pack("<I", 7)),
        "bye": good + frame(BYE, 1, struct.pack("<QQ", 1, 1)),
        "cut": good + frame(NOTE, 1, b"\0"),
        "mute": good,
        "pongs": good,
        "compiles": good,
        "begins": good,
        "ends": good,
        "escapes": frame(HELLO, 0, hello(nonce, VERSION, "li" + ESCAPE + "ar").replace(b"Linux-0", b"Linux\033c")),
        "late": frame(HELLO, 0, hello(nonce, relay=1)),
        "unread": good,
    }[what])
    if what in ("compiles", "begins", "ends", "late", "escapes"):
        work(conn, what)
    if what == "pongs":
        flood(conn)
    if what == "unread":
        gone = select.poll()
        gone.register(conn, 0)
        gone.poll()
        return
    while conn.recv(4096):
        pass


def main():
    path, what = sys.argv[1:]
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(8)
    while True:
        conn, _ = s.accept()
        try:
            talk(conn, what)
        except (OSError, struct.error):  # it has gone
            pass
        conn.close()


main()
