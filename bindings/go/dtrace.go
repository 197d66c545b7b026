// Package dtrace traces the kernel and programs with D.
//
//	t, err := dtrace.Open(ctx, `syscall::openat:entry { trace(execname); }`, nil)
//	if err != nil { ... }
//	defer t.Close()
//	for t.Next() {
//		e := t.Event()
//		fmt.Println(e.Probe.Function, e.Values)
//	}
//	if err := t.Err(); err != nil { ... }
//
// When the context is cancelled the trace ends as if by exit(): END fires, what is left arrives, and Next returns false.
package dtrace

/*
#cgo LDFLAGS: -ldtrace
#include <dtrace.h>
#include <stdio.h>
#include <stdlib.h>

extern int goDtraceOutput(void *data, size_t n, uintptr_t arg);

static int to_go(const void *data, size_t n, void *arg)
{
	return goDtraceOutput((void *)data, n, (uintptr_t)arg);
}

static void take_output(dtrace_hdl_t *h, uintptr_t arg)
{
	dtrace_handle_output(h, to_go, (void *)arg);
}

// All aggregations as lines of ndjson; free() them. NULL: there was an error.
static char *snapshot(dtrace_hdl_t *h, size_t *n)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, n);
	int rc = out ? dtrace_aggregate_write(h, "ndjson", out) : -1;

	if (out)
		fclose(out);
	if (rc == 0)
		return text;
	free(text);
	return NULL;
}
*/
import "C"

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// Config is how to trace; the zero value, or nil, is good.
type Config struct {
	Options map[string]string // as dtrace -x; "" for switches
	Args    []string          // $1, $2 ...
	Command []string          // a command to run: $target is its pid, and tracing ends with it
	PIDs    []int             // the same for processes that run
}

// Error is a failure of the library; those in a program have a tag and a place.
type Error struct {
	Text    string // the whole sentence
	Message string // without place and tag
	Tag     string // "D_SYNTAX" ...; "" for none
	File    string
	Line    int
	Column  int
	Source  string
	Code    int // of the library (1000 ...) or an errno
}

func (e *Error) Error() string { return e.Text }

// Trace is a running trace. Its methods are for one goroutine at a time, but for Stop.
type Trace struct {
	batches chan []byte
	asks    chan chan snapshot // for the aggregations of now
	quit    chan struct{}
	once    sync.Once
	done    chan struct{}

	mu      sync.Mutex // of h
	h       *C.dtrace_hdl_t
	stopped bool

	decoder decoder
	queue   []*Event
	event   *Event
	err     error
	final   map[string][]Row
	status  int
}

// snapshot is what Snapshot returns.
type snapshot struct {
	rows map[string][]Row
	err  error
}

//export goDtraceOutput
func goDtraceOutput(data unsafe.Pointer, n C.size_t, arg C.uintptr_t) C.int {
	b := cgo.Handle(arg).Value().(*bytes.Buffer)
	b.Write(unsafe.Slice((*byte)(data), int(n)))
	return 0
}

// Open compiles the program and starts to trace.
func Open(ctx context.Context, program string, c *Config) (*Trace, error) {
	if c == nil {
		c = &Config{}
	}
	t := &Trace{
		batches: make(chan []byte),
		asks:    make(chan chan snapshot, 1), // filled before the loop is woken
		quit:    make(chan struct{}),
		done:    make(chan struct{}),
		decoder: decoder{clauses: map[int]*clause{}},
		final:   map[string][]Row{},
	}
	started := make(chan error)
	go t.run(program, c, started)
	if err := <-started; err != nil {
		<-t.done
		return nil, err
	}
	go func() {
		select {
		case <-ctx.Done():
			t.Stop()
		case <-t.done:
		}
	}()
	return t, nil
}

// A handle is used by one thread, because the kernel lets only the thread that holds a process release it.
func (t *Trace) run(program string, c *Config, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(t.done)
	defer close(t.batches)
	h := C.dtrace_open(nil)
	if h == nil {
		started <- errors.New("dtrace_open failed")
		return
	}
	t.mu.Lock()
	t.h = h
	t.mu.Unlock()
	var out bytes.Buffer
	handle := cgo.NewHandle(&out)
	defer handle.Delete()
	defer func() {
		t.mu.Lock()
		t.h = nil
		t.mu.Unlock()
		C.dtrace_close(h)
	}()
	C.take_output(h, C.uintptr_t(handle))
	if err := start(h, program, c); err != nil {
		started <- err
		return
	}
	started <- nil
	t.err = t.loop(h, &out)
}

func (t *Trace) loop(h *C.dtrace_hdl_t, out *bytes.Buffer) error {
	for {
		st := C.dtrace_work(h, nil)
		if !t.hand(h, out) || st == C.DTRACE_WORK_ERROR {
			return failure(h, st == C.DTRACE_WORK_ERROR)
		}
		t.mu.Lock()
		stopped := t.stopped
		t.mu.Unlock()
		if st == C.DTRACE_WORK_DONE || stopped {
			break
		}
		C.dtrace_sleep(h)
	}
	if C.dtrace_stop(h) < 0 || C.dtrace_work(h, nil) == C.DTRACE_WORK_ERROR || C.dtrace_aggregate_print(h, nil) < 0 {
		return failure(h, true)
	}
	t.status = int(C.dtrace_exit_status(h))
	t.hand(h, out)
	return nil
}

func failure(h *C.dtrace_hdl_t, failed bool) error {
	if !failed {
		return nil
	}
	return lastError(h)
}

// Events go to Next, and aggregations to calls of Snapshot; false: the trace is closed.
func (t *Trace) hand(h *C.dtrace_hdl_t, out *bytes.Buffer) bool {
	var batches chan []byte // nil, which is never ready, if there is nothing to hand over
	var batch []byte
	if out.Len() > 0 {
		batches, batch = t.batches, append([]byte(nil), out.Bytes()...)
		out.Reset()
	}
	for {
		select {
		case <-t.quit:
			return false
		case ask := <-t.asks:
			ask <- take(h)
			continue
		default:
		}
		if batch == nil {
			return true
		}
		select {
		case batches <- batch:
			return true
		case <-t.quit:
			return false
		case ask := <-t.asks:
			ask <- take(h)
		}
	}
}

func take(h *C.dtrace_hdl_t) snapshot {
	var n C.size_t
	text := C.snapshot(h, &n)
	if text == nil {
		return snapshot{err: lastError(h)}
	}
	defer C.free(unsafe.Pointer(text))
	d := decoder{clauses: map[int]*clause{}}
	events, err := d.decode(C.GoBytes(unsafe.Pointer(text), C.int(n)))
	return snapshot{rowsOf(events), err}
}

func rowsOf(events []*Event) map[string][]Row {
	rows := map[string][]Row{}
	for _, e := range events {
		if e.Row != nil {
			rows[e.Row.Name] = append(rows[e.Row.Name], *e.Row)
		}
	}
	return rows
}

func lastError(h *C.dtrace_hdl_t) error {
	var at C.struct_dtrace_errpos
	C.dtrace_errwhere(h, &at)
	return &Error{
		Text:    C.GoString(C.dtrace_errtext(h)),
		Message: C.GoString(at.message),
		Tag:     C.GoString(C.dtrace_errtag(h)),
		File:    C.GoString(at.file),
		Line:    int(at.line),
		Column:  int(at.column),
		Source:  C.GoString(at.source),
		Code:    int(C.dtrace_errno(h)),
	}
}

// words is a NULL-terminated array of C strings; free it with freeWords.
func words(list ...string) **C.char {
	n := len(list)
	p := (**C.char)(C.calloc(C.size_t(n+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	all := unsafe.Slice(p, n+1)
	for i, s := range list {
		all[i] = C.CString(s)
	}
	return p
}

func freeWords(p **C.char, n int) {
	for _, s := range unsafe.Slice(p, n) {
		C.free(unsafe.Pointer(s))
	}
	C.free(unsafe.Pointer(p))
}

func setOption(h *C.dtrace_hdl_t, name, value string) error {
	n, v := C.CString(name), (*C.char)(nil)
	defer C.free(unsafe.Pointer(n))
	if value != "" {
		v = C.CString(value)
		defer C.free(unsafe.Pointer(v))
	}
	if C.dtrace_setopt(h, n, v) < 0 {
		return lastError(h)
	}
	return nil
}

func start(h *C.dtrace_hdl_t, program string, c *Config) error {
	options := []struct{ name, value string }{{"bufsize", "4m"}, {"aggsize", "4m"}, {"temporal", "yes"}}
	for name, value := range c.Options {
		options = append(options, struct{ name, value string }{name, value})
	}
	options = append(options, struct{ name, value string }{"oformat", "ndjson"}, struct{ name, value string }{"brief", ""})
	for _, o := range options {
		if err := setOption(h, o.name, o.value); err != nil {
			return err
		}
	}
	for _, pid := range c.PIDs {
		if C.dtrace_proc_grab(h, C.long(pid)) < 0 {
			return lastError(h)
		}
	}
	if len(c.Command) > 0 {
		argv := words(c.Command...)
		defer freeWords(argv, len(c.Command))
		if C.dtrace_proc_create(h, argv) < 0 {
			return lastError(h)
		}
	}
	text := C.CString(program)
	defer C.free(unsafe.Pointer(text))
	all := append([]string{"dtrace"}, c.Args...)
	argv := words(all...)
	defer freeWords(argv, len(all))
	var opts C.struct_dtrace_compile_opts // it holds a pointer to C memory only
	opts.size = C.size_t(unsafe.Sizeof(opts))
	opts.argc = C.int(len(all))
	opts.argv = argv
	p := C.dtrace_compile_string(h, text, &opts)
	if p == nil || C.dtrace_enable(h, p, nil) < 0 || C.dtrace_set_output(h, nil) < 0 || C.dtrace_go(h) < 0 {
		return lastError(h)
	}
	return nil
}

// Next waits for the next event. False: the trace is over; see Err.
func (t *Trace) Next() bool {
	for len(t.queue) == 0 {
		batch, more := <-t.batches
		if !more {
			return false
		}
		events, err := t.decoder.decode(batch)
		if err != nil {
			t.Close()
			t.err = err
			return false
		}
		for _, e := range events {
			if e.Row != nil && e.AtExit {
				t.final[e.Row.Name] = append(t.final[e.Row.Name], *e.Row)
			}
			t.queue = append(t.queue, e)
		}
	}
	t.event, t.queue = t.queue[0], t.queue[1:]
	return true
}

// Event is what Next has found.
func (t *Trace) Event() *Event { return t.event }

// Err is why the trace has ended; nil: it was time.
func (t *Trace) Err() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// Aggregations are, after the last Next, those that no printa() has shown: rows by name, sorted as printa() sorts.
func (t *Trace) Aggregations() map[string][]Row { return t.final }

// Snapshot is all aggregations as they are now, while the trace goes on: rows by name, sorted as printa() sorts. After the end
// it is what Aggregations returns.
func (t *Trace) Snapshot() (map[string][]Row, error) {
	answer := make(chan snapshot, 1)
	select {
	case t.asks <- answer:
	case <-t.done:
		return t.final, nil
	}
	t.mu.Lock()
	if t.h != nil {
		C.dtrace_interrupt(t.h)
	}
	t.mu.Unlock()
	select {
	case s := <-answer:
		return s.rows, s.err
	case <-t.done:
		return t.final, nil
	}
}

// ExitStatus is that of exit(), after the last Next.
func (t *Trace) ExitStatus() int { <-t.done; return t.status }

// Stop ends the trace: END fires, and what is left arrives. Any goroutine may call it.
func (t *Trace) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
	if t.h != nil {
		C.dtrace_interrupt(t.h)
	}
}

// Close ends the trace now and releases everything; what has not been looked at is lost.
func (t *Trace) Close() {
	t.once.Do(func() { close(t.quit) })
	t.Stop()
	for range t.batches { // so that the sender does not wait
	}
	<-t.done
	t.queue = nil
}

// Version is that of the D language.
func Version() string { return C.GoString(C.dtrace_version()) }
