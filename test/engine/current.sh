# timeout: 120
# Programs at system calls remember the thread of a CPU (tr_current.c). Threads that take turns on one CPU, and hundreds that begin
# and end there, so that stacks and the memory of threads are used again, are told apart: each has its own calls, exactly.
# needs: root bpf gcc
. "$SRC/test/lib.bash"
build turns engine/turns.c -lpthread
rounds=$(scale 2000) calls=5
ktrace -q -c "$TMP/turns $rounds $calls" -n '
	syscall::getppid:entry /progenyof($target)/ { @n[pid, tid] = count(); @of[tid == curthread->pid && pid == curthread->tgid] = count(); }
	syscall::getppid:return /progenyof($target)/ { @r[pid, tid] = count(); }
	END { printa("N %d %d %@d\n", @n); printa("R %d %d %@d\n", @r); printa("OF %d %@d\n", @of); }'
expect 0 "$status"
expect "" "$err"
want=$(grep '^T ' "$TMP/out" | sed 's/^T //' | sort)
expect $((rounds * 2)) "$(echo "$want" | wc -l)" "threads"
expect "$want" "$(grep '^N ' "$TMP/out" | sed 's/^N //' | sort)" "entries, by thread"
expect "$want" "$(grep '^R ' "$TMP/out" | sed 's/^R //' | sort)" "returns, by thread"
expect "OF 1 $((rounds * 2 * calls))" "$(grep '^OF ' "$TMP/out")" "the same thread as the kernel's own"
