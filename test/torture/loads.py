"""random loads with known counts under random sets of clauses: what is printed and what is said to be lost add up

Threads make a known number of calls. Clauses that aggregate must have all of them; of those that record, the lines printed
are not more, and with the drops reported not less than the calls, whatever the sizes of buffers. (Drops may be more: room is taken
before the predicate is asked, as in DTrace, so that a call of any process can be one.)
"""
import re
import torture

NEEDS = ['root', 'bpf', 'gcc']


def prepare(t):
    t.load = t.build('load', 'engine/load.c', '-lpthread')


def clause(r, i, head, keyed):
    """A clause, and what it makes: sum (an aggregation n<i>), graph (a distribution that is printed) or record."""
    kind = r.randrange(7)
    if kind == 0:
        return f'{head} {{ @n{i} = count(); }}', ['sum']
    if kind == 1:
        key = r.choice(['tid', 'cpu', 'execname', 'probefunc, probename', 'strjoin(execname, "x"), tid'])
        return f'{head} {{ @n{i}[{"arg1" if keyed and r.random() < 0.5 else key}] = sum(1); }}', ['sum']
    if kind == 2:
        return f'{head} {{ @n{i} = quantize({r.choice(["timestamp", "tid", "cpu", "1"])}); }}', ['graph']
    if kind == 3:
        return f'{head} {{ self->v{i}++; self->s{i} = execname; @n{i} = sum(self->v{i} > 0 && self->s{i} == "load"); }}', ['sum']
    if kind == 4:
        return f'{head} {{ this->a = timestamp; @n{i}[this->a > 0] = sum(1); @l{i} = lquantize(cpu, 0, 512); }}', ['sum', 'graph']
    if kind == 5:
        return f'{head} {{ printf("R{i} {"x" * r.choice([1, 100])} "); trace(tid); trace(execname); printf("\\n"); }}', ['record']
    return f'{head} {{ printf("R{i} %d %s\\n", tid, {r.choice(["execname", "probefunc", "probename"])}); }}', ['record']


def clauses(r, keyed):
    """The text, names of aggregations that must have every call, how many distributions there are and how many clauses record."""
    call = 'getpriority' if keyed else 'getppid'
    text, sums, made = [], [], []
    for i in range(r.randrange(1, 7)):
        probe = r.choice([f'syscall::{call}:entry', f'syscall::{call}:return', 'pid$target:load:place:entry'])
        one, makes = clause(r, i, f'{probe} /pid == $target/', keyed and probe.endswith('y:entry'))
        text.append(one)
        made += makes
        if 'sum' in makes:
            sums.append(f'n{i}')
    if r.random() < 0.5:
        text.append(f'profile-{r.choice([97, 997, 4999])} {{ @clock = count(); }}')
    if r.random() < 0.3:
        text.append('tick-10ms { this->x = 1; @ticks = count(); }')  # without the latter it would record, and could be dropped
    prints = ''.join(f'printa("A {n} %@d\\n", @{n}); ' for n in sums)
    return '\n'.join(text) + f'\nEND {{ {prints}}}\n', sums, made.count('graph'), made.count('record')


def round(t):
    r = t.rng
    threads, calls, keys = r.randrange(1, 9), r.choice([1, 100, 2000, 10000]), r.choice([0, 0, 1, 10, 1000])
    text, sums, graphs, records = clauses(r, keys)
    path = t.write('clauses.d', text)
    options = ['-x', f'bufsize={r.choice(["4k", "64k", "1m", "4m"])}', '-x', f'switchrate={r.choice(["10ms", "100ms", "1s"])}']
    if r.random() < 0.3:
        options += ['-x', f'aggrate={r.choice(["10ms", "1s"])}']
    load = f'{t.load} -t {threads} -n {calls} -u' + (f' -k {keys}' if keys else '') + r.choice(['', ' -y'])
    result = t.dtrace('-x', 'engine=bpf', '-q', *options, '-c', load, '-s', path, seconds=300)
    t.write('all', result.out + result.err)
    wrong = check(t, result, threads * calls, sums, graphs, records)
    if wrong:
        t.fail(f'dtrace -q {" ".join(options)} -c "{load}" -s clauses.d\n' + '\n'.join(wrong), [path, t.path('all')])


def check(t, result, events, sums, graphs, records):
    """What does not add up."""
    if result.status != 0:
        return [result.how(), result.err[:1000]]
    wrong = []
    for name in sums:
        got = sum(int(x) for x in re.findall(rf'(?m)^A {name} (\d+)$', result.out))
        if got != events:
            wrong.append(f'@{name}: {got} of {events}')
    if sum_of_graphs(result.out) != events * graphs:
        wrong.append(f'distributions: {sum_of_graphs(result.out)} of {events} * {graphs}')
    drops = sum(int(x) for x in re.findall(r'(?m)^dtrace: (\d+) drops? on CPU', result.err))
    lines = len(re.findall(r'(?m)^R\d', result.out))
    if not lines <= events * records <= lines + drops:
        wrong.append(f'{records} clauses that record, {events} events each: {lines} lines and {drops} drops')
    other = re.sub(r'(?m)^dtrace: \d+ drops? on CPUs? [0-9,-]+\n', '', result.err)
    if other:
        wrong.append(other[:1000])
    t.figures['events'] += events * (len(sums) + graphs + records)
    t.figures['records'] += lines
    t.figures['drops'] += drops
    return wrong


def sum_of_graphs(text):
    return sum(int(x) for x in re.findall(r'(?m)^.*\|[@ ]{41}(\d+) *$', text))
