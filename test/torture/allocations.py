"""one allocation or system call after another fails: dtrace ends by itself, and says so or does its work

fail.c makes one call of a run fail, or that one and all of its kind after it. For some command lines with known output, every
call of every kind is tried once both ways, in random order but with the kinds in turn: after hours there is nothing left to try. Whatever fails, dtrace must end, not by a signal, and with the
right output unless it has printed a message; and its target runs to its end.
"""
import itertools, os, random, re, shlex
import torture

NEEDS = ['root', 'bpf', 'gcc']
LIMIT = 30  # seconds

# name: arguments of dtrace (LOAD: the traced program, which makes 50 calls), a pattern for all of its output, and its status.
# A name that cannot be read is an address.
COMMANDS = {
    'interpreter': (['-x', 'engine=vm', '-qn', 'BEGIN { x["a"] = 1; self->y = strjoin("a", "b"); @[self->y] = quantize(7); exit(3); }'],
                    r'(?s)\s*ab\s+value .* 4 \|@+ 1 .*', 3),
    'kernel': (['-x', 'engine=bpf', '-qn', 'BEGIN { x["a"] = 1; self->y = strjoin("a", "b"); @[self->y] = count(); exit(3); }'],
               r'\s*ab +1\s*', 3),
    'syscall': (['-qc', 'LOAD', '-n', 'syscall::getppid:entry /pid == $target/ { @ = count(); self->n++; }'], r'\s*50\s*', 0),
    'records': (['-qc', 'LOAD', '-n', 'syscall::getppid:return /pid == $target/ { printf("%s;", probefunc); }'], r'(getppid;){50}\s*', 0),
    'pid': (['-qc', 'LOAD', '-n', 'pid$target:load:place:entry { @[probefunc] = count(); }'], r'\s*place +50\s*', 0),
    'stack': (['-qc', 'LOAD', '-n', 'pid$target:load:place:entry { @[ustack(1)] = count(); }'], r'\s*load`(place|0x).*\s+50\s*', 0),
    'fbt': (['-qc', 'LOAD', '-n', 'fbt::do_exit:entry /pid == $target/ { @[stringof(curthread->comm)] = count(); }'], r'\s*load +2\s*', 0),
    'proc': (['-qc', 'LOAD', '-n', 'proc:::exit /pid == $target/ { printf("%s", curpsinfo->pr_fname); }'], r'\s*load\s*', 0),
    'tick': (['-qn', 'tick-20ms { exit(0); }'], r'\s*', 0),
    'list': (['-ln', 'syscall::getppid:'], r'(?s).*getppid +entry.*getppid +return\s*', 0),
    'types': (['-lvn', 'sdt:sched::sched_switch'], r'(?s).*Argument Types.*task_struct.*', 0),
    'script': (['-qs', 'SCRIPT'], r'hi\s*', 0),
}


def command(t, name):
    words = {'LOAD': f'{t.load} -t 1 -n 50 -u', 'SCRIPT': t.path('script.d')}
    args, pattern, status = COMMANDS[name]
    return [words.get(a, a) for a in args], pattern, status


def attempt(t, name, kind, at, on):
    """Result, what fail.c has noted, and whether all went well."""
    args, pattern, status = command(t, name)
    log = t.write('log', '')
    env = {'FAIL_LOG': log, 'LD_PRELOAD': t.library}
    if at:
        env.update(FAIL_WHAT=kind, FAIL_AT=str(at), **({'FAIL_ON': '1'} if on else {}))
    r = t.dtrace(*args, env=env, seconds=LIMIT)
    return r, t.read('log'), r.status == status and re.fullmatch(pattern, r.out) is not None


def prepare(t):
    t.load = t.build('load', 'engine/load.c', '-lpthread')
    t.library = t.build('fail.so', 'torture/fail.c', '-shared', '-fPIC')
    t.write('script.d', '#!/usr/sbin/dtrace -s\n#pragma D option quiet\nBEGIN { printf("hi"); exit(0); }\n')
    kinds = {}
    for name in COMMANDS:
        r, noted, right = attempt(t, name, None, 0, False)
        if not right:
            print(f'allocations: {name} does not run here: {r.how()}: {(r.err.strip() or r.out.strip())[:200]}', flush=True)
        else:
            for kind, n in re.findall(r'(\w+) (\d+)', noted):
                kinds.setdefault(kind, []).extend((name, kind, at, on) for at in range(1, int(n) + 1) for on in (False, True))
    for calls in kinds.values():
        random.Random(t.seed).shuffle(calls)
    t.todo = [x for turn in itertools.zip_longest(*kinds.values()) for x in turn if x]
    t.figures['calls to fail'] = len(t.todo)


def left_over(t):
    """Processes of the target's program."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            if os.readlink(f'/proc/{pid}/exe') == t.load:
                found.append(int(pid))
        except OSError:
            pass
    return found


def round(t):
    if t.n >= len(t.todo):
        return torture.DONE
    name, kind, at, on = t.todo[t.n]
    r, noted, right = attempt(t, name, kind, at, on)
    reached = 'failed' in noted
    args, _, _ = command(t, name)
    how = f'FAIL_WHAT={kind} FAIL_AT={at} {"FAIL_ON=1 " if on else ""}LD_PRELOAD=fail.so dtrace {shlex.join(args)}'
    said = re.sub(r'(?m)^dtrace: (description|script) .* matched .*\n', '', r.err)
    if r.status is None or r.status < 0 or r.status == 99:
        t.fail(f'{how}\n{r.how()}\n{r.err}')
    elif not right and not said:
        t.fail(f'{how}\n{r.how()}, nothing said, and not what is expected:\n{r.out}')
    t.figures['failed'] += reached
    t.figures['survived'] += reached and right
    if not torture.wait_for(5, lambda: not left_over(t)):
        for pid in left_over(t):
            t.fail(f'{how}\n{r.how()}; target {pid} is left in state {torture.state(pid)}\n{r.err}')
            os.kill(pid, 9)
    if t.n + 1 == len(t.todo):
        return torture.DONE
