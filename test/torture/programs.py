"""random D programs print the same on both engines

The interpreter defines what a program means; the kernel engine must print the same, end with the same status and name the
same errors. Programs are made by generate.py.
"""
import difflib, re
import torture
from generate import Generator

NEEDS = ['root', 'bpf']


def prepare(t):
    pass


def plain(text):
    """Without what may differ: the CPU column, and where an engine has its memory."""
    text = re.sub(r'invalid address \(0x[0-9a-f]{11,}\)', 'invalid address (MEMORY)', text)
    return re.sub(r'(?m)^ *\d+ +(?=\d+ +:(BEGIN|END|ERROR))', '', text)


def round(t):
    text, options = Generator(t.rng).program()
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
    t.figures['with errors at run time'] += 'error on enabled probe' in vm.err
    bpf = t.dtrace('-x', 'engine=bpf', *options, '-s', path)
    t.write('bpf.out', bpf.out + bpf.err)
    same = (vm.status, plain(vm.out), plain(vm.err)) == (bpf.status, plain(bpf.out), plain(bpf.err))
    if not same:
        want = [vm.how(), *plain(vm.out).splitlines(), *plain(vm.err).splitlines()]
        got = [bpf.how(), *plain(bpf.out).splitlines(), *plain(bpf.err).splitlines()]
        t.fail(f'dtrace {" ".join(options)} -s program.d\n' +
               '\n'.join(list(difflib.unified_diff(want, got, 'vm', 'bpf', n=1, lineterm=''))[:20]), kept)


def finish(t):
    if t.figures['not accepted'] > t.figures['programs'] and t.rounds > 20:
        t.fail('the generator makes too many programs that do not compile: ' + '; '.join(t.reasons[:3]))
