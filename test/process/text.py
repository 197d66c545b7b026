#!/usr/bin/env python3
"""text.py PID: is the code of a process that of its files, and that of the kernel in it as in ours? Prints each byte that is
not, mappings that are not of a file, and descriptors of dtrace.

Breakpoints are left out: uprobes of other tests are in all processes."""
import os
import sys

pid = sys.argv[1]
mem = open(f"/proc/{pid}/mem", "rb")


def vdso(pid):
    for line in open(f"/proc/{pid}/maps"):
        if line.rstrip().endswith("[vdso]"):
            start, end = (int(x, 16) for x in line.split()[0].split("-"))
            with open(f"/proc/{pid}/mem", "rb") as f:
                f.seek(start)
                return f.read(end - start)
    return b""


if vdso(pid) != vdso("self"):
    print("left: code in the vdso")
for fd in os.listdir(f"/proc/{pid}/fd"):
    try:
        path = os.readlink(f"/proc/{pid}/fd/{fd}")
    except OSError:
        continue
    if "memfd:dtrace" in path:
        print("left:", fd, path)
for line in open(f"/proc/{pid}/maps"):
    words = line.split(None, 5)
    path = words[5].strip() if len(words) > 5 else ""
    start, end = (int(x, 16) for x in words[0].split("-"))
    if "memfd:dtrace" in path or ("x" in words[1] and not path):
        print("left:", line.strip())
    if "x" not in words[1] or not path.startswith("/"):
        continue
    offset = int(words[2], 16)
    mem.seek(start)
    now = mem.read(end - start)
    with open(path, "rb") as f:
        f.seek(offset)
        file = f.read(end - start)
    for i, (a, b) in enumerate(zip(now, file) if now != file else ()):
        if a != b and a != 0xCC:
            print(f"{path} at {offset + i:x}: {a:02x}, in the file {b:02x}")
