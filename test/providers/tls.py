# tls.py CERTIFICATE KEY: TLS on loopback with known sizes, a server in a thread and a client. The client prints the server's
# port and its own. With a third argument it does the same again until it is killed.
import socket, ssl, sys, threading

SIZES = (100, 200, 3000)


def receive(s, n):
    while n:
        n -= len(s.recv(n))


def serve(listener, context):
    connection, _ = listener.accept()
    with context.wrap_socket(connection, server_side=True) as s:
        for n in SIZES:
            receive(s, n)
            s.sendall(b"y" * (2 * n))


def turn():
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(sys.argv[1], sys.argv[2])
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.verify_mode = ssl.CERT_NONE
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve, args=(listener, server))
    thread.start()
    with client.wrap_socket(socket.create_connection(listener.getsockname())) as s:
        if len(sys.argv) < 4:
            print("ports", *listener.getsockname()[1:], *s.getsockname()[1:], flush=True)
        for n in SIZES:
            s.sendall(b"x" * n)
            receive(s, 2 * n)
    thread.join()
    listener.close()


turn()
while len(sys.argv) > 3:
    turn()
