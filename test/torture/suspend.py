"""a guest is stopped and continued from outside, and suspended to idle, while dtrace traces

Every call is counted, times are in order, the trace goes on and ends as usual.
"""
import os, socket, time
import guest
from guest import NEEDS, prepare
from torture import PATIENCE, wait_for


def say(path, word):
    """A command for the monitor of QEMU."""
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.settimeout(5)
            s.recv(4096)
            s.sendall(word.encode() + b'\n')
            s.recv(4096)
        return True
    except OSError:
        return False


def round(t):
    def stop_and_go(monitor, running):
        wait_for(PATIENCE, lambda: os.path.exists(monitor) or not running())
        while running():
            time.sleep(t.rng.random() * 3)
            if say(monitor, 'stop'):
                time.sleep(t.rng.choice([0.01, 0.5, 3]) * t.rng.random())
                t.figures['stopped and continued'] += say(monitor, 'cont')
    guest.run(t, 'suspend', 1, stop_and_go)
