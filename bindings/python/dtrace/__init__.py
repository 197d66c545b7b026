"""Trace the kernel and programs with D.

    import dtrace

    for event in dtrace.trace('syscall::openat:entry { trace(execname); }'):
        print(event.probe.function, event.values)

This is libdtrace by way of ctypes: there is nothing to build. See README.md for more.
"""
from .events import (
    Drop, End, Error, Event, Fault, Frame, Note, Probe, Process, Record, Row, Stack, Start, Struct)
from .session import DTraceError, DTraceWarning, Trace, probes, run, trace, version

__all__ = [
    'DTraceError', 'DTraceWarning', 'Drop', 'End', 'Error', 'Event', 'Fault', 'Frame', 'Note', 'Probe', 'Process',
    'Record', 'Row', 'Stack', 'Start', 'Struct', 'Trace', 'probes', 'run', 'trace', 'version']
