#!/usr/bin/python3
"""pcap.py send udp|tcp: known traffic over the loopback. pcap.py read FILE: what a file of packets says about it."""
import socket
import struct
import sys
import threading

TEXT = bytes(range(256)) * 200  # 51,200 bytes: most of a TCP packet is in pages


def send_udp():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    for n in (1, 100, 1400):
        s.sendto(TEXT[:n], s.getsockname())


def send_tcp():
    server = socket.create_server(("127.0.0.1", 0))
    got = []

    def receive():
        c = server.accept()[0]
        while data := c.recv(1 << 20):
            got.append(data)

    t = threading.Thread(target=receive)
    t.start()
    c = socket.create_connection(server.getsockname())
    c.sendall(TEXT)
    c.close()
    t.join()
    assert b"".join(got) == TEXT


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    magic, major, minor, _, _, snap, link = struct.unpack_from("<IHHIIII", data)
    print("%x %d.%d snap %d link %d" % (magic, major, minor, snap, link))
    at, times, stream = 24, [], {}
    while at < len(data):
        sec, usec, captured, length = struct.unpack_from("<IIII", data, at)
        p = data[at + 16 : at + 16 + captured]
        at += 16 + captured
        times.append(sec + usec / 1e6)
        ip = p[14:] if link == 1 else p
        header = (ip[0] & 15) * 4
        if ip[9] == 17:
            text = ip[header + 8 :]
            print("udp", captured == length, len(text), text == TEXT[: len(text)])
        elif ip[9] == 6:
            port, _, seq = struct.unpack_from(">HHI", ip, header)
            text = ip[header + (ip[header + 12] >> 4) * 4 :]
            first = stream.setdefault(port, [seq, bytearray(len(TEXT)), 0])
            if text:
                where = (seq - first[0] - 1) & 0xFFFFFFFF
                first[1][where : where + len(text)] = text
                first[2] += len(text)
    for first in stream.values():
        if first[2]:
            print("tcp", bytes(first[1]) == TEXT)
    print("in order" if times == sorted(times) else "not in order", "from %d to %d" % (times[0], times[-1]) if times else "")


if sys.argv[1] == "read":
    read(sys.argv[2])
else:
    {"udp": send_udp, "tcp": send_tcp}[sys.argv[2]]()
