package dtrace

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
)

var vm = map[string]string{"engine": "vm"}

func all(t *testing.T, program string, c *Config) (*Trace, []*Event) {
	t.Helper()
	tr, err := Open(context.Background(), program, c)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var events []*Event
	for tr.Next() {
		events = append(events, tr.Event())
	}
	if tr.Err() != nil {
		t.Fatal(tr.Err())
	}
	return tr, events
}

func of(events []*Event, kind string) (found []*Event) {
	for _, e := range events {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return
}

func TestValues(t *testing.T) {
	tr, events := all(t, `struct s { int a; int z[2]; }; this struct s v;
		BEGIN { this->v.a = 5; trace((char)-1); trace((uint64_t)-1); trace("\377x"); printf("%s %d\n", "x", 7); print(this->v); exit(3); }`,
		&Config{Options: vm})
	records := of(events, "fired")
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	want := []any{int64(-1), ^uint64(0), []byte("\xffx"), "x", int64(7), Struct{"a": int64(5), "z": []any{int64(0), int64(0)}}}
	if e := records[0]; !reflect.DeepEqual(e.Values, want) || e.Text != "x 7\n" || e.Probe.String() != "dtrace:::BEGIN" {
		t.Errorf("%#v", e)
	}
	if tr.ExitStatus() != 3 {
		t.Errorf("status %d", tr.ExitStatus())
	}
}

func TestAggregations(t *testing.T) {
	tr, events := all(t, `BEGIN { @c["b"] = count(); @c["a"] = count(); @c["a"] = count(); @q[1, "x"] = quantize(100); @p = count(); printa(@p); exit(0); }`,
		&Config{Options: vm})
	a := tr.Aggregations()
	low, high := int64(64), int64(127)
	want := map[string][]Row{
		"c": {{Name: "c", Function: "count", Keys: []any{"b"}, Value: 1}, {Name: "c", Function: "count", Keys: []any{"a"}, Value: 2}},
		"q": {{Name: "q", Function: "quantize", Keys: []any{int64(1), "x"}, Buckets: []Bucket{{&low, &high, 1}}}},
	}
	if !reflect.DeepEqual(a, want) {
		t.Errorf("%+v", a)
	}
	if rows := of(events, "aggregation"); rows[0].Row.Name != "p" || rows[0].AtExit {
		t.Errorf("%+v", rows[0].Row)
	}
}

func TestFaults(t *testing.T) {
	_, events := all(t, "BEGIN\n{ trace(*(int *)16); } BEGIN { exit(0); }", &Config{Options: vm})
	faults := of(events, "fault")
	want := Fault{What: "invalid address", Code: 1, Action: 1, Value: 16, Line: 2, Column: 9, Expression: "*(int *)16",
		Reason: "address 0x10 is not mapped"}
	if len(faults) != 1 || *faults[0].Fault != want || faults[0].Probe.Name != "BEGIN" || !strings.Contains(faults[0].Text, "invalid address (0x10)") {
		t.Errorf("%+v", faults)
	}
}

func TestSnapshot(t *testing.T) {
	tr, err := Open(context.Background(), `BEGIN { @c["a"] = sum(1); @c["b"] = sum(3); trace(1); } END { @c["a"] = sum(1); }`, &Config{Options: vm})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	row := func(key string, value int64) Row {
		return Row{Name: "c", Function: "sum", Keys: []any{key}, Value: value}
	}
	for i := 0; i < 3; i++ { // while an event waits to be taken, and later
		rows, err := tr.Snapshot()
		if want := []Row{row("a", 1), row("b", 3)}; err != nil || !reflect.DeepEqual(rows["c"], want) {
			t.Errorf("%+v, %v", rows, err)
		}
		if i == 1 {
			for tr.Next() && tr.Event().Type != "fired" {
			}
		}
	}
	tr.Stop()
	for tr.Next() {
	}
	if rows, err := tr.Snapshot(); err != nil || !reflect.DeepEqual(rows["c"], []Row{row("a", 2), row("b", 3)}) {
		t.Errorf("at the end: %+v, %v", rows, err)
	}
}

func TestLines(t *testing.T) {
	program := os.Getenv("DTRACE_TEST_LINES") // compiled with -g
	if os.Getenv("DTRACE_TEST_KERNEL") == "no" || program == "" {
		t.Skip("no BPF here")
	}
	_, events := all(t, `syscall::getppid:entry /pid == $target/ { ustack(); }`, &Config{Options: map[string]string{"srclines": ""}, Command: []string{program}})
	for _, e := range of(events, "fired") {
		for _, f := range e.Values[0].(Stack).Frames {
			if f.Symbol == "main" && strings.HasSuffix(f.File, "lines.c") && f.Line == 4 {
				return
			}
		}
	}
	t.Errorf("no line: %+v", of(events, "fired"))
}

func TestErrors(t *testing.T) {
	_, err := Open(context.Background(), "BEGIN {\n\ttrace(nosuch); }", &Config{Options: vm})
	var e *Error
	if !errors.As(err, &e) || e.Tag != "D_IDENT_UNDEF" || e.Line != 2 || e.Column != 8 {
		t.Errorf("%#v", err)
	}
	if _, err := Open(context.Background(), "BEGIN", &Config{Options: map[string]string{"nosuch": "1"}}); err == nil {
		t.Error("no error for an option that there is not")
	}
	if _, err := Open(context.Background(), "BEGIN", &Config{Command: []string{"/no/such/file"}}); err == nil {
		t.Error("no error for a command that there is not")
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tr, err := Open(ctx, `BEGIN { trace(1); } END { trace(2); }`, &Config{Options: vm})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var seen []any
	for tr.Next() {
		seen = append(seen, tr.Event().Values...)
		if len(seen) == 1 {
			cancel()
		}
	}
	if !reflect.DeepEqual(seen, []any{int64(1), int64(2)}) || tr.Err() != nil {
		t.Error(seen, tr.Err())
	}
}

func TestClose(t *testing.T) {
	tr, err := Open(context.Background(), `BEGIN { trace(1); }`, &Config{Options: vm})
	if err != nil {
		t.Fatal(err)
	}
	tr.Next()
	tr.Close()
	tr.Close()
	tr.Stop()
	if tr.Next() {
		t.Error("an event after the end")
	}
}

func TestSeveralAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := 0; i < 8; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			tr, err := Open(context.Background(), `BEGIN { trace($1); exit(0); }`, &Config{Options: vm, Args: []string{"42"}})
			if err != nil {
				t.Error(err)
				return
			}
			defer tr.Close()
			for tr.Next() {
				if e := tr.Event(); e.Type == "fired" && e.Values[0] != int64(42) {
					t.Error(e.Values)
				}
			}
		}()
	}
	wg.Wait()
}

func TestCommand(t *testing.T) {
	if os.Getenv("DTRACE_TEST_KERNEL") == "no" {
		t.Skip("no BPF here")
	}
	_, events := all(t, `syscall::exit_group:entry /pid == $target/ { ustack(); trace(arg0); }`, &Config{Command: []string{"sh", "-c", "exit 7"}})
	records := of(events, "fired")
	if len(records) != 1 || records[0].Values[1] != int64(7) {
		t.Fatalf("%+v", records)
	}
	if s, ok := records[0].Values[0].(Stack); !ok || s.PID == 0 || len(s.Frames) == 0 {
		t.Errorf("%+v", records[0].Values[0])
	}
	ended := of(events, "process")
	if len(ended) != 1 || !ended[0].Ended || ended[0].Status != 7<<8 {
		t.Errorf("%+v", ended)
	}
}
