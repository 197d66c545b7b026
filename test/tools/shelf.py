"""shelf.py LOAD DIRECTORY N: all tools that watch the whole system, at the same time, while LOAD (load.c) does N of each thing.

They are started in groups, of which every tool has begun before the load starts. Each must end by Ctrl-C with status 0, and
say nothing but how much was dropped. Lines about the load are N, or they and the drops that were reported are. At the end
nothing is left in the kernel. Prints what is wrong."""
import glob, os, re, signal, subprocess, sys, time

src, dtrace = os.environ['SRC'], os.environ['DTRACE']
sys.path.insert(0, src + '/test/torture')
import torture

load, where, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
name = os.path.basename(load)
GROUP = 12
DROPS = re.compile(r'^dtrace: (\d+) (?:[a-z ]+ )?drops?\b')
# what may be said besides: a file of another process that is refused, names of others that are missing since there are too many of
# them, a probe that this kernel lacks
OTHERS = r'^dtrace: .*: (?:not read: |addresses of processes that have ended may stay without names$)'
OTHER = re.compile(OTHERS + r'|does not match any probes|needs tracing of the kernel function')
LOADS = [('exec', []), ('open', [where]), ('stat', [where]), ('kill', []), ('children', []), ('threads', []), ('sync', [where]), ('shm', []), ('chroot', [])]
# what one line or row says: a pattern with the number of events in its group, or one event
KNOWN = {
    'execsnoop': rf'^ *0 +\d+ +(?:PIDS) +0 +true +true a b$',
    'opensnoop': rf'^ *0 +\d+ +{name} +-1 +ENOENT +{where}/nosuch$',
    'statsnoop': rf'^ *0 +\d+ +{name} +newfstatat +0 +{where}$',
    'killsnoop': rf'^ *0 +\d+ +{name} +kill +SIGUSR1 ',
    'sigsnoop': rf'^ *\d+ +\d+ +{name} +SIGUSR1 ',
    'exitsnoop': rf'^ *0 +\d+ +(?:PIDS) +\d+ +\d+ +(?:3|SIGKILL) +{name}$',
    'threadsnoop': rf'^ *\d+ +0 +\d+ +{name} +\d+ ',
    'syncsnoop': rf'^ *\d+ +\d+ +{name} +fsync ',
    'shmsnoop': rf'^ *\d+ +{name} +shmget ',
    'errinfo': rf'^ *{name} +openat +ENOENT +(\d+)',
}


def begun(p):
    p.seen = os.path.getsize(p.out) > 0
    return p.seen or p.poll() is not None


def start(tool):
    out, err = open(f'{where}/{tool}.out', 'w'), open(f'{where}/{tool}.err', 'w')
    p = subprocess.Popen([dtrace, '-s', tool], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    p.tool, p.out, p.err = tool, out.name, err.name
    return p


def check(p, pids):
    said = open(p.err).read().splitlines()
    if any(OTHER.search(line) and not re.match(OTHERS, line) for line in said):
        return # not on this kernel
    drops = sum(int(m.group(1)) for m in map(DROPS.match, said) if m)
    others = [line for line in said if not DROPS.match(line) and not OTHER.search(line)]
    if p.returncode or others or not p.seen:
        print(f'{p.tool}: status {p.returncode}, {"begun" if p.seen else "not begun"}: {others}')
    if p.tool not in KNOWN:
        return
    found = 0
    for m in re.finditer(KNOWN[p.tool].replace('PIDS', '|'.join(map(str, pids))), open(p.out).read(), re.M):
        found += int(m.group(1)) if m.groups() else 1
    if found > n or found + drops < n:
        print(f'{p.tool}: {found} of {n} events shown, {drops} drops reported')


before = torture.bpf_objects()
tools = sorted(f[len(src) + 7:-2] for f in glob.glob(src + '/tools/*.d') if '{-p pid' not in open(f).read())
for at in range(0, len(tools), GROUP):
    running = [start(t) for t in tools[at:at + GROUP]]
    torture.wait_for(200, lambda: all(begun(p) for p in running))
    pids = []
    for what, args in LOADS:
        p = subprocess.Popen([load, what, str(n)] + args, stdout=subprocess.DEVNULL)
        pids.append(p.pid)
        if p.wait():
            print(f'{what} failed')
    for p in running:
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
    for p in running:
        p.wait()
        check(p, pids)
if not torture.wait_for(60, lambda: not torture.orphans(before)):
    print('left in the kernel:', sorted(torture.orphans(before)))
print(len(tools), 'tools')
