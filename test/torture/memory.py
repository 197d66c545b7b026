"""little memory: control groups and address spaces that are too small, by chance more or less

Every round is a round of "loads" with little memory: dtrace and its command in a control group of a few megabytes, or dtrace with a
small address space. If it runs to its end, everything must add up; sizes may be lowered, with a message. If there is too little, it
ends with a message, or the kernel ends it (which it says in the group). Nothing is left in the kernel then, either.
"""
import os, re, resource
import loads, torture
from torture import DTRACE, leaked, wait_for

NEEDS = ['root', 'bpf', 'gcc']
TOP = '/sys/fs/cgroup'


class Group:
    """A control group of our own that limits memory; path is None where that cannot be."""

    def __init__(self):
        name = f'dtrace-torture-{os.getpid()}'
        self.path = None
        self.old = os.path.exists(f'{TOP}/memory/memory.limit_in_bytes')
        path = f'{TOP}/memory/{name}' if self.old else f'{TOP}/{name}'
        try:
            if not self.old:
                with open(f'{TOP}/cgroup.subtree_control', 'w') as f:
                    f.write('+memory')
            os.mkdir(path)
            self.path = path
        except OSError:
            pass

    def limit(self, megabytes):
        """What was in it before is freed soon: then the kernel takes the smaller limit."""
        def set_it():
            try:
                with open(f'{self.path}/{"memory.limit_in_bytes" if self.old else "memory.max"}', 'w') as f:
                    f.write(str(megabytes << 20))
                return True
            except OSError:
                return False
        return wait_for(torture.PATIENCE, set_it)

    def killed(self):
        """How many the kernel has ended here because there was no memory."""
        with open(f'{self.path}/{"memory.oom_control" if self.old else "memory.events"}') as f:
            return int(re.search(r'(?m)^oom_kill (\d+)', f.read()).group(1))

    def enter(self):
        with open(f'{self.path}/cgroup.procs', 'w') as f:
            f.write(str(os.getpid()))

    def remove(self):
        def gone():
            try:
                os.rmdir(self.path)
            except OSError:
                pass
            return not os.path.exists(self.path)
        if self.path:
            wait_for(torture.PATIENCE, gone)


def prepare(t):
    t.load = t.build('load', 'engine/load.c', '-lpthread')
    t.group = Group()


def round(t):
    r = t.rng
    sanitized = t.sanitized()  # its shadow is an address space of terabytes, and needs memory of its own
    threads, calls = r.randrange(1, 5), r.choice([1, 100, 2000])
    text, sums, graphs, records = loads.clauses(r, 0)
    path = t.write('clauses.d', text)
    options = [x for o in ('bufsize', 'aggsize', 'dynvarsize', 'specsize') if r.random() < 0.5
               for x in ('-x', f'{o}={r.choice(["4k", "256k", "4m", "64m", "1g"])}')]
    grouped = t.group.path and (sanitized or r.random() < 0.7)
    if not grouped and sanitized:
        return torture.DONE
    megabytes = r.randrange(200, 800) if sanitized else r.randrange(3, 40) if grouped else r.randrange(8, 120)
    if grouped and not t.group.limit(megabytes):
        t.fail(f'{t.group.path}: the memory of the one before is not freed')
        return None
    before, killed = torture.bpf_objects(), t.group.killed() if grouped else 0

    def little():
        if grouped:
            t.group.enter()
        else:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    command = [DTRACE, '-x', 'engine=bpf', '-q', *options, '-c', f'{t.load} -t {threads} -n {calls} -u', '-s', path]
    result = t.run(command, seconds=300, preexec_fn=little)
    t.write('all', result.out + result.err)
    what = f'{"group" if grouped else "address space"} of {megabytes} MB: dtrace -q {" ".join(options)} -s clauses.d'
    kept = [path, t.path('all')]
    t.figures['in groups' if grouped else 'in address spaces'] += 1
    if grouped and t.group.killed() > killed:
        t.figures['ended by the kernel'] += 1
    elif result.status in (1, 2) and result.err.startswith('dtrace: '):
        t.figures['refused with a message'] += 1
    else:
        lowered = re.compile(r'(?m)^dtrace: .* lowered to .*\n')
        t.figures['with sizes lowered'] += bool(lowered.search(result.err))
        result.err = lowered.sub('', result.err)
        wrong = loads.check(t, result, threads * calls, sums, graphs, records)
        if wrong:
            t.fail(what + '\n' + '\n'.join(wrong), kept)
    left = leaked(before)
    if left:
        t.fail(f'{what}\nleft in the kernel: {sorted(left)}', kept)
    return None


def finish(t):
    t.group.remove()
