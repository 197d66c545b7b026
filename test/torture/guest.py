"""What the parts of test/torture that need a virtual machine share: a round is a guest (test/guests/boot) that runs inside.py."""
import os, re, signal, subprocess, tempfile
from torture import BUILD, SRC, wait_for

NEEDS = ['gcc']
ROUNDS = 8  # in one guest
LIMIT = 900  # seconds


def prepare(t):
    t.load = t.build('paced', 'torture/paced.c', '-lpthread')


def run(t, what, cpus, disturb=None):
    """One guest; disturb(monitor, running) may do something to it from outside, through its monitor, while running() is true."""
    r = t.rng
    kernel = r.choice(['6.1', '6.12'])
    monitor = os.path.join(t.dir, 'monitor')
    log = t.path('guest')
    env = dict(t.env, CPUS=str(cpus), TIMEOUT=str(LIMIT), MONITOR=monitor)
    command = f'BUILD={BUILD} python3 test/torture/inside.py {what} {t.seed}.{t.n} {ROUNDS} {t.load}'
    with open(log, 'wb') as out:
        p = subprocess.Popen([os.path.join(SRC, 'test/guests/boot'), kernel, command], env=env, stdin=subprocess.DEVNULL,
                             stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    t.started.append(p)
    try:
        if disturb:
            disturb(monitor, lambda: p.poll() is None)
        status = p.wait(LIMIT + 60)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        status = p.wait()
    t.end(p)
    text = t.read('guest')
    if status == 77:
        t.figures[f'skipped: {text.strip()[:100]}'] += 1
        return
    t.figures['guests'] += 1
    for n, name in re.findall(r'(?m)^FIGURE (\d+) (.*)$', text):
        t.figures[name] += int(n)
    t.figures['traces'] += len(re.findall(r'(?m)^ROUND ', text))
    for why in re.findall(r'(?m)^FAILED .*', text):
        t.fail(f'Linux {kernel}: {why}', [log])
    if status != 0 or len(re.findall(r'(?m)^ROUND ', text)) != ROUNDS:
        t.fail(f'Linux {kernel}: the guest ended with status {status}:\n{text[-1500:]}', [log])
    complaint = re.search(r'(?m)^.*(WARNING:|BUG:|Oops|general protection|Call Trace|soft lockup).*$', text)
    if complaint:
        t.fail(f'Linux {kernel} complains: {complaint.group(0)}', [log])
