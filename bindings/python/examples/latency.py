#!/usr/bin/env python3
"""How long the system calls of a command take: latency.py COMMAND"""
import sys

import dtrace

PROGRAM = '''
syscall:::entry /pid == $target/ { self->t = timestamp; }
syscall:::return /self->t/ { @ns[probefunc] = quantize(timestamp - self->t); self->t = 0; }
'''

t = dtrace.run(PROGRAM, command=sys.argv[1:])
for call, buckets in t.aggregations.get('ns', {}).items():
    slowest = max(high for _, high in buckets)
    print('%-20s %6d calls, none above %d ns' % (call, sum(buckets.values()), slowest))
