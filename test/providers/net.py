"""net.py: known traffic on loopback, for the tests of the network providers.

    net.py tcp|tcp6|tcpinfo|tcpinfo6|udp|udp6|refused|refused6|raw|sctp COUNT PORT
    net.py hold

tcp: COUNT connections one after another, each sends 10 bytes and is answered with 20, the client closes first.
tcpinfo: the same, and the client says what the kernel tells of the connection before it closes it.
udp: COUNT datagrams of 100 bytes to a socket that reads them. refused: COUNT connections to a port without a listener.
raw: COUNT packets each of protocols 132 (SCTP) and 136 (UDP-Lite), made by hand: no kernel needs to know them.
sctp: COUNT associations as with tcp; the kernel must know it.
again: a connection to an address that does not answer, until its first packet has been sent a second time.
The server is at PORT, no listener at PORT + 1; raw packets come from PORT + 2.
hold: prints such a PORT, and reserves it and the next two on this machine until standard input ends. They are
not among those that the kernel chooses itself.
"""
import random
import socket
import struct
import sys
import time

what = sys.argv[1]
count, port = (int(x) for x in sys.argv[2:4]) if what != "hold" else (0, 0)
six = what.endswith("6")
family = socket.AF_INET6 if six else socket.AF_INET
host = "::1" if six else "127.0.0.1"


def say(client):
    """What the kernel itself says of a connection: struct tcp_info, and a cookie."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_DEBUG, 1)
    info = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 200)
    scales = info[6]
    words = struct.unpack_from("=24I", info, 8)
    print("said_cookie", struct.unpack("=Q", client.getsockopt(socket.SOL_SOCKET, 57, 8))[0])
    print("said_snd_ws", scales & 15, "\nsaid_rcv_ws", scales >> 4, "\nsaid_retransmit", info[2])
    print("said_rto", words[0], "\nsaid_mss", words[2], "\nsaid_srtt", words[15], "\nsaid_cwnd", words[18], flush=True)


def tcp(protocol=0):
    with socket.socket(family, socket.SOCK_STREAM, protocol) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, port))
        server.listen(16)
        for _ in range(count):
            client = socket.socket(family, socket.SOCK_STREAM, protocol)
            client.connect((host, port))
            peer = server.accept()[0]
            client.sendall(b"x" * 10)
            peer.recv(100)
            peer.sendall(b"y" * 20)
            client.recv(100)
            if what.startswith("tcpinfo"):
                say(client)
            client.close()
            while peer.recv(100):
                pass
            peer.close()


def udp():
    with socket.socket(family, socket.SOCK_DGRAM) as server, socket.socket(family, socket.SOCK_DGRAM) as client:
        server.bind((host, port))
        for _ in range(count):
            client.sendto(b"z" * 100, (host, port))
            server.recv(200)


def raw():
    for protocol, packet in (132, struct.pack("!HHII", port + 2, port, 0x12345678, 0)), (136, struct.pack("!HHHH8s", port + 2, port, 8, 99, b"payload!")):
        with socket.socket(family, socket.SOCK_RAW, protocol) as s:
            for _ in range(count):
                s.sendto(packet, (host, 0))
                s.recv(200)


def sctp():
    tcp(132)


def refused():
    for _ in range(count):
        with socket.socket(family, socket.SOCK_STREAM) as client:
            try:
                client.connect((host, port + 1))
                sys.exit(1)
            except ConnectionRefusedError:
                pass


def again():
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.setblocking(False)
        client.connect_ex(("10.9.9.1", port))
        while client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 200)[2] == 0:
            time.sleep(0.01)


def hold():
    for _ in range(1000):
        first = random.randrange(10000, 30000)
        try:
            held = [socket.socket(socket.AF_INET, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM) for _ in range(3)]
            for i, s in enumerate(held):
                s.bind(("", first + i % 3))
        except OSError:
            continue
        print(first, flush=True)
        sys.stdin.read()
        return
    sys.exit(1)


{"hold": hold, "again": again, "tcp": tcp, "tcpinfo": tcp, "udp": udp, "refused": refused, "raw": raw, "sctp": sctp}[what.rstrip("6")]()
