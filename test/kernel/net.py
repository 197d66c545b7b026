"""net.py: known traffic on loopback, for the tests of the network providers.

    net.py tcp|tcp6|udp|udp6|refused COUNT

tcp: COUNT connections one after another, each sends 10 bytes and is answered with 20, the client closes first.
udp: COUNT datagrams of 100 bytes to a socket that reads them. refused: COUNT connections to a port that nobody listens on.
Ports: 7777 (server), 7778 (nobody).
"""
import socket
import sys

what, count = sys.argv[1], int(sys.argv[2])
six = what.endswith("6")
family = socket.AF_INET6 if six else socket.AF_INET
host = "::1" if six else "127.0.0.1"


def tcp():
    with socket.socket(family, socket.SOCK_STREAM) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((host, 7777))
        server.listen(16)
        for _ in range(count):
            client = socket.socket(family, socket.SOCK_STREAM)
            client.connect((host, 7777))
            peer = server.accept()[0]
            client.sendall(b"x" * 10)
            peer.recv(100)
            peer.sendall(b"y" * 20)
            client.recv(100)
            client.close()
            while peer.recv(100):
                pass
            peer.close()


def udp():
    with socket.socket(family, socket.SOCK_DGRAM) as server, socket.socket(family, socket.SOCK_DGRAM) as client:
        server.bind((host, 7777))
        for _ in range(count):
            client.sendto(b"z" * 100, (host, 7777))
            server.recv(200)


def refused():
    for _ in range(count):
        with socket.socket(family, socket.SOCK_STREAM) as client:
            try:
                client.connect((host, 7778))
                sys.exit(1)
            except ConnectionRefusedError:
                pass


{"tcp": tcp, "udp": udp, "refused": refused}[what.rstrip("6")]()
