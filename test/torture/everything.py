"""all providers at once while something is built: nothing is lost silently

One clause on thousands of probes of all providers counts its firings and prints a line for each. Meanwhile programs are
compiled, and a load makes a known number of calls, which are counted. A firing that finds its CPU in the middle of another
one, or a full buffer, is a drop, and drops are reported: lines and drops are not less than firings, counts and drops not less than calls.
"""
import os, re, signal, subprocess
import torture
from torture import DTRACE, PATIENCE, SRC, wait_for

NEEDS = ['root', 'bpf', 'gcc']
PROVIDERS = ['syscall', 'proc', 'sched', 'io', 'vfs', 'fsinfo', 'ip', 'tcp', 'udp', 'lockstat', 'vminfo', 'sysinfo', 'callout',
             'priv', 'sdt', 'dtmalloc', 'audit', 'mac']
CALLS = 20000


def prepare(t):
    t.load = t.build('load', 'engine/load.c', '-lpthread')
    t.there = [p for p in PROVIDERS if t.dtrace('-ln', f'{p}:::').status == 0]
    t.figures['providers'] = len(t.there)


def round(t):
    r = t.rng
    chosen = t.there if r.random() < 0.5 else r.sample(t.there, max(1, len(t.there) // 2))
    # the load's own count is a clause of its own, on a probe that the others share
    text = (f'syscall::getppid:entry /execname == "load" && ppid == {os.getpid()}/ {{ @calls = count(); }}\n' +
            ', '.join(f'{p}:::' for p in chosen) + ', profile-997, fbt::vfs_*: { @n = count(); ' +
            ('printf("R\\n"); ' if r.random() < 0.6 else '') + ('self->last = timestamp; ' if r.random() < 0.5 else '') +
            ('@by[probeprov] = count(); ' if r.random() < 0.5 else '') +
            '}\nBEGIN { printf("up\\n"); }\nEND { printa("N %@d\\n", @n); printa("C %@d\\n", @calls); }')
    path = t.write('everything.d', text)
    options = ['-x', f'bufsize={r.choice(["64k", "1m", "4m"])}', '-x', 'switchrate=50ms']
    with open(t.path('out'), 'wb') as out, open(t.path('err'), 'wb') as err:
        p = t.start([DTRACE, '-q', '-Z', *options, '-s', path], stdout=out, stderr=err)
    up = wait_for(PATIENCE, lambda: p.poll() is not None or os.path.getsize(t.path('out')) > 0)
    if up and p.poll() is None:
        for _ in range(r.randrange(1, 4)):
            subprocess.run(['gcc', '-O1', '-o', t.path('built'), os.path.join(SRC, 'test/engine/load.c'), '-lpthread'])
        subprocess.run([t.load, '-t', '2', '-n', str(CALLS // 2)])
        p.send_signal(signal.SIGINT)
    try:
        status = p.wait(2 * PATIENCE)
    except subprocess.TimeoutExpired:
        status = None
        p.kill()
        p.wait()
    t.end(p)
    check(t, status, [path, t.path('out'), t.path('err')])


def check(t, status, kept):
    out, err = t.read('out'), t.read('err')
    what = f'status {status}\n{err[:1500]}'
    n, calls = (int(m.group(1)) if (m := re.search(rf'(?m)^{k} (\d+)$', out)) else 0 for k in 'NC')
    drops = sum(int(x) for x in re.findall(r'(?m)^dtrace: (\d+) drops? on CPU', err))
    lines = len(re.findall(r'(?m)^R$', out))
    t.figures['firings'] += n
    t.figures['drops'] += drops
    if status != 0:
        t.fail(what, kept)
    elif calls > CALLS or calls + drops < CALLS:
        t.fail(f'{calls} of {CALLS} calls counted, {drops} drops\n{what}', kept)
    elif 'printf("R' in t.read('everything.d') and (lines > n or lines + drops < n):
        t.fail(f'{n} firings, {lines} lines, {drops} drops\n{what}', kept)
