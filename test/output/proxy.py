"""A proxy between a browser and a server whose connections can be cut, as those of a bad network are.

    with Proxy("127.0.0.1", 8080) as p:
        p.port; p.cut(); p.mend()
"""
import socket
import threading


class Proxy:
    def __init__(self, host, port):
        self.to = (host, port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.open, self.works = set(), True
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.works = False
        self.listener.close()
        self.cut()

    def accept(self):
        while True:
            try:
                browser = self.listener.accept()[0]
            except OSError:
                return
            if not self.works:
                browser.close()
                continue
            try:
                server = socket.create_connection(self.to)
            except OSError:
                browser.close()
                continue
            self.open |= {browser, server}
            for a, b in ((browser, server), (server, browser)):
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    def copy(self, a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        self.works = False
        for s in list(self.open):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open.clear()

    def mend(self):
        self.works = True
