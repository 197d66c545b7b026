"""Against the real library. Those that need the kernel are left out where BPF is not available."""
import os
import select
import signal
import subprocess
import sys
import threading
import unittest
import warnings

import dtrace

VM = {'engine': 'vm'}


def kernel():
    if os.environ.get('DTRACE_TEST_KERNEL') == 'no':
        return False
    try:
        dtrace.run('BEGIN { exit(0); }', options={'engine': 'bpf'})
        return True
    except dtrace.DTraceError:
        return False


KERNEL = kernel()


class Values(unittest.TestCase):
    def one(self, program):
        event, = dtrace.trace('BEGIN { %s; exit(0); }' % program, options=VM)
        return event

    def test_integers(self):
        e = self.one('trace((char)-1); trace((uint64_t)-1); trace((int64_t)1 << 63); trace((int *)16)')
        self.assertEqual(e.values, [-1, 2**64 - 1, -2**63, 16])

    def test_strings(self):
        e = self.one(r'trace("a\"\\\n"); trace("\303\244"); trace("\377x"); trace("")')
        self.assertEqual(e.values, ['a"\\\n', 'ä', b'\xffx', ''])

    def test_structures(self):
        events = list(dtrace.trace('''
            struct s { int a; char n[4]; struct { short x; }; int z[2]; };
            this struct s v;
            BEGIN { this->v.a = 5; print(this->v); exit(0); }''', options=VM))
        v, = events[0].values
        self.assertEqual((v.a, v.n, v.x, v['z']), (5, '', 0, (0, 0)))
        with self.assertRaises(AttributeError):
            v.nosuch

    def test_printf(self):
        e = self.one(r'trace(1); printf("%s %d\n", "x", 7); printf("done"); trace(2)')
        self.assertEqual(e.text, 'x 7\ndone')
        self.assertEqual(e.values, [1, 'x', 7, 2])
        self.assertEqual([a for a, _ in e.actions], ['trace', 'printf', 'printf', 'trace'])

    def test_names(self):
        e = self.one('trace(pid); trace(1)')
        self.assertEqual(e['pid'], os.getpid())
        with self.assertRaises(KeyError):
            e['nosuch']

    def test_record(self):
        e = self.one('trace(1)')
        self.assertEqual(str(e.probe), 'dtrace:::BEGIN')
        self.assertEqual((e.probe.id, e.clause, e.type), (1, 1, 'fired'))
        self.assertGreater(e.time, 0)


class Session(unittest.TestCase):
    def test_aggregations(self):
        t = dtrace.run('''BEGIN { @c["b"] = count(); @c["a"] = count(); @c["a"] = count(); @k[1, "x"] = sum(3); @ = count();
            @q = quantize(100); @l = lquantize(-1, 0, 10, 5); printa(@c); exit(3); }''', options=VM)
        self.assertEqual(t.aggregations, {
            'c': {'b': 1, 'a': 2}, 'k': {(1, 'x'): 3}, '_': {(): 1}, 'q': {(): {(64, 127): 1}},
            'l': {(): {(None, -1): 1}}})
        self.assertEqual(list(t.aggregations['c']), ['b', 'a'])
        self.assertEqual([(r.name, r.function, r.key, r.value) for r in t.events],
                         [('c', 'count', 'b', 1), ('c', 'count', 'a', 2)])
        self.assertEqual(t.exit_status, 3)
        self.assertIn('@c', t._repr_html_())

    def test_aggregations_while_it_runs(self):
        t = dtrace.trace('BEGIN { @["<b>"] = count(); trace(1); } BEGIN { trace(2); exit(0); }', options=VM)
        seen = []
        for e in t:
            seen.append(e.values)
            self.assertEqual(t.aggregations, {'_': {'<b>': 1}})
        self.assertEqual(seen, [[1], [2]])
        self.assertNotIn('<b>', t._repr_html_())

    def test_errors(self):
        with self.assertRaises(dtrace.DTraceError) as c:
            dtrace.trace('BEGIN {\n\ttrace(nosuch); }', options=VM)
        e = c.exception
        self.assertEqual((e.tag, e.line, e.column, e.source), ('D_IDENT_UNDEF', 2, 8, '\ttrace(nosuch); }'))
        self.assertIn('nosuch', e.message)
        with self.assertRaisesRegex(dtrace.DTraceError, 'there is no option "nosuch"'):
            dtrace.trace('BEGIN', options={'nosuch': 1})
        with self.assertRaises(dtrace.DTraceError):
            dtrace.trace('BEGIN', command='/no/such/file')
        with self.assertRaises(dtrace.DTraceError):
            dtrace.trace('BEGIN', pid=0x7ffffff0)
        with self.assertRaises(ValueError):
            dtrace.trace('BEGIN', events='nosuch')

    def test_faults_and_drops(self):
        program = 'BEGIN { trace(*(int *)16); } ' + 'BEGIN { trace(1); } ' * 6
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter('always')
            t = dtrace.run(program, options={**VM, 'bufsize': 64}, command='true')
        self.assertTrue(any('invalid address (0x10)' in str(w.message) for w in seen))
        self.assertEqual(t.drops + len(t.events), 6)
        self.assertGreater(t.drops, 0)
        events = list(dtrace.trace(program, options={**VM, 'bufsize': 64}, command='true', events='all'))
        kinds = {type(e) for e in events}
        self.assertLessEqual({dtrace.Start, dtrace.Fault, dtrace.Drop, dtrace.Process, dtrace.End}, kinds)
        fault, = (e for e in events if e.type == 'fault')
        self.assertEqual((fault.fault, fault.code, fault.action, fault.value), ('invalid address', 1, 1, 16))
        self.assertEqual((fault.file, fault.line, fault.column), (None, None, None))
        self.assertEqual((fault.expression, fault.reason), ('*(int *)16', 'address 0x10 is not mapped'))
        end, = (e for e in events if e.type == 'process')
        self.assertEqual((end.ended, end.status), (True, 0))

    def test_arguments(self):
        t = dtrace.run('BEGIN { trace($1); trace($$2); exit(0); }', 7, 'two', options=VM)
        self.assertEqual(t.events[0].values, [7, 'two'])

    def test_leaving(self):
        for e in dtrace.trace('BEGIN { trace(1); }', options=VM):
            break  # nothing would end it
        with dtrace.trace('BEGIN { trace(1); }', options=VM) as t:
            self.assertEqual(next(t).values, [1])
        self.assertEqual(list(t), [])
        dtrace.trace('BEGIN', options=VM).close()

    def test_stop(self):
        t = dtrace.trace('BEGIN { trace(1); } END { trace(2); }', options=VM)
        seen = []
        for e in t:
            seen += e.values
            if seen == [1]:
                threading.Thread(target=t.stop).start()
        self.assertEqual(seen, [1, 2])

    def test_interrupt(self):
        """Control-C ends a loop that waits."""
        code = 'import dtrace\nfor e in dtrace.trace("BEGIN { trace(1); }", options={"engine": "vm"}):\n    print(1, flush=True)'
        p = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        self.assertEqual(p.stdout.readline(), b'1\n')
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=300)
        self.assertIn(b'KeyboardInterrupt', err)

    def test_two_at_once(self):
        a = dtrace.trace('BEGIN { trace(1); exit(0); }', options=VM)
        b = dtrace.trace('BEGIN { trace(2); exit(0); }', options=VM)
        self.assertEqual([next(a).values, next(b).values], [[1], [2]])
        self.assertEqual([list(a), list(b)], [[], []])

    def test_probes(self):
        self.assertEqual([str(p) for p in dtrace.probes('dtrace:::')], ['dtrace:::BEGIN', 'dtrace:::END', 'dtrace:::ERROR'])
        self.assertRegex(dtrace.version(), r'^\d+\.\d+')


@unittest.skipUnless(KERNEL, 'no BPF here')
class Kernel(unittest.TestCase):
    def test_command(self):
        t = dtrace.run('syscall::exit_group:entry /pid == $target/ { ustack(); stack(); trace(arg0); @[ustack(1), execname] = count(); }',
                       command=['sh', '-c', 'exit 7'])
        user, kernel_stack, status = t.events[0].values
        self.assertEqual(status, 7)
        self.assertIsInstance(user, dtrace.Stack)
        self.assertGreater(user.pid, 0)
        self.assertIsNone(kernel_stack.pid)
        (stack, name), count = next(iter(t.aggregations['_'].items()))
        self.assertEqual((str(stack[0]).split('`')[1].lower(), name, count), ('_exit+0x' + str(stack[0]).split('+0x')[1], 'sh', 1))

    def test_fileno(self):
        t = dtrace.trace('tick-20ms { trace(1); } tick-20ms /i++ == 3/ { exit(0); }', options={'switchrate': '10ms'})
        self.assertEqual(next(t).values, [1])
        self.assertTrue(select.select([t], [], [], 300)[0])
        self.assertGreaterEqual(len(list(t)), 1)


if __name__ == '__main__':
    unittest.main()
