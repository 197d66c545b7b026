"""random D programs print the same on all engines

The interpreter defines what a program means; the kernel engine must print the same, end with the same status and name the
same errors. So must the process engine, where a probe in a small target takes the place of BEGIN (and of END, if the program
has variables of the thread, since END runs in another one). Every fourth program has expressions of constants, which the compiler computes, beside the same expressions of
variables: they must be equal. Programs are made by generate.py.
"""
import difflib, re, shutil
from generate import Generator, Twins

NEEDS = ['root', 'bpf']


def prepare(t):
    t.victim = t.build('victim', 'process/victim.c', '-lpthread') if shutil.which('gcc') else None


def plain(text):
    """Without what may differ: the CPU column, and where an engine has its memory."""
    text = re.sub(r'invalid address \(0x[0-9a-f]{11,}\)', 'invalid address (MEMORY)', text)
    return re.sub(r'(?m)^ *\d+ +(?=\d+ +:(BEGIN|END|ERROR))', '', text)


def messages(text):
    """Drops are reported when they are noticed: their order is not part of what is compared."""
    lines = plain(text).splitlines()
    drops = [x for x in lines if re.match(r'dtrace: \d+ ', x)]
    return [x for x in lines if x not in drops] + sorted(drops)


def compare(t, name, want, got, options, kept):
    """The results of two engines."""
    if (want.status, plain(want.out), messages(want.err)) == (got.status, plain(got.out), messages(got.err)):
        return
    a = [want.how(), *plain(want.out).splitlines(), *messages(want.err)]
    b = [got.how(), *plain(got.out).splitlines(), *messages(got.err)]
    t.fail(f'dtrace {" ".join(options)} -s {kept[0].rsplit("/", 1)[1]}\n' +
           '\n'.join(list(difflib.unified_diff(a, b, 'vm', name, n=1, lineterm=''))[:20]), kept)


def where(text):
    """A message of an error without the probe that it was at."""
    return re.sub(r'(enabled probe ID \d+ )\(ID \d+: [^)]*\)', r'\1(PROBE)', text).replace('inside.d', 'before.d')


def inside(t, text, options):
    """The same in a process."""
    text = re.sub(r'\b(probename|probeprov|zonename)\b', '"none"', text)  # they differ, or are not there
    text = re.sub(r'(?m)^END\b', 'BEGIN', text) if 'self->' in text else text
    t.write('printed', '')
    paths = [t.write('before.d', text), t.write('inside.d', re.sub(r'(?m)^BEGIN\b', 'pid$target:a.out:once:entry', text))]
    options = options if '-q' in options else ['-q', *options]
    vm = t.dtrace('-x', 'engine=vm', *options, '-s', paths[0])
    there = t.dtrace('-x', 'engine=process', '-x', 'evaltime=postinit', *options, '-o', t.path('printed'), '-s', paths[1], '-c', f'{t.victim} -n 1')
    if re.search('engine=process: .* is not available', there.err):
        t.figures['not for a process'] += 1
        return
    t.figures['in a process'] += 1
    there.out = t.read('printed')
    vm.err, there.err = where(vm.err), where(there.err)
    compare(t, 'process', vm, there, options, [*paths, t.write('vm.out', vm.out + vm.err), t.write('process.out', there.out + there.err)])


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
    compare(t, 'bpf', vm, bpf, options, kept)
    if t.victim and vm.status >= 0:
        inside(t, text, options)


def finish(t):
    if t.figures['not accepted'] > t.figures['programs'] and t.rounds > 20:
        t.fail('the generator makes too many programs that do not compile: ' + '; '.join(t.reasons[:3]))
