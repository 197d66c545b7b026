package dtrace

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Probe is where something happened.
type Probe struct {
	ID                               int
	Provider, Module, Function, Name string
}

func (p Probe) String() string {
	return p.Provider + ":" + p.Module + ":" + p.Function + ":" + p.Name
}

// Frame is a place in the kernel or in a program; what is not known is empty.
type Frame struct {
	Address uint64
	Module  string
	Symbol  string
	Offset  uint64
	Helper  string
	File    string // the source, with option srclines
	Line    int
}

func (f Frame) String() string {
	switch {
	case f.Symbol == "" && f.Helper != "":
		return f.Helper
	case f.Symbol == "":
		return fmt.Sprintf("%s`%#x", f.Module, f.Address)
	case f.Offset == 0:
		return f.Module + "`" + f.Symbol
	}
	return fmt.Sprintf("%s`%s+%#x", f.Module, f.Symbol, f.Offset)
}

// Stack is frames, the innermost first; PID is 0 for stacks of the kernel.
type Stack struct {
	PID    int
	Frames []Frame
}

// Struct has members by name.
type Struct map[string]any

// Action is what a clause shows: "trace", "printf" ..., and the name of its value, if that has one.
type Action struct {
	Action, Name, Type string
}

// Bucket is a part of a distribution: the numbers from Low to High, both included; nil: open.
type Bucket struct {
	Low, High *int64
	Count     int64
}

// Row is a row of an aggregation.
type Row struct {
	Name, Function string
	Keys           []any
	Value          int64    // not of distributions
	Buckets        []Bucket // of distributions: those that are not empty
	Normal         uint64   // what normalize() has divided by; 0: nothing
}

// Event is something that has happened. Type is that of a line of ndjson (doc/ndjson.md): "fired", "aggregation", "drop",
// "fault", "process", "note", "error", "start", "end".
//
// Values are int64 (uint64 if it is larger), float64, string, []byte (also strings that are not UTF-8), []any, Struct, Stack,
// Frame or nil: for a record one for each argument of printf() and each of the other actions.
type Event struct {
	Type    string
	Time    uint64 // nanoseconds
	CPU     int
	Probe   Probe
	Clause  int
	Actions []Action
	Values  []any
	Text    string // of a record: what printf() has printed; of others: what dtrace would say
	Row     *Row
	AtExit  bool // of a row: not by printa()
	Kind    string
	Count   uint64 // drops
	PID     int    // processes
	Ended   bool
	Status  int
	Fault   *Fault // a clause has stopped at a run-time error
}

// Fault is where and why a clause has stopped. What is not known is empty: the file of a program on the command line, and line
// and column if it has only one line.
type Fault struct {
	What       string // "invalid address"
	Code       int    // DTrace's number: 1 is an invalid address
	Action     int    // 0: the predicate; else from 1
	Value      uint64 // the address
	File       string
	Line       int
	Column     int
	Expression string // as written in the program
	Reason     string // "address 0x10 is not mapped"
}

// Named is the value of that name in a record, as trace(execname) is called execname.
func (e *Event) Named(name string) (any, bool) {
	at := 0
	for _, a := range e.Actions {
		if a.Name == name && a.Action != "printf" && at < len(e.Values) {
			return e.Values[at], true
		}
		if a.Action == "printf" {
			return nil, false // how many values it has is not kept
		}
		at++
	}
	return nil, false
}

type clause struct {
	probe   Probe
	actions []Action
}

type decoder struct {
	clauses map[int]*clause
	rest    []byte
}

// line is any line, before its values are looked at.
type line struct {
	Type    string
	Time    uint64
	CPU     int
	Clause  int
	Probe   Probe
	Actions []Action
	Values  []json.RawMessage
	Text    json.RawMessage
	At      string
	Name    string
	Fn      string `json:"function"`
	Keys    []json.RawMessage
	Value   json.Number
	Normal  uint64
	Buckets []Bucket
	Kind    string
	Count   uint64
	PID     int
	Ended   bool
	Status  int
	lineOfFault
}

type lineOfFault struct {
	Fault        string
	Code, Action int
	File         json.RawMessage
	Line, Column int
	Expression   json.RawMessage
	Reason       json.RawMessage
}

func (l *line) fault() *Fault {
	f := &Fault{What: l.Fault, Code: l.Code, Action: l.Action, Line: l.Line, Column: l.Column}
	f.Value, _ = strconv.ParseUint(l.Value.String(), 10, 64)
	for raw, to := range map[*json.RawMessage]*string{&l.File: &f.File, &l.Expression: &f.Expression, &l.Reason: &f.Reason} {
		if len(*raw) > 0 {
			v, _ := value(*raw)
			*to = str(v)
		}
	}
	return f
}

func (d *decoder) decode(data []byte) ([]*Event, error) {
	var events []*Event
	data = append(d.rest, data...)
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			d.rest = append([]byte(nil), data...)
			return events, nil
		}
		e, err := d.event(data[:end])
		if err != nil {
			return events, fmt.Errorf("dtrace: a line that cannot be read: %w", err)
		}
		if e != nil {
			events = append(events, e)
		}
		data = data[end+1:]
	}
}

func (d *decoder) event(text []byte) (*Event, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	if l.Type == "clause" {
		d.clauses[l.Clause] = &clause{l.Probe, l.Actions}
		return nil, nil
	}
	e := &Event{Type: l.Type, Time: l.Time, CPU: l.CPU, Clause: l.Clause, Probe: l.Probe, Kind: l.Kind, Count: l.Count,
		PID: l.PID, Ended: l.Ended, Status: l.Status}
	switch l.Type {
	case "fired":
		return e, d.fill(e, &l)
	case "aggregation":
		e.AtExit = l.At == "exit"
		e.Row = &Row{Name: l.Name, Function: l.Fn, Buckets: l.Buckets, Normal: l.Normal}
		e.Row.Value, _ = l.Value.Int64()
		var err error
		e.Row.Keys, err = values(l.Keys)
		return e, err
	case "fault":
		e.Fault = l.fault()
	}
	v, err := value(l.Text)
	e.Text = str(v)
	return e, err
}

func (d *decoder) fill(e *Event, l *line) error {
	c := d.clauses[l.Clause]
	if c == nil {
		return fmt.Errorf("clause %d is not known", l.Clause)
	}
	var texts strings.Builder
	e.Probe, e.Actions = c.probe, c.actions
	for i, raw := range l.Values {
		v, err := value(raw)
		if err != nil {
			return err
		}
		list, ok := v.([]any)
		if ok && i < len(c.actions) && c.actions[i].Action == "printf" && len(list) > 0 {
			texts.WriteString(str(list[0]))
			e.Values = append(e.Values, list[1:]...)
		} else {
			e.Values = append(e.Values, v)
		}
	}
	e.Text = texts.String()
	return nil
}

func str(v any) string {
	switch s := v.(type) {
	case string:
		return s
	case []byte:
		return string(s)
	}
	return ""
}

func values(raw []json.RawMessage) ([]any, error) {
	all := make([]any, 0, len(raw))
	for _, r := range raw {
		v, err := value(r)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func value(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	switch raw[0] {
	case '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	case 'n':
		return nil, nil
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		return values(list)
	case '{':
		return object(raw)
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	if n, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
		return n, nil
	}
	return strconv.ParseFloat(string(raw), 64)
}

func object(raw json.RawMessage) (any, error) {
	var o struct {
		Hex     *string
		Members map[string]json.RawMessage
		Stack   string
		PID     int
		Frames  []Frame
		Frame
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, err
	}
	switch {
	case o.Hex != nil:
		return hex.DecodeString(*o.Hex)
	case o.Members != nil:
		s := Struct{}
		for name, r := range o.Members {
			v, err := value(r)
			if err != nil {
				return nil, err
			}
			s[name] = v
		}
		return s, nil
	case o.Stack != "":
		return Stack{o.PID, o.Frames}, nil
	}
	return o.Frame, nil
}
