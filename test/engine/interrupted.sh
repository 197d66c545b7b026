# Thread-local variables are kept even if a firing interrupts another one: the kernel does not create task
# storage while it is already creating one on that CPU, so the first firings of new threads, and clock events
# that come in the middle of them, need a second place.
# timeout: 200
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build threads engine/threads.c -lpthread
rounds=$(scale 400) calls=60

# What each thread has counted by itself, added up when it exits, is what all have counted. Two other tracers
# do the same, since task storage is busy for all or none.
cat >"$TMP/kept.d" <<'D'
self string text; self int over;
syscall::getppid:entry /pid == $target/ { self->calls++; self->since = timestamp; self->text = "text"; @["calls"] = sum(1); }
syscall::getppid:return /pid == $target/ { @["since"] = sum(self->since != 0); @["text"] = sum(self->text == "text"); self->since = 0; self->text = 0; self->returns++; }
profile-4999 /pid == $target && !self->over/ { self->ticks++; @["ticks"] = sum(1); }
sched:::off-cpu /pid == $target && !self->over/ { self->off++; @["off"] = sum(1); }
sched:::on-cpu /pid == $target && !self->over/ { self->on++; @["on"] = sum(1); }
syscall::exit:entry, syscall::exit_group:entry /pid == $target/ {
	self->over = 1;
	@["kept calls"] = sum(self->calls); @["kept returns"] = sum(self->returns); @["kept ticks"] = sum(self->ticks); @["kept off"] = sum(self->off); @["kept on"] = sum(self->on);
	@["stale"] = sum(self->since != 0 || self->text != NULL);
}
END { printa("%s: %@d\n", @); }
D
# The end of a thread is not always seen, for some kernels run no programs while process 1 has the CPU. Then it is its beginning, at the
# same address, that frees what the one before it has left.
others=()
for i in 1 2; do
	"$DTRACE" -x engine=bpf -qn 'sched:::on-cpu, sched:::off-cpu, profile-1999 { self->other++; } BEGIN { printf("ready\n"); }' >"$TMP/other$i" 2>&1 </dev/null &
	others+=($!)
done
for i in 1 2; do wait_for 100 grep -q ready "$TMP/other$i"; done
expect "sched_process_free task_newtask" "$(sed -n 's/^tp_name:[[:blank:]]*//p' "/proc/${others[0]}/fdinfo"/* | grep -E 'free|new' | sort | xargs)" "where entries are freed"
for i in 1 2 3; do
	ktrace -q -s "$TMP/kept.d" -c "$TMP/threads $rounds $calls"
	expect 0 "$status" "$err"
	expect "" "$err" messages
	n=$((rounds * 16 * calls))
	expect "$n $n $n $n $n" "$(labelled calls) $(labelled since) $(labelled text) $(labelled "kept calls") $(labelled "kept returns")" "system calls"
	for p in ticks off on; do expect "$(labelled $p)" "$(labelled "kept $p")" "$p"; done
	expect 0 "$(labelled stale)" "set to 0"
done

# The same for elements of arrays, made and removed by firings that interrupt each other and by lock probes
# inside the maps; each has its own keys.
cat >"$TMP/elements.d" <<'D'
syscall::getppid:entry /pid == $target/ { a[tid, 1] = 1; a[tid, 2] = 2; self->on = 1; @["calls"] = sum(1); }
syscall::getppid:return /self->on/ { @["kept"] = sum(a[tid, 1] + a[tid, 2]); a[tid, 1] = 0; a[tid, 2] = 0; @["left"] = sum(a[tid, 1] + a[tid, 2]); self->on = 0; }
profile-4999 { a[cpu, 3] = 3; @["kept by the clock"] = sum(a[cpu, 3] == 3); a[cpu, 3] = 0; @["left"] = sum(a[cpu, 3]); @["ticks"] = sum(1); }
sdt:::contention_begin { a[arg0, -tid] = 4; @["kept by locks"] = sum(a[arg0, -tid] == 4); a[arg0, -tid] = 0; @["left"] = sum(a[arg0, -tid]); @["locks"] = sum(1); }
END { printa("%s: %@d\n", @); }
D
ktrace -q -s "$TMP/elements.d" -c "$TMP/threads $rounds $calls"
expect 0 "$status" "$err"
expect "" "$(grep -v 'drops\? on CPU' <<<"$err")" messages # the kernel does not run a program inside itself, as for a lock that it waits for
n=$((rounds * 16 * calls))
expect "$n $((3 * n)) 0" "$(labelled calls) $(labelled kept) $(labelled left)" "elements"
expect "$(labelled ticks) $(labelled locks)" "$(labelled "kept by the clock") $(labelled "kept by locks")" "elements of the clock, of locks"
kill "${others[@]}"
wait "${others[@]}"
for i in 1 2; do expect "ready" "$(grep . "$TMP/other$i")" "the other tracers"; done
