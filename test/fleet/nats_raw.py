"""A client of a NATS server that says what it pleases: nats_raw.py HOST:PORT USER:PASSWORD WHAT [ARGUMENT...]. Prints what it sees.

  claim WORD        answers fronts as if it were the machine WORD, and does nothing more
  overhear WORD     wants to read, and to write, what is sent to fronts by the machine WORD
  pose WORD NAME    is a machine whose subjects are those of WORD, and says that it is called NAME
  open WORD N       opens N streams to the machine WORD, and says nothing on them
  answer WORD N     answers each time N times, as the same machine, and says nothing more
  return WORD N     answers each time as N machines of that name that have just started; each ends its streams at once
"""
import json
import os
import socket
import struct
import sys

FRAME, VERSION = 0x31465444, 6
DATA, ACK, END = 1, 2, 3


def text(s):
    return struct.pack("<I", len(s)) + s.encode() + b"\0"


class Nats:
    def __init__(self, address, login):
        host, port = address.split(":")
        user, password = login.split(":")
        self.sock, self.rest, self.subs = socket.create_connection((host, int(port))), b"", 0
        self.line()
        self.sock.sendall(b"CONNECT " + json.dumps({"verbose": False, "user": user, "pass": password}).encode() + b"\r\nPING\r\n")
        print(self.line(), flush=True)

    def line(self):
        while b"\r\n" not in self.rest:
            self.more()
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line.decode()

    def more(self):
        more = self.sock.recv(65536)
        if not more:
            sys.exit("the server has closed the connection")
        self.rest += more

    def sub(self, subject):
        self.subs += 1
        self.sock.sendall(f"SUB {subject} {self.subs}\r\n".encode())

    def pub(self, subject, data):
        self.sock.sendall(f"PUB {subject} {len(data)}\r\n".encode() + data + b"\r\n")

    def messages(self):
        """Subject, where to answer, data; what else the server says is printed."""
        while True:
            line = self.line()
            if line == "PING":
                self.sock.sendall(b"PONG\r\n")
            elif line.startswith("MSG "):
                _, subject, _, *reply, n = line.split()
                while len(self.rest) < int(n) + 2:
                    self.more()
                data, self.rest = self.rest[:int(n)], self.rest[int(n) + 2:]
                yield subject, (reply or [""])[0], data
            elif line.startswith("-ERR"):
                print(line, flush=True)


def digits(n):
    return os.urandom(n // 2).hex()


def pose(nats, word, name):
    me = f"{word}.{digits(16)}"
    nats.sub("dtrace.hello")
    nats.sub(f"dtrace.open.{me}")
    nats.sub(f"dtrace.stream.{word}.*.up")
    greeted = set()
    for subject, reply, data in nats.messages():
        if subject == "dtrace.hello":
            nats.pub(reply, me.encode())
        elif subject.startswith("dtrace.open."):
            nats.pub(f"dtrace.stream.{word}.{data.decode()}.down", struct.pack("<QQ", ACK, 0))
        elif subject not in greeted and struct.unpack_from("<Q", data)[0] == DATA:
            greeted.add(subject)
            nonce = struct.unpack_from("<Q", data, 16 + 20)[0]
            hello = struct.pack("<IQ", VERSION, nonce) + text(name) + text("Linux-0") + text("1") + struct.pack("<IQQI", 1, 2, 3, 0)
            frame = struct.pack("<IIII", FRAME, 1, len(hello), 0) + hello
            nats.pub(subject[:-2] + "down", struct.pack("<QQ", DATA, 0) + frame)


def claim(nats, word):
    nats.sub("dtrace.hello")
    for _, reply, _ in nats.messages():
        nats.pub(reply, f"{word}.{digits(16)}".encode())


def overhear(nats, word):
    for subject in f"dtrace.open.{word}.*", f"dtrace.stream.{word}.*.up", f"dtrace.stream.{word}.*.down", "dtrace.stream.>", "dtrace.answer.*":
        nats.sub(subject)
    nats.pub(f"dtrace.stream.{word}.{digits(32)}.down", struct.pack("<QQ", ACK, 0))
    for subject, _, data in nats.messages():
        print("overheard", subject, len(data), flush=True)


def open_many(nats, word, n):
    """To all agents that answer with that word."""
    inbox = "dtrace.answer." + digits(16)
    nats.sub(inbox)
    nats.sock.sendall(f"PUB dtrace.hello {inbox} 0\r\n\r\n".encode())
    for _, _, data in nats.messages():
        if data.decode().startswith(word + "."):
            for _ in range(int(n)):
                nats.pub("dtrace.open." + data.decode(), digits(32).encode())
            print("opened", flush=True)


def answer(nats, word, n):
    me = f"{word}.{digits(16)}".encode()
    nats.sub("dtrace.hello")
    for _, reply, _ in nats.messages():
        one = f"PUB {reply} {len(me)}\r\n".encode() + me + b"\r\n"
        for _ in range(0, int(n), 1000):
            nats.sock.sendall(one * 1000)
        print("answered", flush=True)


def come_again(nats, word, n):
    nats.sub("dtrace.hello")
    nats.sub(f"dtrace.open.{word}.*")
    opened = 0
    for subject, reply, data in nats.messages():
        if subject == "dtrace.hello":
            for _ in range(int(n)):
                nats.pub(reply, f"{word}.{digits(16)}".encode())
        else:
            nats.pub(f"dtrace.stream.{word}.{data.decode()}.down", struct.pack("<QQ", END, 0))
            opened += 1
            if opened % 100 == 0:
                print("opened", opened, flush=True)


def main():
    address, login, what, *args = sys.argv[1:]
    {"claim": claim, "overhear": overhear, "pose": pose, "open": open_many, "answer": answer,
     "return": come_again}[what](Nats(address, login), *args)


main()
