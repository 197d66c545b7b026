"""random D programs print the same on both engines

The interpreter defines what a program means; the kernel engine must print the same, end with the same status and name the
same errors. Every fourth program has expressions of constants, which the compiler computes, beside the same expressions of
variables: they must be equal. Programs are made by generate.py.
"""
import difflib, re
from generate import Generator, Twins

NEEDS = ['root', 'bpf']


def prepare(t):
    pass


def plain(text):
    """Without what may differ: the CPU column, and where an engine has its memory."""
    text = re.sub(r'invalid address \(0x[0-9a-f]{11,}\)', 'invalid address (MEMORY)', text)
    return re.sub(r'(?m)^ *\d+ +(?=\d+ +:(BEGIN|END|ERROR))', '', text)


def messages(text):
    """Drops are reported when they are noticed: their order is not part of what is compared."""
    lines = plain(text).splitlines()
    drops = [x for x in lines if re.match(r'dtrace: \d+ ', x)]
    return [x for x in lines if x not in drops] + sorted(drops)


def round(t):
    twins = t.n % 4 == 3
    text, options = (Twins if twins else Generator)(t.rng).program()
    path = t.write('program.d', text)
    vm = t.dtrace('-x', 'engine=vm', *options, '-s', path)
    t.write('vm.out', vm.out + vm.err)
    kept = [path, t.path('vm.out'), t.path('bpf.out')]
    if vm.status is None or vm.status < 0 or vm.status == 99:
        t.fail(f'vm: {vm.how()} {vm.err}', kept)
        return
    if 'failed to compile' in vm.err:
        t.figures['not accepted'] += 1
        reason = vm.err.strip().splitlines()[0]
        t.reasons = getattr(t, 'reasons', []) + [reason]
        return
    t.figures['programs'] += 1
    if twins and re.search(r'(?m) 0$', vm.out):
        t.fail('constants and variables differ:\n' + '\n'.join(x for x in vm.out.splitlines() if x.endswith(' 0')), kept)
    t.figures['with errors at run time'] += 'error on enabled probe' in vm.err
    bpf = t.dtrace('-x', 'engine=bpf', *options, '-s', path)
    t.write('bpf.out', bpf.out + bpf.err)
    same = (vm.status, plain(vm.out), messages(vm.err)) == (bpf.status, plain(bpf.out), messages(bpf.err))
    if not same:
        want = [vm.how(), *plain(vm.out).splitlines(), *messages(vm.err)]
        got = [bpf.how(), *plain(bpf.out).splitlines(), *messages(bpf.err)]
        t.fail(f'dtrace {" ".join(options)} -s program.d\n' +
               '\n'.join(list(difflib.unified_diff(want, got, 'vm', 'bpf', n=1, lineterm=''))[:20]), kept)


def finish(t):
    if t.figures['not accepted'] > t.figures['programs'] and t.rounds > 20:
        t.fail('the generator makes too many programs that do not compile: ' + '; '.join(t.reasons[:3]))
