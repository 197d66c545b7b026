"""Shared by the parts of test/torture: random numbers that can be repeated, running dtrace, failures and totals."""
import ctypes, os, random, re, shutil, signal, subprocess, tempfile, time
from collections import Counter

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(SRC, os.environ.get('BUILD', 'build'))
DTRACE = os.path.join(BUILD, 'dtrace')
DONE = object()  # a part returns it from round() when there is nothing left to try
PATIENCE = 60  # seconds after which something hangs: many times what a busy machine needs


class Result:
    """How a command ended: status (None: it had to be killed; negative: a signal), output and messages."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def how(self):
        if self.status is None:
            return f'still running after {self.seconds:.0f} s'
        if self.status < 0:
            return f'killed by {signal.Signals(-self.status).name}'
        return f'status {self.status}'


class Torture:
    def __init__(self, part, seed):
        self.part, self.seed = part, seed
        self.rounds = self.failures = self.n = 0
        self.figures = Counter()  # what the summary names: "programs", "kills" ...
        self.rng = random.Random(0)
        self.started = []
        self.dir = tempfile.mkdtemp(prefix='torture-')
        os.chmod(self.dir, 0o755)
        self.env = dict(os.environ, LC_ALL='C', TZ='UTC')
        self.env.setdefault('ASAN_OPTIONS', 'exitcode=99')
        self.env.setdefault('UBSAN_OPTIONS', 'print_stacktrace=1:halt_on_error=1:exitcode=99')

    # ---- rounds ----

    def begin(self, n):
        """Round n has numbers of its own, so that it can be repeated without those before it."""
        self.n = n
        self.rng = random.Random(f'{self.seed}/{self.part}/{n}')

    def fail(self, what, files=()):
        self.failures += 1
        again = f'test/torture/run -s {self.seed} -r {self.n} {self.part}'
        print(f'FAILED: {again}\n{what.rstrip()}', flush=True)
        if files:
            kept = os.path.join(tempfile.gettempdir(), f'torture-failed-{self.part}-{self.seed}-{self.n}')
            os.makedirs(kept, exist_ok=True)
            for path in files:
                if os.path.exists(path):
                    shutil.copy(path, kept)
            print(f'kept in {kept}', flush=True)

    def summary(self):
        return f'{self.part}: ' + ', '.join([f'{self.rounds} rounds'] + [f'{v} {k}' for k, v in self.figures.items()] +
                                            [f'{self.failures} failures'])

    def close(self):
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    # ---- what is here ----

    def lacks(self, needs):
        """Why this part cannot run here, or None."""
        if not os.path.exists(DTRACE):
            return f'{DTRACE} is not built'
        if 'root' in needs and os.geteuid() != 0:
            return 'needs root'
        if 'gcc' in needs and not shutil.which('gcc'):
            return 'needs gcc'
        if 'bpf' in needs:
            r = self.dtrace('-x', 'engine=bpf', '-qn', 'BEGIN { exit(0); }')
            if r.status != 0:
                return 'no BPF here: ' + r.err.strip()
        return None

    def sanitized(self):
        return b'__asan_init' in open(os.path.join(BUILD, 'libdtrace.so'), 'rb').read()

    def build(self, name, source, *flags):
        path = os.path.join(self.dir, name)
        subprocess.run(['gcc', '-O2', '-Wall', '-Wextra', '-o', path, os.path.join(SRC, 'test', source), *flags], check=True)
        return path

    # ---- running things ----

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='latin-1') as f:
            f.write(text)
        return self.path(name)

    def start(self, args, env=None, **how):
        how.setdefault('stdin', subprocess.DEVNULL)
        p = subprocess.Popen(args, env=dict(self.env, **(env or {})), **how)
        self.started.append(p)
        return p

    def end(self, p):
        """Of a process that has been waited for."""
        self.started.remove(p)

    def run(self, args, env=None, seconds=PATIENCE, **how):
        began = time.monotonic()
        with open(self.path('out'), 'wb') as out, open(self.path('err'), 'wb') as err:
            p = self.start(args, env, stdout=out, stderr=err, **how)
            try:
                status = p.wait(seconds)
            except subprocess.TimeoutExpired:
                status = None
                p.kill()
                p.wait()
            self.end(p)
        return Result(status, self.read('out'), self.read('err'), time.monotonic() - began)

    def read(self, name):
        with open(self.path(name), encoding='latin-1') as f:
            return f.read()

    def dtrace(self, *args, **how):
        return self.run([DTRACE, *args], **how)


def wait_for(seconds, true):
    """Waits until true() is true; returns whether it became so."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# ---- processes ----

def state(pid):
    """The letter of /proc/PID/stat, or '' when there is no such process."""
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().rsplit(')', 1)[1].split()[0]
    except OSError:
        return ''


def tracer(pid):
    try:
        with open(f'/proc/{pid}/status') as f:
            return int(re.search(r'TracerPid:\s*(\d+)', f.read()).group(1))
    except OSError:
        return 0


# ---- objects in the kernel ----

BPF = {'x86_64': 321, 'aarch64': 280, 'riscv64': 280, 's390x': 351, 'ppc64le': 361}.get(os.uname().machine, 321)
NEXT = {'prog': 11, 'map': 12, 'link': 31}  # BPF_*_GET_NEXT_ID
libc = ctypes.CDLL(None, use_errno=True)


def bpf_objects():
    """All programs, maps and links of the kernel, as (kind, id)."""
    found = set()
    for kind, command in NEXT.items():
        attr = (ctypes.c_uint32 * 32)()
        while libc.syscall(BPF, command, attr, 12) == 0:
            found.add((kind, attr[1]))
            attr[0] = attr[1]
    return found


def held_objects():
    """Those that some process has a descriptor of."""
    found = set()
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            for fd in os.listdir(f'/proc/{pid}/fdinfo'):
                with open(f'/proc/{pid}/fdinfo/{fd}') as f:
                    found.update((k, int(n)) for k, n in re.findall(r'^(prog|map|link)_id:\s*(\d+)', f.read(), re.M))
        except OSError:
            pass
    return found


def orphans(before):
    """New objects that no process holds. The kernel frees them a little after the process is gone."""
    left = bpf_objects() - before
    return left - held_objects() if left else left


def leaked(before, seconds=PATIENCE):
    """Those that stay: other tracers begin and end meanwhile, and at any moment some of their objects are held by none."""
    left = orphans(before)

    def gone():
        left.intersection_update(orphans(before) if left else ())
        return not left
    wait_for(seconds, gone)
    return left
