# needs: root bpf gcc python3
# -x oformat=perfetto: entry and return are slices of the thread that made the call, and nest; counters from tick probes.
. "$SRC/test/lib.bash"
build chain processes/chain.c -lpthread -ldl
timeline() { python3 "$SRC/test/format/lib/perfetto.py" "$TMP/trace"; }

trace -x oformat=perfetto -o "$TMP/trace" -n 'syscall::getppid:entry, syscall::getppid:return /pid == $target/ {}
	syscall::getppid:entry /pid == $target/ { trace(pid == tid); } syscall::getppid:return /pid == $target/ { printf("%d", arg1 > 0); }' -c "$TMP/chain plain 2"
expect 'track process chain
track thread chain
begin thread chain getppid value1=1
end thread chain text=1
begin thread chain getppid value1=1
end thread chain text=1' "$(timeline)" "system calls: $err"

# functions in functions; a thread of its own has its own track
trace -x oformat=perfetto -o "$TMP/trace" -n 'pid$target:chain:link[789]:entry, pid$target:chain:link[789]:return {}' -c "$TMP/chain thread 1"
expect 'track process ?
track thread chain (another)
begin thread chain (another) link7
begin thread chain (another) link8
begin thread chain (another) link9
end thread chain (another)
end thread chain (another)
end thread chain (another)' "$(timeline)" "functions: $err"

# a return without its entry is an instant; an entry without its return stays open
trace -x oformat=perfetto -o "$TMP/trace" -n 'pid$target:chain:link9:return, pid$target:chain:link8:entry {}' -c "$TMP/chain plain 1"
expect 'begin thread chain link8
instant thread chain link9:return
open thread chain 1' "$(timeline | grep -v track)" "halves: $err"

# numbers of a tick probe are counters
trace -x oformat=perfetto -o "$TMP/trace" -n 'int n; tick-10ms { trace(++n); trace(7); } tick-10ms /n == 3/ { exit(0); }'
expect 'counter counter tick-10ms #1 1
counter counter tick-10ms #2 7
counter counter tick-10ms #1 2
counter counter tick-10ms #2 7' "$(timeline | grep ^counter | head -n 4)" "counters: $err"
