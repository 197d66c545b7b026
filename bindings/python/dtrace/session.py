"""A trace: start it, walk through what happens, look at the aggregations."""
import ctypes
import json
import os
import shlex
import threading
import warnings

from .events import Clause, Event, KINDS, Probe, Record, Row
from .library import CompileOptions, ErrorPlace, OUTPUT, PROBE, lib


class DTraceError(Exception):
    """What failed: message, tag (of errors in a program), file, line, column, source, errno."""

    def __init__(self, text, message=None, tag=None, file=None, line=0, column=0, source='', errno=0):
        super().__init__(text)
        self.message, self.tag, self.file = message or text, tag, file
        self.line, self.column, self.source, self.errno = line, column, source, errno


class DTraceWarning(UserWarning):
    """Drops, faults and notices, unless they are asked for as events."""


def _text(b):
    return None if b is None else b.decode('utf-8', 'backslashreplace')


def _bytes(s):
    return None if s is None else s if isinstance(s, bytes) else os.fsencode(str(s))


def _strings(words):
    return (ctypes.c_char_p * (len(words) + 1))(*map(_bytes, words), None)


def version():
    """The version of the D language."""
    return _text(lib.dtrace_version())


class _Handle:
    """An open handle; its errors become exceptions."""

    def __init__(self, options=()):
        self.lock = threading.RLock()  # of h; a signal handler may come while its thread has it
        self.h = lib.dtrace_open(None)
        if not self.h:
            raise MemoryError('dtrace_open')
        try:
            for name, v in dict(options).items():
                self.check(lib.dtrace_setopt(self.h, _bytes(name), None if v is None or v is True else _bytes(
                    'no' if v is False else v)))
        except BaseException:
            self.close()
            raise

    def check(self, rc):
        if rc is None or rc < 0:
            raise self.error()
        return rc

    def error(self):
        at = ErrorPlace()
        lib.dtrace_errwhere(self.h, ctypes.byref(at))
        return DTraceError(_text(lib.dtrace_errtext(self.h)), _text(at.message), _text(lib.dtrace_errtag(self.h)),
                           _text(at.file), at.line, at.column, _text(at.source), lib.dtrace_errno(self.h))

    def interrupt(self):
        with self.lock:
            if self.h:
                lib.dtrace_interrupt(self.h)

    def close(self):
        with self.lock:
            h, self.h = self.h, None
        if h:
            lib.dtrace_close(h)


class Trace:
    """An iterator over what happens. Iterating starts the trace, and ends it when it ends, or is left.

    program     D text, as `dtrace -n` takes it
    args        $1, $2 ...
    options     as `dtrace -x`: {'strsize': 64, 'quiet': None}
    command     a command to run, text or list: $target is its pid, and tracing ends with it
    pid         the same for a process that runs, or several
    events      'records': records and rows of printa(); the rest are warnings. 'all': everything

    After, or during, the loop: `aggregations` is {name: {key: value}}; `exit_status` is that of exit(); `drops` counts
    what was lost. Use it in the thread that made it; stop() may be called by any.
    """

    def __init__(self, program, *args, options=(), command=None, pid=None, events='records'):
        if events not in ('records', 'all'):
            raise ValueError("events is 'records' or 'all'")
        self._all = events == 'all'
        self._pieces, self._rest, self._rows, self._clauses = [], b'', None, {}
        self._final, self._going, self._stopped = {}, False, False
        self.drops, self.exit_status = 0, None
        self._handle = _Handle({'bufsize': '4m', 'aggsize': '4m', 'temporal': 'yes', **dict(options), 'oformat': 'ndjson',
                                'brief': None})
        try:
            self._prepare(program, args, command, pid)
        except BaseException:
            self.close()
            raise
        self._loop = self._run()

    def _prepare(self, program, args, command, pid):
        check, h = self._handle.check, self._handle.h
        for p in [] if pid is None else [pid] if isinstance(pid, int) else pid:
            check(lib.dtrace_proc_grab(h, p))
        if command is not None:
            check(lib.dtrace_proc_create(h, _strings(shlex.split(command) if isinstance(command, str) else command)))
        words = _strings(['dtrace', *args])
        opts = CompileOptions(ctypes.sizeof(CompileOptions), 0, len(args) + 1, words, None)
        prog = lib.dtrace_compile_string(h, _bytes(program), ctypes.byref(opts))
        if not prog:
            raise self._handle.error()
        check(lib.dtrace_enable(h, prog, None))

        def output(data, n, _):
            try:
                self._pieces.append(ctypes.string_at(data, n))
                return 0
            except MemoryError:
                return 12

        self._output = OUTPUT(output)  # it must live as long as the handle
        lib.dtrace_handle_output(h, self._output, None)

    # ---- iterating ----

    def __iter__(self):
        return self._loop

    def __next__(self):
        return next(self._loop)

    def _take(self):
        """The objects of the whole lines that have come."""
        if not self._pieces:
            return []
        lines, nl, self._rest = (self._rest + b''.join(self._pieces)).rpartition(b'\n')
        self._pieces.clear()
        return json.loads(b'[' + lines.replace(b'\n', b',') + b']') if nl else []

    def _events(self):
        clauses = self._clauses
        for d in self._take():
            kind = d['type']
            if kind == 'fired':
                yield Record(d, clauses[d['clause']])
            elif kind == 'clause':
                clauses[d['clause']] = Clause(d)
            elif kind == 'aggregation':
                if self._rows is not None:
                    self._rows.append(Row(d))
                elif d['at'] == 'printa' or self._all:
                    yield Row(d)
            else:
                if kind == 'drop':
                    self.drops += d.get('count', 1)
                if self._all:
                    yield KINDS.get(kind, Event)(d)
                elif kind in ('drop', 'fault', 'error', 'note'):
                    warnings.warn(d['text'], DTraceWarning, stacklevel=4)

    def _run(self):
        check, h = self._handle.check, self._handle.h
        try:
            check(lib.dtrace_set_output(h, None))
            check(lib.dtrace_go(h))
            self._going = True
            while not self._stopped:
                done = check(lib.dtrace_work(h, None))
                yield from self._events()
                if done:
                    break
                if not self._stopped:
                    lib.dtrace_sleep(h)
            check(lib.dtrace_stop(h))
            check(lib.dtrace_work(h, None))
            yield from self._events()
            self._final = self.aggregations
            check(lib.dtrace_aggregate_print(h, None))
            self.exit_status = lib.dtrace_exit_status(h)
            yield from self._events()
        finally:
            self._going = False
            self.close()

    # ---- aggregations ----

    @property
    def aggregations(self):
        """{name: {key: value}}, sorted as printa() sorts; the name of a bare @ is '_'."""
        if not self._going:
            return self._final
        pending = list(self._events_as_data())
        self._rows, result = [], {}
        self._handle.check(lib.dtrace_aggregate_show(self._handle.h))
        for _ in self._events():
            pass
        rows, self._rows = self._rows, None
        for row in rows:
            result.setdefault(row.name, {})[row.key] = row.value
        if pending:
            self._pieces.insert(0, b''.join(pending))
        return result

    def _events_as_data(self):
        """What has come and was not looked at yet, to be put back."""
        pieces, self._pieces = self._pieces, []
        rest, self._rest = self._rest, b''
        return [p for p in [rest, *pieces] if p]

    # ---- the end ----

    def stop(self):
        """End the trace as soon as possible: END fires, and the loop ends. Also for signal handlers and other threads."""
        self._stopped = True
        self._handle.interrupt()

    def close(self):
        """End it now; what has not been looked at is lost."""
        if not getattr(self, '_loop', None) or not self._loop.gi_running:
            if getattr(self, '_loop', None):
                self._loop.close()
            self._handle.close()

    def fileno(self):
        """For select() and the like, while the trace runs: readable when there may be events."""
        return self._handle.check(lib.dtrace_fd(self._handle.h))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _repr_html_(self):
        """The aggregations as tables, for notebooks."""
        from html import escape
        return ''.join('<h4>@%s</h4><table>%s</table>' % (escape(name), ''.join(
            '<tr><td><pre>%s</pre></td><td>%s</td></tr>' % (escape(str(k)), escape(str(v))) for k, v in rows.items()))
            for name, rows in self.aggregations.items())


def trace(program, *args, **how):
    """Trace a program; see Trace."""
    return Trace(program, *args, **how)


def run(program, *args, **how):
    """Trace to the end, and return the Trace for its aggregations; the events are in its `events`."""
    t = Trace(program, *args, **how)
    t.events = list(t)
    return t


def probes(description='', **options):
    """The probes that a description matches, in order of their numbers."""
    handle, found = _Handle(options), []

    def add(_, p, arg):
        p = p.contents
        found.append(Probe(_text(p.provider), _text(p.module), _text(p.function), _text(p.name), p.id))
        return 0

    try:
        handle.check(lib.dtrace_probe_iter(handle.h, _bytes(description), 0, PROBE(add), None))
    finally:
        handle.close()
    return found
