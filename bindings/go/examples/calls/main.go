// calls COMMAND: the system calls of a command, and how often it makes them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"dtrace"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	t, err := dtrace.Open(ctx, `syscall:::entry /pid == $target/ { @calls[probefunc] = count(); }`,
		&dtrace.Config{Command: os.Args[1:]})
	if err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(1)
	}
	defer t.Close()
	for t.Next() {
		if e := t.Event(); e.Type == "drop" {
			fmt.Fprintln(os.Stderr, "calls:", e.Text)
		}
	}
	for _, row := range t.Aggregations()["calls"] {
		fmt.Printf("%-20v %d\n", row.Keys[0], row.Value)
	}
}
