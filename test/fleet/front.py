"""A front that asks for what it pleases: front.py SOCKET PROGRAM [NAME=VALUE...]. Prints the agent's messages: number, body."""
import socket
import struct
import sys

MARK, VERSION = 0x31465444, 6
HELLO, OPTION, PROGRAM, GO, LIST, LISTED, REFUSED, STARTED = 1, 2, 3, 8, 22, 24, 7, 9


def text(s):
    return struct.pack("<I", len(s)) + s.encode() + b"\0"


class Front:
    def __init__(self, path):
        self.seq, self.rest = 0, b""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(100)
        self.sock.connect(path)
        self.send(HELLO, struct.pack("<IQ", VERSION, 5) + text("x") * 3 + struct.pack("<IQQI", 1, 2, 3, 0))

    def send(self, kind, body=b""):
        try:
            self.sock.sendall(struct.pack("<IIII", MARK, kind, len(body), self.seq) + body)
        except BrokenPipeError:  # it has refused something; why is still to be read
            pass
        self.seq += 1

    def option(self, name, value):
        self.send(OPTION, text(name) + text(value))

    def program(self, script):
        self.send(PROGRAM, struct.pack("<III", 0, 0, 0) + text("p") + struct.pack("<Q", len(script)) + script.encode() +
                  struct.pack("<II", 0, 0))

    def list(self, description):
        self.send(LIST, text("") + text(description) + struct.pack("<I", 3))

    def messages(self, last):
        """What the agent says, up to one of these."""
        while True:
            while len(self.rest) < 16 or len(self.rest) < 16 + struct.unpack_from("<I", self.rest, 8)[0]:
                more = self.sock.recv(65536)
                if not more:
                    return
                self.rest += more
            _, kind, length, _ = struct.unpack_from("<IIII", self.rest)
            yield kind, self.rest[16:16 + length]
            self.rest = self.rest[16 + length:]
            if kind in last:
                return


def main():
    path, script, *options = sys.argv[1:]
    front = Front(path)
    for o in options:
        front.option(*o.split("=", 1))
    if script.startswith("list "):
        front.list(script[5:])
    else:
        front.program(script)
        front.send(GO)
    for kind, body in front.messages((LISTED, REFUSED, STARTED)):
        print(kind, body)


main()
