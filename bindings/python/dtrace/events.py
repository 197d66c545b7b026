"""What happens while tracing, as Python objects.

An event keeps the object that libdtrace wrote (doc/ndjson.md in its tree) in `data` and makes the rest of it when it
is asked for, so that a loop that looks at little costs little.
"""
from collections import namedtuple

Probe = namedtuple('Probe', 'provider module function name id')
Probe.__str__ = lambda p: ':'.join(p[:4])


class Frame(namedtuple('Frame', 'address module symbol offset helper file line')):
    """A place in the kernel or in a program; what is not known is None."""
    __slots__ = ()

    def __str__(self):
        if self.symbol is None:
            return self.helper or '%s`0x%x' % (self.module or '?', self.address)
        return '%s`%s' % (self.module or '?', self.symbol) + ('+0x%x' % self.offset if self.offset else '')


class Stack(tuple):
    """Frames, the innermost first. `pid` is None for stacks of the kernel."""

    def __new__(cls, frames, pid=None):
        self = super().__new__(cls, frames)
        self.pid = pid
        return self

    def __str__(self):
        return '\n'.join(map(str, self))


class Struct(dict):
    """Members by name, also as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __hash__(self):
        return hash(tuple(self.items()))


def _frame(d):
    return Frame(d['address'], d.get('module'), d.get('symbol'), d.get('offset'), d.get('helper'), d.get('file'), d.get('line'))


def value(v):
    """A value of ndjson as a Python one: int, float, str, bytes, tuple, Struct, Stack, Frame or None."""
    if isinstance(v, list):
        return tuple(map(value, v))
    if not isinstance(v, dict):
        return v
    if 'hex' in v:
        return bytes.fromhex(v['hex'])
    if 'members' in v:
        return Struct((k, value(m)) for k, m in v['members'].items())
    if 'frames' in v:
        return Stack(map(_frame, v['frames']), v.get('pid'))
    return _frame(v)


class Event:
    """Something that happened; its members are those of the line of ndjson."""
    __slots__ = ('data',)

    def __init__(self, data):
        self.data = data

    def __getattr__(self, name):
        try:
            return value(self.data[name])
        except KeyError:
            raise AttributeError(name) from None

    @property
    def type(self):
        return self.data['type']

    @property
    def probe(self):
        p = self.data['probe']
        return Probe(p['provider'], p['module'], p['function'], p['name'], p['id'])

    def __repr__(self):
        return '<%s %s>' % (type(self).__name__, ' '.join(
            '%s=%r' % (k, v) for k, v in self.data.items() if k not in ('type', 'probe', 'time')))


class Clause:
    """What the records of a clause have in common: probe, and for each action its name and that of its value."""
    __slots__ = ('probe', 'actions')

    def __init__(self, data):
        p = data['probe']
        self.probe = Probe(p['provider'], p['module'], p['function'], p['name'], p['id'])
        self.actions = tuple((a['action'], a.get('name')) for a in data['actions'])


class Record(Event):
    """A clause has fired: probe, cpu, time (nanoseconds), clause, and what its actions show.

    values: one for each argument of printf() and each of the other actions, in order
    text: what printf() has printed
    event['execname']: the value of that name
    actions: (action, name) of each action
    """
    __slots__ = ('_of',)

    def __init__(self, data, of):
        self.data = data
        self._of = of

    @property
    def probe(self):
        return self._of.probe

    @property
    def actions(self):
        return self._of.actions

    @property
    def cpu(self):
        return self.data['cpu']

    @property
    def time(self):
        return self.data['time']

    @property
    def clause(self):
        return self.data['clause']

    @property
    def values(self):
        found = []
        for v in self.data['values']:
            if not isinstance(v, (dict, list)):
                found.append(v)
            elif isinstance(v, list) and self._of.actions[len(found)][0] == 'printf':
                return self._all_values()
            else:
                found.append(value(v))
        return found

    def _all_values(self):
        found = []
        for (action, _), v in zip(self._of.actions, self.data['values']):
            found.extend(map(value, v[1:])) if action == 'printf' else found.append(value(v))
        return found

    @property
    def text(self):
        texts = [value(v[0]) for (action, _), v in zip(self._of.actions, self.data['values']) if action == 'printf']
        return ''.join(t if isinstance(t, str) else t.decode('utf-8', 'backslashreplace') for t in texts)

    def __getitem__(self, name):
        for (_, known), v in zip(self._of.actions, self.data['values']):
            if known == name:
                return value(v)
        raise KeyError(name)

    def __repr__(self):
        return '<Record %s %s>' % (self.probe, ' '.join(map(repr, self.values)))


class Row(Event):
    """A row of a printa(): name, function, key, value (a dict of (low, high) for distributions)."""
    __slots__ = ()

    @property
    def key(self):
        """Of one key the key, else a tuple."""
        keys = tuple(map(value, self.data['keys']))
        return keys[0] if len(keys) == 1 else keys

    @property
    def value(self):
        if 'value' in self.data:
            return self.data['value']
        return {(b['low'], b['high']): b['count'] for b in self.data['buckets']}


class Start(Event):
    """The first event: `time` and `wall` are the same moment on two clocks."""
    __slots__ = ()


class Drop(Event):
    """Something was lost: text, kind, count, total, cpu."""
    __slots__ = ()


class Fault(Event):
    """A clause has stopped at a run-time error: text, probe, fault, code, action, value; if they are known, the place in the
    program (file, line, column), the expression as written, and the reason. What is not known is None."""
    __slots__ = ()

    def __getattr__(self, name):
        if name in ('file', 'line', 'column', 'expression', 'reason') and name not in self.data:
            return None
        return super().__getattr__(name)


class Process(Event):
    """A target process: text, pid; ended and status if it is gone."""
    __slots__ = ()


class Note(Event):
    """A notice: text."""
    __slots__ = ()


class Error(Event):
    """Something that a program asked for failed, and it goes on: text."""
    __slots__ = ()


class End(Event):
    """The last event: records, drops."""
    __slots__ = ()


KINDS = {'aggregation': Row, 'start': Start, 'drop': Drop, 'fault': Fault, 'process': Process,
         'note': Note, 'error': Error, 'end': End}
