"""A machine that does not keep to the protocol: peer.py SOCKET WHAT. Ends when its front goes."""
import os
import socket
import struct
import sys

HELLO, NOTE, RECORD, EXIT, ENABLED, BYE = 1, 21, 15, 20, 6, 11
VERSION = 4


def frame(kind, seq, body, mark=0x31465444):
    return struct.pack("<IIII", mark, kind, len(body), seq) + body


def text(s):
    return struct.pack("<I", len(s)) + s.encode() + b"\0"


def hello(nonce, version=VERSION, name="liar"):
    return struct.pack("<IQ", version, nonce) + text(name) + text("Linux-0") + text("1") + struct.pack("<IQQI", 1, 2, 3, 0)


def nonce_of(data):
    return struct.unpack_from("<Q", data, 20)[0]


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
    }[what])
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
        except OSError:
            pass
        conn.close()


main()
