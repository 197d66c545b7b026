"""dtrace and its targets are killed and stopped at random moments: nothing is left behind

Each round starts a process that counts what it does, and dtrace on it or on a command of its own. At a random moment dtrace
is killed, ended, stopped and continued, or its target is killed. Afterwards no BPF object is left that no process holds,
the process still counts, none of its threads is stopped or traced, dtrace has ended, and if it was not ended early, its count is exact.
"""
import os, signal, subprocess, time
import torture
from torture import DTRACE, PATIENCE, leaked, state, tracer, wait_for

NEEDS = ['root', 'bpf', 'gcc']
CALLS = 4000

# what is traced; PID is the process that counts
ON_PROCESS = [
    ['-p', 'PID', '-qn', 'syscall:::entry /pid == $target/ { @[probefunc] = count(); self->t = timestamp; }'],
    ['-p', 'PID', '-qn', 'pid$target:::entry { @[probefunc] = count(); }'],
    ['-p', 'PID', '-qn', 'pid$target:threads:work:, pid$target:threads:main: { printf("%s\\n", probename); }'],
    ['-p', 'PID', '-qn', 'profile-997 /pid == $target/ { @[ustack()] = count(); }'],
    ['-qn', 'sched:::on-cpu, sched:::off-cpu { @[execname, pid] = count(); x[tid] = timestamp; }'],
    ['-qn', 'proc:::, syscall::clone*: { printf("%s %s\\n", execname, probename); }'],
    ['-p', 'PID', '-wqn', 'syscall::clock_nanosleep:entry /pid == $target && !x/ { x = 1; raise(SIGCHLD); }'],
]
# what counts the calls of a command exactly
ON_COMMAND = [
    'syscall::getppid:entry /pid == $target/ { @ = count(); }',
    'pid$target:load:place:entry { @ = count(); }',
    'syscall::getppid:return /pid == $target/ { self->n++; @ = sum(self->n > 0); }',
]


def prepare(t):
    t.threads = t.build('threads', 'processes/threads.c', '-lpthread')
    t.load = t.build('load', 'engine/load.c', '-lpthread')


def tasks(pid):
    try:
        return [int(x) for x in os.listdir(f'/proc/{pid}/task')]
    except OSError:
        return []


def held(pid):
    """Threads that are stopped or traced."""
    return [x for x in tasks(pid) if state(x) in ('T', 't') or tracer(x)]


def counts(t):
    with open(t.path('count'), 'rb') as f:
        return f.read()


def moves(t):
    before = counts(t)
    return wait_for(PATIENCE, lambda: counts(t) != before)


def hurt(t, victim, target):
    """What happens to dtrace at a random moment; says what, and whether its count must be right."""
    r = t.rng
    time.sleep(r.choice([r.random() * 0.05, r.random() * 0.3, r.random()]))
    ways = ['KILL', 'TERM', 'INT', 'STOP CONT', 'STOP KILL', 'STOP CONT TERM', 'TERM TERM', 'QUIT', 'HUP']
    way = r.choice(ways + ['target'] if target else ways)
    if way == 'target':
        os.kill(target, signal.SIGKILL)
        return way
    for name in way.split():
        if victim.poll() is not None:
            break
        victim.send_signal(getattr(signal, 'SIG' + name))
        time.sleep(r.random() * 0.2)
    return way


def round(t):
    r = t.rng
    before = torture.bpf_objects()
    pid = start_target(t)
    on_command = r.random() < 0.4
    if on_command:
        args = ['-qc', f'{t.load} -t 2 -n {CALLS // 2} -u -y', '-n', r.choice(ON_COMMAND)]
    else:
        args = [a.replace('PID', str(pid)) for a in r.choice(ON_PROCESS)]
    with open(t.path('out'), 'wb') as out, open(t.path('err'), 'wb') as err:
        victim = t.start([DTRACE, *args], stdout=out, stderr=err)
    way = hurt(t, victim, None if on_command else pid)
    t.figures['kills'] += 1
    what = f'dtrace {args}: {way}'
    ends_itself = way in ('STOP CONT', 'target')
    if ends_itself and not on_command and '-p' not in args:
        victim.terminate()
    elif way == 'STOP CONT' and not on_command:
        victim.terminate()
    try:
        victim.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        t.fail(f'{what}\ndtrace is still running, in state {state(victim.pid)}\n{t.read("err")}')
        victim.kill()
        victim.wait()
    t.end(victim)
    check(t, what, victim, way, on_command, pid)
    left = leaked(before)
    if left:
        t.fail(f'{what}\nleft in the kernel: {sorted(left)}')


def start_target(t):
    if os.path.exists(t.path('count')):
        os.unlink(t.path('count'))
    t.target = t.start([t.threads, t.path('count')])
    wait_for(PATIENCE, lambda: os.path.exists(t.path('count')) and counts(t))
    return t.target.pid


def check(t, what, victim, way, on_command, pid):
    if victim.returncode < 0 and -victim.returncode not in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        t.fail(f'{what}\ndtrace died by signal {-victim.returncode}\n{t.read("err")}')
    if way == 'STOP CONT' and on_command:
        t.figures['counts compared'] += 1
        if victim.returncode != 0 or t.read('out').split() != [str(CALLS)]:
            t.fail(f'{what}\nstatus {victim.returncode}, {CALLS} calls, but: {t.read("out")}{t.read("err")}')
    if way != 'target':
        if not wait_for(10, lambda: not held(pid)):
            t.fail(f'{what}\nstopped or traced: {[(x, state(x), tracer(x)) for x in held(pid)]}')
            t.target.send_signal(signal.SIGCONT)
        elif not moves(t):
            t.fail(f'{what}\nthe process does not count any more (state {state(pid)})')
    t.target.kill()
    t.target.wait()
    t.end(t.target)
    # commands of a dtrace that was killed run on, and end
    if not wait_for(PATIENCE, lambda: not running(t.load)):
        for x in running(t.load):
            t.fail(f'{what}\nits command is left in state {state(x)}')
            os.kill(x, signal.SIGKILL)


def running(program):
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{pid}/exe') == program:
                found.append(int(pid))
        except OSError:
            pass
    return found
