# Known traffic for the tools: net.py WHAT PORT
import os, socket, sys

what, port = sys.argv[1], int(sys.argv[2])
here = ("127.0.0.1", port)

if what == "tcp":  # ten connections, 100 bytes there and 50 back; three are refused
    server = socket.create_server(here, backlog=20)
    for i in range(10):
        client = socket.create_connection(here)
        there, _ = server.accept()
        client.sendall(b"x" * 100)
        got = 0
        while got < 100:
            got += len(there.recv(1000))
        there.sendall(b"y" * 50)
        got = 0
        while got < 50:
            got += len(client.recv(1000))
        client.close()
        there.recv(1)
        there.close()
    for i in range(3):
        try:
            socket.create_connection(("127.0.0.1", port + 1))
        except ConnectionRefusedError:
            pass
elif what == "udp":  # twenty datagrams of 30 bytes
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(here)
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect(here)
    for i in range(20):
        client.send(b"z" * 30)
        server.recv(100)
elif what == "again":  # the queue of the listener is full: the first segment is sent again, as often as the kernel says
    server = socket.socket()
    server.bind(here)
    server.listen(0)
    first = socket.create_connection(here)
    second = socket.socket()
    second.setsockopt(socket.IPPROTO_TCP, socket.TCP_SYNCNT, 1)
    try:
        second.connect(here)
    except TimeoutError:
        pass
    names, values = [line.split() for line in open("/proc/net/snmp") if line.startswith("Tcp:")]
    open(sys.argv[3], "w").write(values[names.index("RetransSegs")])
elif what == "unix":  # three connections to a path
    server = socket.socket(socket.AF_UNIX)
    path = sys.argv[3]
    server.bind(path)
    server.listen(5)
    for i in range(3):
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        server.accept()[0].close()
elif what == "names":
    for i in range(4):
        socket.getaddrinfo("localhost", None)
    socket.gethostbyname("localhost")
elif what == "ssl":  # a handshake in memory, then 7 times 300 bytes
    import ssl
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3])
    asks = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    asks.check_hostname = False
    asks.verify_mode = ssl.CERT_NONE
    a, b, c, d = ssl.MemoryBIO(), ssl.MemoryBIO(), None, None
    server, client = context.wrap_bio(a, b, server_side=True), asks.wrap_bio(b, a)
    done = set()
    while len(done) < 2:
        for end in client, server:
            if end not in done:
                try:
                    end.do_handshake()
                    done.add(end)
                except ssl.SSLWantReadError:
                    pass
    for i in range(7):
        client.write(b"secret" * 50)
        server.read(1000)
