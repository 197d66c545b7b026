# The fill policy: a CPU whose buffer is full records nothing more, the others and END still do. No drop is counted, and
# the consumer stops at its next status check.
# needs: root bpf gcc taskset
# timeout: 200
. "$SRC/test/lib.bash"
[ "$(nproc)" -gt 1 ] || skip "one CPU only"
build work engine/work.c -lpthread
set -- $(taskset -cp $$ | sed 's/.*: //; s/[,-]/ /g') # two that we may use
a=$1 b=$2

fill() { # BUFSIZE N: so many calls on CPU a, then two on b
	ktrace -q -x bufpolicy=fill -x "bufsize=$1" -x statusrate=10s -n '
		syscall::getppid:entry /execname == "work"/ { printf("on %d\n", cpu); }
		syscall::getppid:entry /execname == "work"/ { n[cpu]++; }
		END { printf("end %d %d\n", n['$a'], n['$b']); }' \
		-c "sh -c 'taskset -c $a $TMP/work $2 1; taskset -c $b $TMP/work 2 1'"
}

check() { # BUFSIZE N
	local recorded tries=5
	SECONDS=10 # status checks are at most 10 s apart: a machine that is too slow for that tries again
	while [ $SECONDS -ge 9 ] && [ $((tries--)) -gt 0 ]; do
		SECONDS=0
		fill "$1" "$2"
	done
	[ $SECONDS -lt 9 ] || skip "this machine is too slow"
	expect "end $2 2" "$(grep '^end' "$TMP/out")" "$1, at the end"
	expect 2 "$(lines "^on $b$")" "$1, the other CPU"
	recorded=$(lines "^on $a$")
	[ "$recorded" -gt 2 ] && [ "$recorded" -lt "$2" ] || expect "some of $2" "$recorded" "$1, the full one"
	expect "" "$err" "$1, messages"
}
check 1k 200
check 128k 20000
# With a status check that comes, tracing ends by itself.
ktrace -q -x bufpolicy=fill -x bufsize=1k -n 'profile-997 { trace(1); }'
expect 0 "$status"
expect "" "$err"
