"""What runs inside a guest: inside.py WHAT SEED ROUNDS LOAD

In each round dtrace traces a load of a known number of calls while something happens to the machine (WHAT). Prints a line "FIGURE
number name" for each thing that is counted, and "FAILED round: why". See guest.py.
"""
import os, random, re, subprocess, sys, threading, time

SRC = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTRACE = os.path.join(SRC, os.environ.get('BUILD', 'build'), 'dtrace')
figures = {}

PROGRAM = '''
BEGIN { printf("up\\n"); }
syscall::getppid:entry /pid == $target/ { self->n++; @n = count(); @cpu[cpu] = sum(1); @by[tid] = sum(1); self->t = timestamp; }
syscall::getppid:return /self->t/ { @back = sum(timestamp >= self->t); @q = quantize(timestamp - self->t); self->t = 0; }
syscall::getppid:entry /pid == $target && self->n % 10 == 0/ { printf("R %d\\n", timestamp); }
syscall::exit:entry /pid == $target/ { @kept = sum(self->n); }
profile-97 { @clock["profile"] = sum(1); }
tick-20ms { @clock["tick"] = sum(1); }
sched:::on-cpu, sched:::off-cpu { @sched = sum(1); }
END { printa("N %@d\\n", @n); printa("C %d %@d\\n", @cpu); printa("T %d %@d\\n", @by); printa("B %@d\\n", @back);
	printa("K %@d\\n", @kept); printa("P %s %@d\\n", @clock); printa("S %@d\\n", @sched); }
'''


def count(name, n=1):
    figures[name] = figures.get(name, 0) + n


# ---- what happens ----

def cpu_file(n):
    return f'/sys/devices/system/cpu/cpu{n}/online'


def plug(n, on):
    try:
        with open(cpu_file(n), 'w') as f:
            f.write('1' if on else '0')
        count('CPUs switched on or off')
    except OSError:
        pass  # it is so already


def cpus(r, over):
    """CPUs go and come back."""
    have = [n for n in range(1, os.cpu_count() or 1) if os.path.exists(cpu_file(n))]
    while not over.wait(r.random() / 5):
        plug(r.choice(have), r.random() < 0.5)
    for n in have:
        plug(n, True)


def clocks(r, over):
    """The time of day jumps, forwards and back."""
    began, real = time.monotonic(), time.time()
    while not over.wait(r.random() / 10):
        time.clock_settime(time.CLOCK_REALTIME, real + r.choice([-1, 1]) * r.choice([0.001, 1, 3600, 86400 * 400]) * r.random())
        count('time jumps')
    time.clock_settime(time.CLOCK_REALTIME, real + time.monotonic() - began)


def suspend(r, over):
    """Suspended to idle, and woken by the clock, where the kernel can; the host stops the whole machine besides."""
    while not over.wait(r.random() / 4):
        try:
            with open('/sys/class/rtc/rtc0/wakealarm', 'w') as f:
                f.write('0')
            with open('/sys/class/rtc/rtc0/wakealarm', 'w') as f:
                f.write('+2')
            with open('/sys/power/state', 'w') as f:
                f.write('freeze')
            count('suspended to idle')
        except OSError as e:
            count(f'not suspended to idle ({e.strerror})')
            return


# ---- a round ----

def numbers(text, letter):
    return [int(x) for x in re.findall(rf'(?m)^{letter} (?:\S+ )?(\d+)$', text)]


def check(out, err, status, threads, calls):
    events = threads * calls
    if status != 0:
        return [f'status {status}', err[:1000]]
    wrong = []
    for letter in 'NCTBK':
        if sum(numbers(out, letter)) != events:
            wrong.append(f'{letter}: {sum(numbers(out, letter))} of {events}')
    if len(numbers(out, 'T')) != threads:
        wrong.append(f'{len(numbers(out, "T"))} threads of {threads}')
    times = numbers(out, 'R')
    if len(times) != events // 10 or times != sorted(times):
        wrong.append(f'{len(times)} of {events // 10} records' + ('' if times == sorted(times) else ', not in order') + f' ({err.strip()[:300]!r})')
    other = re.sub(r'(?m)^dtrace: \d+ drops? on CPUs? [0-9,-]+\n', '', err)  # of sched: a clock may interrupt it
    if other:
        wrong.append(other[:1000])
    count('events', sum(sum(numbers(out, x)) for x in 'NPS'))
    return wrong


def one(what, n, r, load):
    threads, calls = r.randrange(1, 5), r.randrange(20, 100) * 10
    over = threading.Event()
    p = subprocess.Popen([DTRACE, '-x', 'engine=bpf', '-q', '-x', 'switchrate=100ms', '-n', PROGRAM, '-c', f'{load} {threads} {calls}'],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    happens = threading.Thread(target=globals()[what], args=(r, over))
    happens.start()
    try:
        out, err = p.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        err += '\nstill running after 240 s'
    over.set()
    happens.join()
    wrong = check(out, err, p.returncode, threads, calls)
    if wrong:
        print(f'FAILED {n}:', '; '.join(wrong), flush=True)
    print(f'ROUND {n}', flush=True)


def main():
    what, seed, rounds, load = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    for n in range(rounds):
        one(what, n, random.Random(f'{seed}/{what}/{n}'), load)
    for name, n in figures.items():
        print(f'FIGURE {n} {name}')


main()
