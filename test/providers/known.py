"""known.py: a process with known attributes, for the tests of translated types.

    known.py one two

It makes a child in a session of its own, with effective user 12 and group 13, on one CPU, that calls getppid(), sends itself SIGUSR1, follows a bad
pointer in a child of its own, and gets SIGCHLD for that.
"""
import ctypes
import os
import signal

if os.fork() == 0:
    os.setsid()
    os.sched_setaffinity(0, {0})
    os.setegid(13)
    os.seteuid(12)
    os.getppid()
    os.seteuid(0)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    if os.fork() == 0:
        os._exit(7)
    os.wait()
    if os.fork() == 0:
        ctypes.string_at(24)
    os.wait()
    os._exit(0)
os.wait()
