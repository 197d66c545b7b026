"""Many machines that say nothing: crowd.py FOLDER PREFIX N. Sockets PREFIX0 ..., on which it listens; then it prints "there"."""
import resource
import signal
import socket
import sys

folder, prefix, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (n + 100, n + 100))
kept = []
for i in range(n):
    s = socket.socket(socket.AF_UNIX)
    s.bind(f"{folder}/{prefix}{i}")
    s.listen(1)
    kept.append(s)
print("there", flush=True)
signal.pause()
